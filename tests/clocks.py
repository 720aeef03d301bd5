# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""An event loop on which waiting takes no time."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

from nemo_telemetry_actor.testing import FakeClock

_T = TypeVar("_T")


class _Jump(selectors.DefaultSelector):
    """Moves a clock on where a real selector would wait."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("everything waits for something that cannot come")
        self._clock.advance(max(0.0, timeout))
        return super().select(0)


class _JumpingLoop(asyncio.SelectorEventLoop):
    def __init__(self, clock: FakeClock) -> None:
        self._hand_clock = clock
        super().__init__(_Jump(clock))

    def time(self) -> float:
        return self._hand_clock.monotonic()


def run_at_once(clock: FakeClock, main: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine on a loop whose sleeps take no time but move the clock. No threads."""
    with asyncio.Runner(loop_factory=lambda: _JumpingLoop(clock)) as runner:
        return runner.run(main)
