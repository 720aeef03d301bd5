# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The actor's timers: commits on demand, a tick, and one task a push exporter."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Final

from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.actor.hosts import HostReporter
from nemo_telemetry_actor.export.delivery import Delivery

_log = logging.getLogger("nemo_telemetry_actor")

COMMIT_DELAY_S: Final = 0.05
"""How long the first batch waits for company: one commit serves all that came meanwhile."""

TICK_S: Final = 1.0

_TIMER_STEP_S: Final = 0.001  # a timer may fire a step of the clock early


class Commits:
    """Commits a moment after it is asked to, once for everybody who asked meanwhile."""

    def __init__(self, commit: Callable[[], None]) -> None:
        self._commit = commit
        self._next: asyncio.Future[None] | None = None

    async def committed(self) -> None:
        """Wait until everything applied before this call is committed.

        Raises:
            Exception: What the commit raised; then nothing is committed.
        """
        if self._next is None:
            loop = asyncio.get_running_loop()
            self._next = loop.create_future()
            loop.call_later(COMMIT_DELAY_S, self._run, self._next)
        # One caller that goes away must not take the commit from the others.
        await asyncio.shield(self._next)

    def _run(self, waiting: asyncio.Future[None]) -> None:
        self._next = None
        try:
            self._commit()
        except Exception as error:  # noqa: BLE001 — handed to everyone who waits for this commit
            waiting.set_exception(error)
        else:
            waiting.set_result(None)


class Loops:
    """The tasks of one core. `start` and `stop` are called on its event loop."""

    def __init__(self, core: TelemetryCore) -> None:
        self._core = core
        self._tasks: list[asyncio.Task[None]] = []
        self._wakes: list[asyncio.Event] = []
        self._rounds: set[asyncio.Task[bool]] = set()

    def start(self) -> None:
        """Start ticking and delivering."""
        self._tasks.append(asyncio.create_task(self._tick_forever(), name="tick"))
        self._tasks.append(asyncio.create_task(self._wake_at_run_end(), name="run-end"))
        if self._core.host_reporter is not None:
            sweeps = self._sweep_forever(self._core.host_reporter)
            self._tasks.append(asyncio.create_task(sweeps, name="sweep"))
        for delivery in self._core.deliveries:
            wake = asyncio.Event()
            self._wakes.append(wake)
            self._tasks.append(
                asyncio.create_task(
                    self._deliver_forever(delivery, wake), name=f"deliver {delivery.exporter.name}"
                )
            )

    async def stop(self, grace_s: float = 1.0) -> None:
        """End every task; what is being delivered may take this long to finish.

        Of a message that is cut off nobody knows whether the backend took it, so that it is sent
        twice.
        """
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        rounds = list(self._rounds)
        if rounds:
            _, late = await asyncio.wait(rounds, timeout=grace_s)
            for a_round in late:
                a_round.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _tick_forever(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            try:
                self._core.tick()
            except Exception:  # noqa: BLE001 — logged; the next tick may go well
                _log.exception("tick failed")

    async def _sweep_forever(self, reporter: HostReporter) -> None:
        loop = asyncio.get_running_loop()
        hosts = self._core.config.hosts
        interval_s = hosts.interval_s if hosts is not None else 0.0
        due_s = loop.time()
        while True:
            try:
                await reporter.sweep()
            except Exception:  # noqa: BLE001 — logged; the next sweep may go well
                _log.exception("a sweep of the hosts failed")
            due_s = _next_due_s(due_s, interval_s, loop.time())
            await asyncio.sleep(due_s - loop.time())

    async def _wake_at_run_end(self) -> None:
        while True:
            await self._core.run_ended.wait()
            self._core.run_ended.clear()
            # The values that came with the end are committed a moment later.
            await asyncio.sleep(2 * COMMIT_DELAY_S)
            for wake in self._wakes:
                wake.set()

    async def _deliver_forever(self, delivery: Delivery, wake: asyncio.Event) -> None:
        loop = asyncio.get_running_loop()
        interval_s = self._core.config.export.interval_s
        due_s = loop.time() + interval_s
        is_delivered = True
        while True:
            until_s = due_s if is_delivered else min(due_s, loop.time() + delivery.retry_in_s)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(until_s):
                    await wake.wait()
            wake.clear()
            due_s = _next_due_s(due_s, interval_s, loop.time())
            a_round = asyncio.create_task(delivery.run_once())
            self._rounds.add(a_round)
            a_round.add_done_callback(self._rounds.discard)
            is_delivered = await asyncio.shield(a_round)


def _next_due_s(due_s: float, interval_s: float, now_s: float) -> float:
    """Return the next time of a timer that keeps its phase, whatever its work takes."""
    late_s = now_s - due_s + _TIMER_STEP_S
    return due_s + interval_s * (late_s // interval_s + 1) if late_s >= 0 else due_s
