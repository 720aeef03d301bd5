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
    st.tuples(st.just("append"), st.integers(1, 4), st.just(0)),
    st.tuples(st.just("read"), st.integers(0, 1), st.integers(1, 5)),
    st.tuples(st.just("forget"), st.just(0), st.just(0)),
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
    capacity: int, script: list[tuple[str, int, int]]
) -> None:
    """Appended = read + lost, for every interleaving of two readers."""
    log = PointLog(capacity)
    readers = (_Reader(log), _Reader(log))
    for step, first, second in script:
        if step == "append":
            numbers = [float(log.head + i) for i in range(first)]
            log.append([PointColumn(METRIC, {}, 0, [int(n) for n in numbers], numbers)])
        elif step == "read":
            readers[first].read(second)
        else:
            log.forget_below(min(reader.position for reader in readers))
        assert log.head - log.tail <= capacity

    for reader in readers:
        reader.read(1000)
        assert len(reader.seen) == log.head
        assert all(value in {None, i} for i, value in enumerate(reader.seen))


class _Reader:
    """Sees each point's number, or None where one was lost."""

    def __init__(self, log: PointLog) -> None:
        self.log = log
        self.position = 0
        self.seen: list[float | None] = []

    def read(self, size: int) -> None:
        page = self.log.read(self.position, size)
        values = [value for column in page.columns for value in column.values]
        times = [time for column in page.columns for time in column.times_unix_nano]
        assert len(values) <= size
        assert all(column.values for column in page.columns)
        assert values or page.position == self.log.head
        assert times == values
        self.seen += [None] * page.lost
        self.seen += values
        self.position = page.position


@given(data=st.data(), deltas=st.lists(st.integers(-5, 9), min_size=1, max_size=8))
def test_totals_do_not_depend_on_the_order_of_batches(
    data: st.DataObject, deltas: list[int]
) -> None:
    order = data.draw(st.permutations(range(len(deltas))))
    gauge, total, histogram = GaugeSeries({}), SumSeries({}, T0 * 2), HistogramSeries({}, T0 * 2, 2)

    for i in order:
        gauge.add(gauge_points([float(deltas[i])], first_s=i))
        total.try_add(sum_delta(deltas[i], at_s=i))
        histogram.try_add(histogram_delta([i, 1], deltas[i], deltas[i], deltas[i], at_s=i))

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
