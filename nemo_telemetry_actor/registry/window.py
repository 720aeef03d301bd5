# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Which batches of a client were applied, whatever order they came in."""

from collections.abc import Iterable
from typing import Final

MOST_ABOVE: Final = 1024
"""Sequences remembered above a hole; a client holds a dozen batches, so a hole as old as this many
batches was given up and will not be filled.
"""


class SequenceWindow:
    """A contiguous watermark and the set of sequences above it, at most `MOST_ABOVE`.

    Ray does not keep the order of one caller's calls to an async actor, so "greater than the last"
    would take a late batch for a duplicate. The set stays small, since a client has few batches in
    flight.

    Args:
        first: The lowest sequence that may still arrive for the first time.
        above: Sequences above it that have arrived.
    """

    __slots__ = ("_above", "_next")

    def __init__(self, first: int = 0, above: Iterable[int] = ()) -> None:
        self._next = first
        self._above: set[int] = set(above)

    def state(self) -> tuple[int, list[int]]:
        """Return what makes an equal window: `SequenceWindow(*state)`."""
        return self._next, sorted(self._above)

    def try_accept(self, sequence: int) -> bool:
        """Return True the first time a sequence is seen, False from then on."""
        if sequence in self:
            return False
        self._above.add(sequence)
        self._close_up()
        if len(self._above) > MOST_ABOVE:
            self.forget_below(min(self._above))
        return True

    def forget_below(self, first: int) -> None:
        """Take every sequence below `first` as seen: the client will not send them any more."""
        if first > self._next:
            self._next = first
            self._above = {sequence for sequence in self._above if sequence >= first}
            self._close_up()

    def __contains__(self, sequence: int) -> bool:
        """Whether a sequence was accepted."""
        return sequence < self._next or sequence in self._above

    def _close_up(self) -> None:
        while self._next in self._above:
            self._above.remove(self._next)
            self._next += 1
