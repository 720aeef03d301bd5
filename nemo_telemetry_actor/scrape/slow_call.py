# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A question that may hang, asked by somebody who cannot wait."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

_T = TypeVar("_T")


class SlowCall(Generic[_T]):
    """Asks again and again, and never twice at once: a call that hangs may hold a thread.

    Args:
        ask: Makes the call.
    """

    def __init__(self, ask: Callable[[], Coroutine[Any, Any, _T]]) -> None:
        self._ask = ask
        self._pending: asyncio.Task[_T] | None = None

    async def answer(self, timeout_s: float) -> _T:
        """Return the answer of the call that is on its way, or of a new one; raises what it raises.

        Raises:
            TimeoutError: Not within the time; the call goes on, and its answer is the next one.
        """
        if self._pending is None:
            self._pending = asyncio.create_task(self._ask())
        done, _ = await asyncio.wait({self._pending}, timeout=timeout_s)
        if not done:
            raise TimeoutError(f"no answer within {timeout_s:g} s")
        pending, self._pending = self._pending, None
        return pending.result()

    def close(self) -> None:
        """Wait for nothing any more."""
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.cancel()
