# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
from hypothesis import given
from hypothesis import strategies as st

from nemo_telemetry_actor.model.instrument import Declaration
from nemo_telemetry_actor.registry.pointlog import PointColumn, PointLog
from nemo_telemetry_actor.registry.producers import Producer, ProducerMetric, Run
from nemo_telemetry_actor.registry.series import GaugeSeries, HistogramSeries, SumSeries
from nemo_telemetry_actor.registry.window import SequenceWindow
from tests.batches import gauge_points, histogram_delta, sum_delta
from tests.snapshots import T0

METRIC = ProducerMetric(
    Producer(Run("run", 0), "a" * 32, {}, 0), b"d", Declaration("rl.reward", "gauge")
)

steps = st.one_of(
    st.tuples(st.just("append"), st.lists(st.integers(1, 4), min_size=1, max_size=3)),
    st.tuples(st.just("read"), st.tuples(st.integers(0, 1), st.integers(1, 5))),
    st.tuples(st.just("forget"), st.none()),
)


@given(first=st.integers(0, 3), arrivals=st.lists(st.integers(0, 8), max_size=30))
def test_each_sequence_is_accepted_once_in_any_order(first: int, arrivals: list[int]) -> None:
    window = SequenceWindow(first)
    seen: set[int] = set(range(first))

    for sequence in arrivals:
        assert window.try_accept(sequence) == (sequence not in seen)
        seen.add(sequence)
        assert all((each in window) == (each in seen) for each in range(10))


@given(arrivals=st.lists(st.integers(0, 8), max_size=20), acknowledged=st.integers(0, 9))
def test_what_the_client_says_it_will_not_send_is_as_if_it_had_come(
    arrivals: list[int], acknowledged: int
) -> None:
    window = SequenceWindow()
    for sequence in arrivals:
        window.try_accept(sequence)

    window.forget_below(acknowledged)

    seen = set(arrivals) | set(range(acknowledged))
    assert [each for each in range(12) if each in window] == sorted(seen)


@given(capacity=st.integers(1, 6), script=st.lists(steps, max_size=30))
def test_each_reader_gets_every_point_once_in_order_or_counted_as_lost(
    capacity: int, script: list[tuple[str, object]]
) -> None:
    """Appended = read + lost, for every interleaving of two readers."""
    log = PointLog(capacity)
    positions, seen, appended = [0, 0], [[], []], 0  # type: ignore[var-annotated]
    for step, argument in script:
        if step == "append":
            columns = []
            for size in argument:  # type: ignore[attr-defined]
                numbers = [float(appended + i) for i in range(size)]
                columns.append(PointColumn(METRIC, {}, 0, [int(n) for n in numbers], numbers))
                appended += size
            log.append(columns)
        elif step == "read":
            reader, size = argument  # type: ignore[misc]
            page = log.read(positions[reader], size)
            values = [value for column in page.columns for value in column.values]
            assert len(values) <= size
            assert all(column.values for column in page.columns)
            assert values or page.position == log.head
            assert all(c.times_unix_nano == list(map(int, c.values)) for c in page.columns)
            seen[reader] += [None] * page.lost + values
            positions[reader] = page.position
        else:
            log.forget_below(min(positions))
        assert log.head - log.tail <= capacity

    for reader in (0, 1):
        page = log.read(positions[reader], 1000)
        seen[reader] += [None] * page.lost
        seen[reader] += [value for column in page.columns for value in column.values]
        assert len(seen[reader]) == appended == log.head
        assert all(value in {None, i} for i, value in enumerate(seen[reader]))


@given(data=st.data(), deltas=st.lists(st.integers(-5, 9), min_size=1, max_size=8))
def test_totals_do_not_depend_on_the_order_of_batches(
    data: st.DataObject, deltas: list[int]
) -> None:
    order = data.draw(st.permutations(range(len(deltas))))
    gauge, total, histogram = GaugeSeries({}), SumSeries({}, T0 * 2), HistogramSeries({}, T0 * 2, 2)

    for i in order:
        gauge.add(gauge_points([float(deltas[i])], first_s=i))
        total.add(sum_delta(deltas[i], at_s=i))
        histogram.add(histogram_delta([i, 1], deltas[i], deltas[i], deltas[i], at_s=i))

    for each in (gauge, total, histogram):
        each.commit(1)
    assert gauge.committed is not None
    assert gauge.committed.value == deltas[-1]
    assert (total.start_time_unix_nano, total.committed_total) == (T0, sum(deltas))
    point = histogram.point(T0 * 3)
    assert point.bucket_counts == (sum(range(len(deltas))), len(deltas))
    assert (point.count, point.sum) == (sum(point.bucket_counts), sum(deltas))
    assert (point.min, point.max) == (min(deltas), max(deltas))
    assert point.start_time_unix_nano == T0
