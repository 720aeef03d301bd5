# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import pytest

from nemo_telemetry_actor.client.cells import GaugeCell, HistogramCell, SumCell
from nemo_telemetry_actor.wire.messages import GaugePoints, HistogramDelta, SumDelta


def gauge(*values: float) -> GaugeCell:
    cell = GaugeCell()
    for time, value in enumerate(values, 1):
        cell.add(value, time)
    return cell


def test_a_gauge_keeps_every_value_with_its_time() -> None:
    assert gauge(5.0, 6.0, 7.0).to_wire(b"a", 0, 3) == GaugePoints(b"a", [1, 2, 3], [5.0, 6.0, 7.0])


def test_a_part_of_a_gauge_can_be_sent() -> None:
    assert gauge(5.0, 6.0, 7.0).to_wire(b"a", 1, 2) == GaugePoints(b"a", [2], [6.0])


@pytest.mark.parametrize(
    ("values", "kept", "times"),
    [
        ((1.0,), [1.0], [1]),
        ((1.0, 2.0), [2.0], [2]),
        ((1.0, 2.0, 3.0), [1.0, 3.0], [1, 3]),
        ((1.0, 2.0, 3.0, 4.0), [2.0, 4.0], [2, 4]),
    ],
)
def test_thinning_drops_every_second_value_and_never_the_newest(
    values: tuple[float, ...], kept: list[float], times: list[int]
) -> None:
    cell = gauge(*values)

    dropped = cell.thin()

    assert (cell.values, cell.times) == (kept, times)
    assert dropped == len(values) - len(kept)


def test_a_sum_is_one_delta_from_the_first_time_to_the_last() -> None:
    cell = SumCell()
    cell.add(2.0, 10)
    cell.add(-0.5, 20)

    assert cell.to_wire(b"a") == SumDelta(b"a", 1.5, 10, 20)


def test_a_histogram_counts_a_value_on_a_boundary_below_it() -> None:
    cell = HistogramCell((1.0, 2.0))
    for time, value in enumerate((0.5, 1.0, 1.5, 2.0, 2.5), 1):
        cell.add(value, time)

    assert cell.to_wire(b"a") == HistogramDelta(b"a", [2, 2, 1], 7.5, 0.5, 2.5, 1, 5)


def test_a_histogram_without_boundaries_has_one_bucket() -> None:
    cell = HistogramCell(())
    cell.add(3.0, 7)

    assert cell.to_wire(b"a") == HistogramDelta(b"a", [1], 3.0, 3.0, 3.0, 7, 7)
