# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The harness itself: a test double that lies makes every test that uses it worthless."""

import threading
from collections.abc import Iterator

import pytest

from nemo_telemetry_actor.client.telemetry import Telemetry
from nemo_telemetry_actor.errors import ActorUnavailableError, RetryableExportError
from nemo_telemetry_actor.export.exporter import ExportResult
from nemo_telemetry_actor.model.instrument import MetricSpec
from nemo_telemetry_actor.model.points import NumberPoint
from nemo_telemetry_actor.testing import (
    FakeClock,
    Fate,
    InMemoryExporter,
    InProcess,
    connected,
    new_core,
)
from nemo_telemetry_actor.wire.messages import WIRE_VERSION, Ack, Batch, Hello, decode, encode
from tests.snapshots import T0, gauge, snapshot

HELLO = encode(Hello(WIRE_VERSION, "c", "", "r", "", False, {}, {}))
BATCH = encode(Batch(WIRE_VERSION, "c", 0))


class Answers(list[bytes | Exception | None]):
    def __call__(self, answer: bytes | None, error: Exception | None) -> None:
        self.append(answer if error is None else error)


def test_a_clock_moves_only_when_told_and_both_its_times_together() -> None:
    clock = FakeClock(unix_nano=5)
    before = clock.monotonic()

    clock.advance(1.5)

    assert clock.time_ns() == 1_500_000_005
    assert clock.monotonic() - before == 1.5
    assert clock.monotonic() - before == 1.5


async def test_an_exporter_in_memory_keeps_what_it_took_and_fails_as_told() -> None:
    exporter = InMemoryExporter(outcomes=[RetryableExportError("busy"), ExportResult(1, "no")])
    first, second = snapshot(gauge("rl.a", [1.0])), snapshot(gauge("rl.a", [2.0]))

    with pytest.raises(RetryableExportError, match="busy"):
        await exporter.export(first)
    assert await exporter.export(first) == ExportResult(1, "no")
    assert await exporter.export(second) == ExportResult()
    await exporter.shutdown()

    assert exporter.snapshots == [first, second]
    assert exporter.points("rl.a") == [NumberPoint({}, 0, T0, 1.0), NumberPoint({}, 0, T0, 2.0)]
    assert exporter.points("rl.b") == []
    assert exporter.is_shut_down


async def test_a_value_travels_from_record_to_an_exporter() -> None:
    exporter = InMemoryExporter()
    core = new_core(exporters=[exporter])
    telemetry = connected(core, run_id="r", worker_group="policy", rank=1)
    telemetry.register_metric_group("env", [MetricSpec("score", "rl.env.score")])
    for step in range(3):
        telemetry.record("env", score=step)

    assert telemetry.shutdown()
    assert await core.drain(5.0)

    assert [getattr(point, "value", None) for point in exporter.points("rl.env.score")] == [0, 1, 2]
    (resource,) = exporter.snapshots[0].resources
    assert resource.attributes["nemo.run.id"] == "r"
    assert resource.attributes["rl.worker_group"] == "policy"
    assert resource.attributes["nv.dl.rank"] == 1


def test_each_fate_is_what_it_says() -> None:
    way, answers = InProcess(new_core()), Answers()
    way.welcome(HELLO, 1.0)
    way.fates.extend([Fate.ANSWER, Fate.LOSE, Fate.FAIL, Fate.GARBLE])

    for _ in range(4):
        way.ingest(BATCH, answers)

    assert isinstance(answers[0], bytes)
    assert decode(answers[0], Ack).status == "ok"
    assert isinstance(answers[1], ActorUnavailableError)
    assert isinstance(answers[2], RuntimeError)
    assert answers[3] == b"\xc1"
    assert way.core is not None
    assert way.core.state()["ingest"]["duplicate_batches"] == 2


def test_a_call_that_cannot_be_made_says_so_at_once() -> None:
    way, answers = InProcess(new_core()), Answers()
    way.fates.append(Fate.GONE)

    with pytest.raises(ActorUnavailableError):
        way.ingest(BATCH, answers)

    assert answers == []


@pytest.mark.parametrize("newest_first", [False, True])
def test_answers_held_back_come_in_the_order_asked_for(newest_first: bool) -> None:
    way, heard = InProcess(new_core()), list[int]()
    way.welcome(HELLO, 1.0)
    way.fates.extend([Fate.HOLD] * 2)
    for index in range(2):
        way.ingest(BATCH, lambda _answer, _error, index=index: heard.append(index))  # type: ignore[misc]
    assert way.held == 2

    assert way.release(newest_first=newest_first) == 2

    assert heard == ([1, 0] if newest_first else [0, 1])
    assert way.release() == 0


@pytest.mark.parametrize("fate", [Fate.ANSWER, Fate.FAIL])
def test_without_a_core_nobody_answers(fate: Fate) -> None:
    way, answers = InProcess(), Answers()
    way.fates.append(fate)

    with pytest.raises(ActorUnavailableError):
        way.welcome(HELLO, 1.0)
    with pytest.raises(ActorUnavailableError):
        way.ingest(BATCH, answers)


def test_a_hanging_welcome_keeps_the_callers_time() -> None:
    way = InProcess(new_core())
    way.hanging = threading.Event()

    with pytest.raises(ActorUnavailableError, match="hangs"):
        way.welcome(HELLO, 0.01)
    way.hanging.set()

    assert way.welcome(HELLO, 0.01)
    assert [hello.client_id for hello in way.hellos] == ["c", "c"]


def test_every_call_is_seen() -> None:
    way = InProcess(new_core())
    way.welcome(HELLO, 1.0)
    way.ingest(BATCH, Answers())
    way.reset()

    assert way.wait_until(lambda: len(way.batches) == 1)
    assert not way.wait_until(lambda: len(way.batches) == 2, timeout_s=0.01)
    assert way.resets == 1


@pytest.fixture
def shut_down() -> Iterator[list[Telemetry]]:
    made: list[Telemetry] = []
    yield made
    for telemetry in made:
        telemetry.shutdown(0.05)


def test_a_handle_of_the_harness_is_strict(shut_down: list[Telemetry]) -> None:
    telemetry = connected(new_core())
    shut_down.append(telemetry)
    telemetry.register_metric_group("env", [MetricSpec("score", "rl.env.score")])

    with pytest.raises(AttributeError):
        telemetry.record("env", 5)  # type: ignore[arg-type]  # wrong on purpose
