# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A core that is killed and goes on from its file is the core that never stopped."""

import asyncio
import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.errors import RetryableExportError
from nemo_telemetry_actor.export.exporter import ExportResult
from nemo_telemetry_actor.testing import FakeClock, InMemoryExporter
from nemo_telemetry_actor.wire.messages import (
    WIRE_VERSION,
    Ack,
    Batch,
    MetricBlock,
    PlacementSet,
    Registration,
    decode,
    encode,
)
from tests.batches import (
    declared,
    gauge_points,
    hello,
    histogram_delta,
    observed,
    sum_delta,
)
from tests.lives import durability_of, killed, life, remembered

# Each example opens two files or three.
fewer = settings(max_examples=settings().max_examples // 2)

CLIENTS = ("a" * 32, "b" * 32)
EXPORTERS = ("x", "y")
GAUGE, COUNTER = declared("rl.reward"), declared("rl.steps", "counter")
HISTOGRAM = declared("rl.time", "histogram")
SEEN, COUNTED = declared("rl.seen", "observable_gauge"), declared("rl.read", "observable_counter")

clients, runs, small = st.integers(0, 1), st.sampled_from("rs"), st.integers(0, 3)
joins = st.tuples(st.just("join"), clients, runs, st.booleans(), st.sampled_from(["", "j", "k"]))
sends = st.tuples(
    st.just("send"), clients, st.sampled_from("gchoO p"), small, st.sampled_from([0, 0, 0, 1])
)
closings = st.tuples(st.just("close"), clients, st.sampled_from(["client", "run"]))
deliveries = st.tuples(st.just("deliver"), st.integers(0, 1), small)
commits = st.just(("commit",))
times = st.tuples(st.just("time"), st.sampled_from([1, 50, 100, 4000]))
# Most steps are values, and a client has joined before the first of them.
anything = st.one_of(sends, sends, sends, commits, joins, deliveries, closings, times)
changes = st.one_of(sends, sends, joins, closings)


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "nemo_telemetry_actor")


class Life:
    """A core, what its clients know, and what its exporters got."""

    def __init__(self, path: Path, clock: FakeClock, before: "Life | None" = None) -> None:
        self.clock = clock
        self.exporters = [InMemoryExporter(name, max_points=2) for name in EXPORTERS]
        self.core: TelemetryCore = life(path, clock, self.exporters)
        # What clients know does not end with an actor.
        self.next_sequence: list[int] = list(before.next_sequence) if before else [0, 0]
        self.unanswered: list[set[int]] = (
            [set(each) for each in before.unanswered] if before else [set(), set()]
        )
        self.acknowledged: list[tuple[int, int, bytes]] = (
            list(before.acknowledged) if before else []
        )

    def do(self, step: Any) -> None:
        match step:
            case "join", client, run_id, opens_run, job_id:
                first = min(self.unanswered[client], default=self.next_sequence[client])
                greeting = hello(
                    CLIENTS[client],
                    run_id=run_id if not job_id else "",
                    scheduler_id=run_id,
                    job_id=job_id,
                    opens_run=opens_run,
                    run_attributes={"rl.model": run_id, "size": 2**64 - 1, "tags": ("a", "b")},
                    process_attributes={"rank": client},
                    first_sequence=first,
                )
                self.core.welcome(encode(greeting))
                # Of a client that was forgotten only the first sequence is known again, and no
                # client sends again what was answered.
                self.acknowledged = [
                    (whose, sequence, payload)
                    for whose, sequence, payload in self.acknowledged
                    if whose != client or sequence < first
                ]
            case "send", client, what, number, hole:
                # A batch that was overtaken may come later or never.
                self.unanswered[client] |= set(
                    range(self.next_sequence[client], self.next_sequence[client] + hole)
                )
                self.next_sequence[client] += hole
                self._send(client, self._content(what, number, self.next_sequence[client]))
            case "close", client, closing:
                self._send(client, {"closing": closing})
            case "deliver", exporter, messages:
                down = RetryableExportError("down")
                self.exporters[exporter].outcomes.extend([ExportResult()] * messages + [down])
                asyncio.run(self.core.deliveries[exporter].run_once())
                self.exporters[exporter].outcomes.clear()
            case ("commit",):
                self.core.commit()
            case "time", seconds:
                self.core.commit()
                self.clock.advance(seconds)
                self.core.tick()
            case _:
                raise ValueError(step)

    def _send(self, client: int, content: dict[str, Any]) -> None:
        sequence = self.next_sequence[client]
        payload = encode(Batch(WIRE_VERSION, CLIENTS[client], sequence, **content))
        if decode(self.core.ingest(payload), Ack).status == "ok":
            self.next_sequence[client] += 1
            self.acknowledged.append((client, sequence, payload))

    @staticmethod
    def _content(what: str, number: int, at: int) -> dict[str, Any]:
        value = float(number)
        points = gauge_points([value, value + 1], {"k": number}, first_s=at)
        delta = histogram_delta([1, 0, 2], value, 0, value, at_s=at)
        group = Registration("policy", [f"n{number}"], [("g", number)])
        contents: dict[str, dict[str, Any]] = {
            "g": {"metrics": [MetricBlock(GAUGE, [points])]},
            "c": {"metrics": [MetricBlock(COUNTER, [sum_delta(value, at_s=at)])]},
            "h": {"metrics": [MetricBlock(HISTOGRAM, [delta])]},
            "o": {"observed": [observed(SEEN, at + 1, {"u": value, "v": 1.0}, at)]},
            "O": {"observed": [observed(COUNTED, at + 1, {"u": value}, at)]},
            "p": {"placements": PlacementSet(at + 1, [group])},
            " ": {},
        }
        return contents[what]

    def resend_everything(self) -> None:
        for _, _, payload in self.acknowledged:
            if not decode(payload, Batch).closing:
                self.core.ingest(payload)
        self.core.commit()


class Lives:
    """A directory, and the lives in it; none of them outlasts the example."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._cores: list[TelemetryCore] = []

    def first(self) -> Life:
        return self._note(Life(self._directory / "0", FakeClock()))

    def next(self, before: Life, clock: FakeClock | None = None) -> Life:
        """What follows a kill at this instant; the life before goes on undisturbed."""
        path = killed(self._directory / "0", self._directory / str(len(self._cores)))
        return self._note(Life(path, clock or before.clock, before))

    async def close(self) -> None:
        for core in self._cores:
            await durability_of(core).close(remove=False)

    def _note(self, life: Life) -> Life:
        self._cores.append(life.core)
        return life


@contextmanager
def some_lives() -> Iterator[Lives]:
    shared_memory = Path("/dev/shm")
    place = shared_memory if shared_memory.is_dir() else None
    with tempfile.TemporaryDirectory(dir=place) as directory:
        lives = Lives(Path(directory))
        try:
            yield lives
        finally:
            asyncio.run(lives.close())


def begun(lives: Lives, script: list[Any]) -> Life:
    first = lives.first()
    first.do(("join", 0, "r", True, "j"))
    for step in script:
        first.do(step)
    first.core.commit()
    return first


def rest(core: TelemetryCore, clock: FakeClock) -> None:
    """Leases and waits begin anew with a life; let those of the one that goes on do so too."""
    for producer in core._registry.producers.values():
        producer.heard_s = clock.monotonic()
    for run in core._registry.runs.values():
        for producer in run.producers.values():
            producer.heard_s = clock.monotonic()
        run.ended_s = clock.monotonic()
        run.last_revision = core._registry.revision
    for delivery in core.deliveries:
        delivery.revision = 0
        delivery._not_before_s = 0.0
        delivery._wait_s = 1.0
        delivery._totals_sent_s = clock.monotonic()


@fewer
@given(script=st.lists(anything, max_size=25))
def test_a_later_life_knows_all_that_was_committed(script: list[Any]) -> None:
    with some_lives() as lives:
        first = begun(lives, script)

        second = lives.next(first)

        assert durability_of(second.core).problems == []
        assert remembered(second.core) == remembered(first.core)


@fewer
@given(script=st.lists(anything, max_size=15), uncommitted=st.lists(changes, max_size=6))
def test_what_was_applied_and_not_committed_is_not_there(
    script: list[Any], uncommitted: list[Any]
) -> None:
    with some_lives() as lives:
        first = begun(lives, script)
        before = lives.next(first)
        for step in uncommitted:
            first.do(step)

        second = lives.next(first)

        assert remembered(second.core) == remembered(before.core)


@fewer
@given(script=st.lists(anything, max_size=20))
def test_batches_that_were_acknowledged_change_nothing_in_a_later_life(script: list[Any]) -> None:
    with some_lives() as lives:
        first = begun(lives, script)
        second = lives.next(first)
        before = remembered(second.core)

        second.resend_everything()

        after = remembered(second.core)
        # A duplicate may still announce where groups sit; an older set than the last is refused.
        del before["placements"], after["placements"]
        assert after == before


@fewer
@given(script=st.lists(anything, max_size=15), then=st.lists(anything, max_size=15))
def test_going_on_from_the_file_equals_never_having_stopped(
    script: list[Any], then: list[Any]
) -> None:
    with some_lives() as lives:
        first = begun(lives, script)
        rest(first.core, first.clock)
        for exporter in first.exporters:
            exporter.snapshots.clear()
        again = FakeClock(first.clock.time_ns())
        again._elapsed_s = first.clock.monotonic()
        second = lives.next(first, again)

        for each in (first, second):
            for step in [*then, ("deliver", 0, 100), ("deliver", 1, 100)]:
                each.do(step)
            each.core.commit()

        assert remembered(second.core) == remembered(first.core)
        for mine, other in zip(first.exporters, second.exporters, strict=True):
            for name in ("rl.reward", "rl.seen", "rl.read"):
                assert mine.points(name) == other.points(name)
