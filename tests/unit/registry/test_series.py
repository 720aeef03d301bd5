# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
from nemo_telemetry_actor.model.points import HistogramPoint, NumberPoint
from nemo_telemetry_actor.registry.series import GaugeSeries, HistogramSeries, SumSeries
from tests.batches import gauge_points, histogram_delta, sum_delta
from tests.snapshots import T0

SECOND = 10**9


def test_a_gauge_shows_its_newest_value_however_batches_come() -> None:
    series = GaugeSeries({"k": "v"})

    series.add(gauge_points([3.0, 4.0], first_s=2))
    series.add(gauge_points([1.0, 2.0], first_s=0))
    series.commit(1)

    assert series.committed == NumberPoint({"k": "v"}, 0, T0 + 3 * SECOND, 4.0)


def test_of_two_values_at_one_time_the_one_recorded_last_stands() -> None:
    series = GaugeSeries({})
    points = gauge_points([1.0, 2.0, 3.0])
    points.times_unix_nano[2] = points.times_unix_nano[1]

    series.add(points)
    series.commit(1)

    assert series.committed is not None
    assert series.committed.value == 3.0


def test_a_gauge_out_of_order_inside_a_batch_shows_the_newest() -> None:
    series = GaugeSeries({})
    points = gauge_points([1.0, 2.0, 3.0])
    points.times_unix_nano.reverse()

    series.add(points)

    assert series.value == 1.0


def test_readers_see_a_total_after_its_commit_only() -> None:
    series = SumSeries({}, T0)
    series.try_add(sum_delta(2.0))

    before = series.point(T0 + 5)
    series.commit(7)
    series.try_add(sum_delta(3.0))

    assert before == NumberPoint({}, T0, T0 + 5, 0.0)
    assert series.point(T0 + 9) == NumberPoint({}, T0, T0 + 9, 2.0)
    assert series.revision == 7


def test_a_start_time_moves_back_until_it_was_shown_and_never_after() -> None:
    series = SumSeries({}, T0 + 5 * SECOND)
    histogram = HistogramSeries({}, T0 + 5 * SECOND, 3)

    series.try_add(sum_delta(1.0, at_s=3))
    histogram.try_add(histogram_delta([1, 0, 0], 0.5, 0.5, 0.5, at_s=3))
    series.commit(1)
    histogram.commit(1)
    series.try_add(sum_delta(1.0, at_s=1))
    histogram.try_add(histogram_delta([1, 0, 0], 0.5, 0.5, 0.5, at_s=1))

    assert series.start_time_unix_nano == T0 + 3 * SECOND
    assert histogram.start_time_unix_nano == T0 + 3 * SECOND


def test_a_histogram_keeps_exact_counts_sum_and_extremes() -> None:
    series = HistogramSeries({}, T0, 3)
    series.try_add(histogram_delta([21, 0, 0], 10.5, 0.5, 0.5))
    series.try_add(histogram_delta([0, 1, 2], 45.0, 5.0, 20.0))

    series.commit(1)

    assert series.point(T0 + 1) == HistogramPoint({}, T0, T0 + 1, 24, 55.5, 0.5, 20.0, (21, 1, 2))


def test_what_would_leave_the_range_of_a_number_is_not_added() -> None:
    series = SumSeries({}, T0)
    series.try_add(sum_delta(1.7e308))
    histogram = HistogramSeries({}, T0, 1)
    histogram.try_add(histogram_delta([2**63 - 2], 1.7e308, 0.0, 1e308))

    assert not series.try_add(sum_delta(1.7e308))
    assert series.try_add(sum_delta(1.0))
    assert not histogram.try_add(histogram_delta([1], 1.7e308, 0.0, 1.0))
    assert not histogram.try_add(histogram_delta([2], 0.0, 0.0, 1.0))
    assert histogram.try_add(histogram_delta([1], 0.0, 0.0, 1.0))
