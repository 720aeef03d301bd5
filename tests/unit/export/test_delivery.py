# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import logging

import pytest

from nemo_telemetry_actor.errors import (
    ExportError,
    MessageTooLargeError,
    RetryableExportError,
)
from nemo_telemetry_actor.export.delivery import Delivery
from nemo_telemetry_actor.export.exporter import ExportResult
from nemo_telemetry_actor.model.points import NumberPoint
from nemo_telemetry_actor.testing import FakeClock, InMemoryExporter
from tests.snapshots import T0
from tests.unit.export.list_source import DOWN, ListSource, delivery_of, values_of


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


async def test_each_point_goes_once_in_order_with_its_own_time(clock: FakeClock) -> None:
    source, exporter = ListSource(7), InMemoryExporter(max_points=3)
    delivery = delivery_of(exporter, source, clock)

    assert await delivery.run_once()
    assert await delivery.run_once()
    source.head = 8
    assert await delivery.run_once()

    assert exporter.points("rl.reward") == [NumberPoint({}, 0, T0 + i, float(i)) for i in range(8)]
    assert [each.point_count for each in exporter.snapshots] == [3, 3, 1, 1]
    state = delivery.state()
    assert (state.state, state.sent, state.backlog_points) == ("up", 8, 0)
    assert state.last_success_unix_nano == clock.time_ns()


async def test_what_was_recorded_before_an_exporter_came_is_not_sent_to_it(
    clock: FakeClock,
) -> None:
    source, exporter = ListSource(5), InMemoryExporter()

    delivery = Delivery(
        exporter, source, max_points=10, time_ns=clock.time_ns, monotonic=clock.monotonic
    )

    assert await delivery.run_once()
    assert exporter.snapshots == []
    assert delivery.state().state == "idle"


async def test_nothing_is_lost_or_doubled_whatever_fails(clock: FakeClock) -> None:
    source = ListSource(10)
    exporter = InMemoryExporter(
        max_points=4,
        outcomes=[
            ExportResult(),
            DOWN,
            RuntimeError("a bug"),
            MessageTooLargeError("too large"),
            RetryableExportError("busy", retry_after_s=5.0),
            ExportResult(),
            TimeoutError(),
        ],
    )
    delivery = delivery_of(exporter, source, clock)

    results = []
    for _ in range(6):
        results.append(await delivery.run_once())
        clock.advance(100.0)

    assert results == [False, False, False, False, True, True]
    assert values_of(exporter) == [float(i) for i in range(10)]
    state = delivery.state()
    assert (state.sent, state.failed, state.dropped) == (10, 4, {})


async def test_what_a_backend_refuses_for_good_is_dropped_and_counted(clock: FakeClock) -> None:
    exporter = InMemoryExporter(max_points=2, outcomes=[ExportError("bad request")])
    delivery = delivery_of(exporter, ListSource(5), clock)

    assert await delivery.run_once()

    assert values_of(exporter) == [2.0, 3.0, 4.0]
    state = delivery.state()
    assert (state.sent, state.failed, state.dropped) == (3, 1, {"refused": 2})


async def test_what_a_backend_rejects_of_a_message_is_counted_and_not_sent_again(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    outcomes = [ExportResult(3, "out of order"), ExportResult(0, "deprecated"), ExportResult(9)]
    exporter = InMemoryExporter(max_points=5, outcomes=outcomes)
    delivery = delivery_of(exporter, ListSource(15), clock)

    assert await delivery.run_once()

    state = delivery.state()
    assert len(values_of(exporter)) == 15
    assert (state.sent, state.rejected, state.state) == (7, 8, "up")
    assert state.last_error == "took a message and rejected 5 of 5 points: "
    assert [record.getMessage() for record in caplog.records] == [
        "memory took a message and rejected 3 of 5 points: out of order"
    ]


async def test_a_backend_that_refuses_is_told_of_once_a_minute(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    exporter = InMemoryExporter(max_points=1, outcomes=[ExportError("bad request")] * 8)
    source = ListSource()
    delivery = delivery_of(exporter, source, clock)

    for _ in range(8):
        source.head += 1
        await delivery.run_once()
        clock.advance(20.0)

    lines = [record.getMessage() for record in caplog.records]
    assert lines == ["memory refused 1 points for good, they are dropped: bad request"] * 3


# ---- down and up


async def test_a_backend_that_is_down_is_tried_after_waits_that_double(clock: FakeClock) -> None:
    exporter = InMemoryExporter(outcomes=[DOWN] * 9)
    delivery = delivery_of(exporter, ListSource(1), clock)

    waits = []
    for _ in range(9):
        await delivery.run_once()
        waits.append(delivery.retry_in_s)
        clock.advance(waits[-1] - 0.01)
        left = len(exporter.outcomes)
        assert not await delivery.run_once()
        assert len(exporter.outcomes) == left
        clock.advance(0.01)
    assert await delivery.run_once()

    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert delivery.retry_in_s == 0.0
    exporter.outcomes.append(DOWN)
    delivery.position = 0
    await delivery.run_once()
    assert delivery.retry_in_s == 1.0


async def test_a_backend_is_left_alone_as_long_as_it_asks(clock: FakeClock) -> None:
    exporter = InMemoryExporter(outcomes=[RetryableExportError("busy", retry_after_s=7.0)])
    delivery = delivery_of(exporter, ListSource(1), clock)
    await delivery.run_once()

    clock.advance(6.9)
    in_time = [await delivery.run_once(), await delivery.run_once(hurry=True)]
    clock.advance(0.2)

    assert in_time == [False, False]
    assert await delivery.run_once()


async def test_hurry_cuts_a_wait_of_our_own_short(clock: FakeClock) -> None:
    exporter = InMemoryExporter(outcomes=[DOWN])
    delivery = delivery_of(exporter, ListSource(1), clock)
    await delivery.run_once()

    assert not await delivery.run_once()
    assert await delivery.run_once(hurry=True)


async def test_one_line_when_a_backend_goes_and_one_when_it_is_back(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    exporter = InMemoryExporter(outcomes=[DOWN, RetryableExportError("other words"), DOWN])
    delivery = delivery_of(exporter, ListSource(3), clock)

    for _ in range(5):
        await delivery.run_once()
        clock.advance(100.0)

    assert [record.getMessage() for record in caplog.records] == [
        "memory does not take data, which waits in memory until it does: refused to connect",
        "memory is back",
    ]


async def test_a_bug_in_an_exporter_is_shown_with_its_trace_once(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    exporter = InMemoryExporter(outcomes=[ZeroDivisionError("a bug")] * 3)
    delivery = delivery_of(exporter, ListSource(3), clock)

    for _ in range(3):
        assert not await delivery.run_once()
        assert delivery.state().last_error == "ZeroDivisionError('a bug')"
        clock.advance(100.0)

    assert [record.levelno for record in caplog.records] == [logging.ERROR, logging.WARNING]
    assert caplog.records[0].exc_info is not None


async def test_points_lost_while_a_backend_is_down_are_counted_once(clock: FakeClock) -> None:
    source = ListSource(10)
    exporter = InMemoryExporter(outcomes=[DOWN, DOWN, MessageTooLargeError("too large")])
    delivery = delivery_of(exporter, source, clock)
    await delivery.run_once()
    source.tail = 4

    for _ in range(3):
        clock.advance(100.0)
        await delivery.run_once()

    assert values_of(exporter) == [4.0, 5.0, 6.0, 7.0, 8.0, 9.0]
    assert delivery.state().dropped == {"queue_full": 4}


async def test_a_dead_exporter_delays_no_other(clock: FakeClock) -> None:
    source = ListSource(3)
    dead = delivery_of(InMemoryExporter("dead", outcomes=[DOWN] * 5), source, clock)
    exporter = InMemoryExporter("alive")
    alive = delivery_of(exporter, source, clock)

    results = [await dead.run_once(), await alive.run_once()]

    assert results == [False, True]
    assert len(values_of(exporter)) == 3
    assert (dead.state().backlog_points, alive.state().backlog_points) == (3, 0)
