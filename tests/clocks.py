# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Time that passes only when a test says so."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

from tests.snapshots import T0

_T = TypeVar("_T")


class HandClock:
    """A wall clock and a monotonic one that go together."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def monotonic(self) -> float:
        return self.now_s

    def time_ns(self) -> int:
        return T0 + round((self.now_s - 1000.0) * 1e9)

    def advance(self, seconds: float) -> None:
        self.now_s += seconds


class _Jump(selectors.DefaultSelector):
    """Moves a clock on where a real selector would wait."""

    def __init__(self, clock: HandClock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("everything waits for something that cannot come")
        self._clock.advance(max(0.0, timeout))
        return super().select(0)


class _JumpingLoop(asyncio.SelectorEventLoop):
    def __init__(self, clock: HandClock) -> None:
        self._hand_clock = clock
        super().__init__(_Jump(clock))

    def time(self) -> float:
        return self._hand_clock.now_s


def run_at_once(clock: HandClock, main: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine on a loop whose sleeps take no time but move the clock. No threads."""
    with asyncio.Runner(loop_factory=lambda: _JumpingLoop(clock)) as runner:
        return runner.run(main)
