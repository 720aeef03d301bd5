# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.actor.loops import COMMIT_DELAY_S, Commits, Loops
from nemo_telemetry_actor.config.fields import TelemetryConfig
from nemo_telemetry_actor.errors import RetryableExportError
from nemo_telemetry_actor.export.exporter import ExportResult
from nemo_telemetry_actor.model.points import Snapshot
from nemo_telemetry_actor.testing import FakeClock, InMemoryExporter, new_core
from nemo_telemetry_actor.wire.messages import MetricBlock, encode
from tests.batches import batch, declared, gauge_points, hello
from tests.clocks import run_at_once

WORKER = "a" * 32
INTERVAL_S = 10.0


class Timed(InMemoryExporter):
    """Notes when it was called, and takes its time.

    An export that is cut off was taken by the backend nevertheless.
    """

    def __init__(self, clock: FakeClock, *, takes_s: float = 0.0, **options: Any) -> None:
        super().__init__(**options)
        self.clock = clock
        self.takes_s = takes_s
        self.called_at_s: list[float] = []

    async def export(self, snapshot: Snapshot) -> ExportResult:
        self.called_at_s.append(round(self.clock.monotonic() - 1000.0, 2))
        result = await super().export(snapshot)
        await asyncio.sleep(self.takes_s)
        return result


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def _core(clock: FakeClock, *exporters: InMemoryExporter) -> TelemetryCore:
    config = msgspec.convert({"export": {"interval_s": INTERVAL_S}}, TelemetryConfig)
    core = new_core(exporters=exporters, config=config, clock=clock)
    core.welcome(encode(hello(WORKER, run_id="r", opens_run=True)))
    return core


def _record(core: TelemetryCore, sequence: int, closing: Any = "") -> None:
    block = MetricBlock(declared("rl.reward"), [gauge_points([1.0], first_s=sequence)])
    core.ingest(encode(batch(sequence, block, client_id=WORKER, closing=closing)))


def _run(clock: FakeClock, core: TelemetryCore, what: Callable[[Loops], Awaitable[object]]) -> None:
    async def main() -> None:
        loops = Loops(core)
        loops.start()
        try:
            await what(loops)
        finally:
            await loops.stop()

    run_at_once(clock, main())


# ---- commits


def test_one_commit_serves_everybody_who_waits(clock: FakeClock) -> None:
    commits_at_s: list[float] = []
    commits = Commits(lambda: commits_at_s.append(clock.monotonic() - 1000.0))

    async def main() -> None:
        await asyncio.gather(*(commits.committed() for _ in range(100)))
        await commits.committed()

    run_at_once(clock, main())

    assert commits_at_s == pytest.approx([COMMIT_DELAY_S, 2 * COMMIT_DELAY_S])


def test_a_commit_that_fails_is_told_to_everybody_and_the_next_one_works(clock: FakeClock) -> None:
    outcomes: list[Exception | None] = [OSError("disk full"), None]

    def commit() -> None:
        outcome = outcomes.pop(0)
        if outcome is not None:
            raise outcome

    commits = Commits(commit)

    async def main() -> list[BaseException | None]:
        waiting = [commits.committed() for _ in range(3)]
        first = await asyncio.gather(*waiting, return_exceptions=True)
        await commits.committed()
        return first

    assert [repr(each) for each in run_at_once(clock, main())] == ["OSError('disk full')"] * 3
    assert outcomes == []


def test_a_caller_that_goes_away_takes_no_commit_from_the_others(clock: FakeClock) -> None:
    commits = Commits(lambda: None)

    async def main() -> bool:
        leaving = asyncio.create_task(commits.committed())
        staying = asyncio.create_task(commits.committed())
        await asyncio.sleep(0)
        leaving.cancel()
        await staying
        return leaving.cancelled()

    assert run_at_once(clock, main())


# ---- deliveries


def test_exports_keep_their_phase_however_long_they_take(clock: FakeClock) -> None:
    exporter = Timed(clock, takes_s=3.0)
    core = _core(clock, exporter)

    async def what(_: Loops) -> None:
        for sequence in range(5):
            _record(core, sequence)
            await asyncio.sleep(INTERVAL_S)

    _run(clock, core, what)

    assert exporter.called_at_s == [10.0, 20.0, 30.0, 40.0]


def test_an_export_longer_than_the_interval_skips_a_turn(clock: FakeClock) -> None:
    exporter = Timed(clock, takes_s=25.0)
    core = _core(clock, exporter)

    async def what(_: Loops) -> None:
        for sequence in range(9):
            _record(core, sequence)
            await asyncio.sleep(INTERVAL_S)

    _run(clock, core, what)

    assert exporter.called_at_s[:3] == [10.0, 35.0, 60.0]


def test_one_late_export_does_not_shift_the_next_ones(clock: FakeClock) -> None:
    exporter = Timed(clock, takes_s=13.0)
    core = _core(clock, exporter)

    async def what(_: Loops) -> None:
        for sequence in range(30):
            _record(core, sequence)
            await asyncio.sleep(1.5)
            if exporter.called_at_s:
                exporter.takes_s = 0.0

    _run(clock, core, what)

    assert sorted(set(exporter.called_at_s)) == [10.0, 23.0, 30.0, 40.0]


def test_a_failed_export_is_tried_again_when_its_wait_is_over(clock: FakeClock) -> None:
    outcomes = [RetryableExportError("refused to connect")] * 4
    exporter = Timed(clock, outcomes=outcomes)
    core = _core(clock, exporter)
    _record(core, 0)

    _run(clock, core, lambda _: asyncio.sleep(40.0))

    assert exporter.called_at_s == [10.0, 11.0, 13.0, 17.0, 25.0]
    assert len(exporter.points("rl.reward")) == 1


def test_one_slow_exporter_delays_no_other(clock: FakeClock) -> None:
    slow, exporter = Timed(clock, name="slow", takes_s=1000.0), Timed(clock)
    core = _core(clock, slow, exporter)

    async def what(_: Loops) -> None:
        for sequence in range(4):
            _record(core, sequence)
            await asyncio.sleep(INTERVAL_S)

    _run(clock, core, what)

    assert slow.called_at_s == [10.0]
    assert exporter.called_at_s == [10.0, 20.0, 30.0]


def test_the_end_of_a_run_does_not_wait_for_the_interval(clock: FakeClock) -> None:
    exporter = Timed(clock)
    core = _core(clock, exporter)

    async def what(_: Loops) -> None:
        await asyncio.sleep(2.0)
        _record(core, 0, closing="run")
        core.commit()
        await asyncio.sleep(1.0)
        _record(core, 1)
        core.commit()
        await asyncio.sleep(10.0)

    _run(clock, core, what)

    assert exporter.called_at_s == [pytest.approx(2.0 + 2 * COMMIT_DELAY_S), 10.0]


def test_a_lease_that_ends_is_noticed_by_the_clock_alone(clock: FakeClock) -> None:
    core = _core(clock)

    _run(clock, core, lambda _: asyncio.sleep(92.0))

    assert [run["state"] for run in core.state()["runs"]] == ["ended"]


def test_a_tick_that_fails_is_logged_and_the_next_one_comes(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    core = _core(clock)
    calls: list[float] = []

    def tick() -> None:
        calls.append(clock.monotonic())
        raise OSError("disk full")

    core.tick = tick  # type: ignore[method-assign]

    with caplog.at_level(logging.ERROR):
        _run(clock, core, lambda _: asyncio.sleep(2.5))

    assert len(calls) == 2
    assert [record.getMessage() for record in caplog.records] == ["tick failed"] * 2


# ---- the end


def test_a_message_in_flight_is_finished_and_not_sent_twice(clock: FakeClock) -> None:
    exporter = Timed(clock, takes_s=0.5)
    core = _core(clock, exporter)
    _record(core, 0)

    async def what(loops: Loops) -> None:
        await asyncio.sleep(10.1)
        await loops.stop()
        await core.drain(5.0)

    _run(clock, core, what)

    assert len(exporter.points("rl.reward")) == 1


def test_a_message_that_hangs_is_cut_off_after_the_grace(clock: FakeClock) -> None:
    exporter = Timed(clock, takes_s=1000.0)
    core = _core(clock, exporter)
    _record(core, 0)

    async def what(loops: Loops) -> None:
        await asyncio.sleep(10.1)
        await loops.stop(grace_s=2.0)

    _run(clock, core, what)

    assert clock.monotonic() - 1000.0 == pytest.approx(12.1)
