# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
from nemo_telemetry_actor.model.instrument import Declaration
from nemo_telemetry_actor.registry.pointlog import PointColumn, PointLog, PointPage, Waiting
from nemo_telemetry_actor.registry.producers import Producer, ProducerMetric, Run

METRIC = ProducerMetric(
    Producer(Run("run", 0), "a" * 32, {}, 0), b"d", Declaration("rl.reward", "gauge")
)


def _column(*values: float) -> PointColumn:
    return PointColumn(METRIC, {"k": 1}, 0, [int(value) for value in values], list(values))


def _values(page: PointPage) -> list[list[float]]:
    return [column.values for column in page.columns]


def test_an_empty_log_has_nothing_to_read() -> None:
    log = PointLog(10)

    assert log.read(0, 5) == PointPage([], 0, 0)
    assert (log.tail, log.head) == (0, 0)


def test_a_page_cuts_columns_where_it_must() -> None:
    log = PointLog(10)
    log.append([_column(0, 1, 2), _column(3, 4)])

    page = log.read(1, 3)

    assert _values(page) == [[1, 2], [3]]
    assert page.columns[0] == PointColumn(METRIC, {"k": 1}, 0, [1, 2], [1.0, 2.0])
    assert (page.position, page.lost) == (4, 0)
    assert _values(log.read(4, 3)) == [[4]]


def test_what_nobody_read_in_time_is_counted_for_who_missed_it() -> None:
    log = PointLog(3)
    log.append([_column(0, 1, 2)])
    log.append([_column(3, 4)])

    assert log.read(0, 10) == PointPage([_column(2), _column(3, 4)], 5, 2)
    assert log.read(2, 10).lost == 0
    assert (log.tail, log.head) == (2, 5)


def test_a_column_above_the_capacity_keeps_its_end() -> None:
    log = PointLog(2)

    log.append([_column(0, 1, 2, 3, 4)])

    assert log.read(0, 10) == PointPage([_column(3, 4)], 5, 3)


def test_a_loss_at_the_border_of_two_columns_takes_the_first_whole() -> None:
    log = PointLog(2)

    log.append([_column(0, 1), _column(2, 3)])

    assert log.read(0, 10) == PointPage([_column(2, 3)], 4, 2)


def test_what_all_have_read_goes_and_the_rest_stays() -> None:
    log = PointLog(10)
    log.append([_column(0, 1, 2), _column(3, 4)])

    log.forget_below(2)
    assert log.tail == 0
    log.forget_below(3)
    assert log.tail == 3
    assert _values(log.read(3, 10)) == [[3, 4]]
    log.forget_below(4)
    assert log.tail == 3
    log.forget_below(5)

    assert (log.tail, log.head) == (5, 5)
    assert log.read(5, 10) == PointPage([], 5, 0)
    log.append([_column(5)])
    assert log.read(5, 10) == PointPage([_column(5)], 6, 0)


def test_above_the_bytes_the_oldest_columns_go_and_the_newest_stays() -> None:
    log = PointLog(100, capacity_bytes=40)

    log.append([_column(0, 1), _column(2), _column(3)])
    before = log.tail
    log.append([_column(4, 5, 6, 7, 8)])

    assert (before, log.tail, log.head) == (2, 4, 9)
    assert (log.read(0, 100).lost, log.read(0, 100).too_old) == (4, 0)


def test_what_waited_too_long_goes_and_is_told_apart() -> None:
    log = PointLog(4)
    log.append([_column(0), _column(1), _column(2), _column(3)])

    log.forget_older(2)
    aged = log.read(0, 100)
    log.append([_column(4), _column(5), _column(6)])
    full = log.read(0, 100)

    assert (aged.lost, aged.too_old, aged.position) == (0, 2, 4)
    assert (full.lost, full.too_old, full.position) == (1, 2, 7)


def test_what_waits_is_counted_from_the_position() -> None:
    log = PointLog(100)
    log.append([_column(5, 6), _column(7)])

    assert log.waiting(0) == Waiting(3, 48, 5)
    assert log.waiting(1) == Waiting(2, 48, 6)
    assert log.waiting(2) == Waiting(1, 16, 7)
    assert log.waiting(3) == Waiting(0, 0, 0)
