# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Iterator
from typing import Any

import pytest

from nemo_telemetry_actor.client.buffer import Entry, MeasurementBuffer
from nemo_telemetry_actor.client.groups import BoundGroup
from nemo_telemetry_actor.model.instrument import MetricSpec, Scope

GROUP = BoundGroup("env", (MetricSpec("score", "rl.env.score"),), Scope())


def entry(*values: float) -> Entry:
    return GROUP, {f"k{index}": value for index, value in enumerate(values)}, None, 1


def test_entries_come_out_in_the_order_they_went_in() -> None:
    buffer = MeasurementBuffer(10)
    for value in (1.0, 2.0, 3.0):
        buffer.append(entry(value))

    first, second = buffer.take(2), buffer.take(2)

    assert [values["k0"] for _, values, _, _ in (*first, *second)] == [1.0, 2.0, 3.0]
    assert len(first) == 2


def test_length_counts_values_not_calls() -> None:
    buffer = MeasurementBuffer(10)

    buffer.append(entry(1.0, 2.0))
    buffer.append(entry(3.0))

    assert len(buffer) == 3
    buffer.take(1)
    assert len(buffer) == 1


def test_the_first_value_of_a_fresh_buffer_is_news() -> None:
    assert MeasurementBuffer(10).append(entry(1.0))


@pytest.mark.parametrize(("expected", "noticed_at"), [(3, 3), (99, 5), (0, 1)])
def test_append_reports_from_the_expected_number_on_and_at_the_capacity_at_last(
    expected: int, noticed_at: int
) -> None:
    buffer = MeasurementBuffer(5)
    buffer.expect(expected)

    reports = [buffer.append(entry(1.0)) for _ in range(6)]

    assert reports.index(True) + 1 == noticed_at
    assert all(reports[noticed_at - 1 :])


def test_nothing_is_dropped_above_the_capacity() -> None:
    buffer = MeasurementBuffer(1)

    for _ in range(5):
        buffer.append(entry(1.0))

    assert len(buffer.take(10)) == 5


def test_a_capacity_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1, got 0"):
        MeasurementBuffer(0)


def test_a_signal_handler_may_record_while_its_thread_is_inside_append() -> None:
    buffer = MeasurementBuffer(10)

    class Interrupted(dict[str, float]):
        def __len__(self) -> int:
            buffer.append(entry(2.0))
            return 1

    buffer.append((GROUP, Interrupted(k0=1.0), None, 1))

    assert _values(buffer.take(10)) == [1.0, 2.0]


def _values(entries: list[Any]) -> list[float]:
    def each() -> Iterator[float]:
        for _, values, _, _ in entries:
            yield from values.values()

    return list(each())
