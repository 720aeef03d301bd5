# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Batches that are not acknowledged yet: which to send next, which to send again, and when."""

import math
from collections.abc import Callable
from typing import Final

import msgspec

MAX_IN_FLIGHT: Final = 4
"""Calls one client has open at once: one actor takes about 2,000 calls a second in all."""

MAX_HELD: Final = 8
"""Batches that wait to be sent; above this nothing is encoded and measurements stay folded."""

CALL_TIMEOUT_S: Final = 30.0
"""After this a call without an answer is sent again; a batch that arrives twice counts once."""

_MAX_REFUSALS: Final = 5
_FIRST_WAIT_S: Final = 0.1
_LONGEST_WAIT_S: Final = 5.0


class Held(msgspec.Struct):
    """One batch and where it stands."""

    sequence: int
    payload: bytes
    points: int
    sent_at_s: float | None = None
    failures: int = 0


class Outbox:
    """Numbered batches in order, until each is acknowledged. Owned by one thread.

    Waits double from 0.1 s to 5 s, with jitter so that many clients do not come back together.

    Args:
        uniform: Returns a random number in [0, 1), for the jitter.
    """

    def __init__(self, uniform: Callable[[], float]) -> None:
        self._uniform = uniform
        self._held: dict[int, Held] = {}
        self._not_before_s = 0.0
        self._wait_s = _FIRST_WAIT_S
        self.next_sequence = 0

    def __len__(self) -> int:
        """Batches that are not acknowledged."""
        return len(self._held)

    @property
    def has_room(self) -> bool:
        """Whether another batch may be encoded."""
        return len(self._held) < MAX_IN_FLIGHT + MAX_HELD

    @property
    def lowest(self) -> int:
        """The lowest sequence that the actor may still see for the first time."""
        return min(self._held, default=self.next_sequence)

    @property
    def points(self) -> int:
        """Data points that are not acknowledged."""
        return sum(held.points for held in list(self._held.values()))

    def put(self, payload: bytes, points: int) -> int:
        """Hold a batch that was encoded with `next_sequence`; return its sequence."""
        sequence = self.next_sequence
        self._held[sequence] = Held(sequence, payload, points)
        self.next_sequence += 1
        return sequence

    def due(self, now_s: float) -> list[Held]:
        """Return what to send now, oldest first; the caller says `sent` for each."""
        return [] if now_s < self._not_before_s else self._sendable()

    @property
    def next_send_s(self) -> float:
        """Monotonic time from which a batch can be sent; infinite while none can."""
        return self._not_before_s if self._sendable() else math.inf

    def sent(self, sequence: int, now_s: float) -> None:
        """Note that a call is open."""
        self._held[sequence].sent_at_s = now_s

    def acknowledged(self, sequence: int) -> Held | None:
        """Let go of a batch; None when it was let go of before."""
        self._wait_s = _FIRST_WAIT_S
        return self._held.pop(sequence, None)

    def failed(self, sequence: int, now_s: float, *, permanent: bool) -> Held | None:
        """Put a batch back after a wait; return it instead when it is to be given up.

        Args:
            sequence: Which batch.
            now_s: Monotonic time.
            permanent: The actor was reached and failed on this batch. That is tried a few times,
                since a bug may meet one state only, but not for ever.
        """
        held = self._held.get(sequence)
        if held is None:
            return None
        if permanent:
            held.failures += 1
            if held.failures >= _MAX_REFUSALS:
                return self._held.pop(sequence)
        held.sent_at_s = None
        self.wait(now_s)
        return None

    def overdue(self, now_s: float) -> list[int]:
        """Return the sequences whose call has had no answer for too long."""
        return [
            sequence
            for sequence, held in self._held.items()
            if held.sent_at_s is not None and now_s - held.sent_at_s > CALL_TIMEOUT_S
        ]

    def wait(self, now_s: float) -> None:
        """Send nothing for a while; twice as long each time until something is acknowledged."""
        if now_s < self._not_before_s:
            return
        self._not_before_s = now_s + self._wait_s * (0.5 + self._uniform())
        self._wait_s = min(2 * self._wait_s, _LONGEST_WAIT_S)

    def hurry(self) -> None:
        """End the wait: somebody asked for everything to be delivered."""
        self._not_before_s = 0.0

    @property
    def not_before_s(self) -> float:
        """Monotonic time before which nothing is sent."""
        return self._not_before_s

    def _sendable(self) -> list[Held]:
        open_calls = sum(held.sent_at_s is not None for held in self._held.values())
        # In order of their sequences, since that is the order in which they were put.
        waiting = [held for held in self._held.values() if held.sent_at_s is None]
        return waiting[: max(0, MAX_IN_FLIGHT - open_calls)]
