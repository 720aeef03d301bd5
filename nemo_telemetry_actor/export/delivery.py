# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What drives one push exporter: its position, its waits, and the account of what it sent."""

import logging
from collections import Counter, deque
from collections.abc import Callable
from typing import Final, Literal, Protocol

import msgspec

from nemo_telemetry_actor.errors import (
    DropReason,
    ExportError,
    MessageTooLargeError,
    RetryableExportError,
)
from nemo_telemetry_actor.export.exporter import ExportResult, PushExporter
from nemo_telemetry_actor.export.split import split
from nemo_telemetry_actor.model.points import Snapshot

_log = logging.getLogger("nemo_telemetry_actor")

TOTALS_REPEATED_AFTER_S: Final = 60.0
"""Totals that do not change are sent again after this, so that a backend knows they live."""

_FIRST_WAIT_S: Final = 1.0
_LONGEST_WAIT_S: Final = 60.0
_WARNING_EVERY_S: Final = 60.0


class Page(msgspec.Struct, frozen=True):
    """Points to deliver once: the snapshot, where to read on, and what was lost before it.

    `lost` went since the source was full, `too_old` since it had waited too long.
    """

    snapshot: Snapshot
    position: int
    lost: int
    too_old: int = 0


class DeliverySource(Protocol):
    """Committed values, as deliveries read them."""

    @property
    def head(self) -> int:
        """Position after the newest point."""
        ...

    def waiting(self, position: int) -> tuple[int, int, int]:
        """Return the points from a position on, their bytes, and the time of the oldest, or 0."""
        ...

    def read_points(self, position: int, max_points: int) -> Page:
        """Return points from a position on."""
        ...

    def read_totals(self, since_revision: int, *, everything: bool) -> tuple[Snapshot, int]:
        """Return totals committed after a revision (of open runs: all, if `everything`) and the
        revision they are of.
        """
        ...


class DeliveryState(msgspec.Struct, frozen=True):
    """How one push exporter is doing.

    Args:
        name: The exporter's.
        state: `idle` before the first success, then `up` or `down`.
        sent: Points that the backend took.
        rejected: Points that it refused in a message it took.
        failed: Attempts that failed.
        dropped: Points given up, by reason.
        retried: Attempts that followed a failed one.
        backlog_points: Points that wait.
        backlog_bytes: What they take, roughly.
        backlog_age_s: Seconds since the oldest of them was recorded.
        last_success_unix_nano: 0 when there was none.
        last_error: What went wrong last; empty once all is well.
    """

    name: str
    state: Literal["idle", "up", "down"]
    sent: int
    rejected: int
    failed: int
    retried: int
    dropped: dict[DropReason, int]
    backlog_points: int
    backlog_bytes: int
    backlog_age_s: float
    last_success_unix_nano: int
    last_error: str


class Delivery:
    """Brings committed values to one exporter, in order, and says how it went.

    A value that belongs to one time is sent once; the position moves only after the backend took
    the message. Totals are sent when they changed, and once a minute, before the points. A backend that is down is
    tried again after waits that double from 1 to 60 s, never sooner than it asked; meanwhile the
    points wait in the source. One log line when it goes, one when it is back; what it refuses is
    counted, and told once a minute at most.

    A message that is too large goes again in halves. The size found so is kept, and doubled again
    with each round; one point that is too large alone is dropped.

    Args:
        exporter: Tries once a call.
        source: Where values are read.
        max_points: Points in one message at most.
        time_ns: Wall clock.
        monotonic: Clock in seconds.
        position: Where to begin; after the newest point when left out.
        note_position: Told of each new position, before anything else is sent.
    """

    def __init__(
        self,
        exporter: PushExporter,
        source: DeliverySource,
        *,
        max_points: int,
        time_ns: Callable[[], int],
        monotonic: Callable[[], float],
        position: int | None = None,
        note_position: Callable[[str, int], None] | None = None,
    ) -> None:
        self.exporter = exporter
        self.position = source.head if position is None else position
        self._note_position = note_position
        self.revision = 0
        # Up to which revision both totals and points have gone.
        self.delivered_revision = 0
        self._source = source
        self._max_points = max_points
        self._message_points = max_points
        self._time_ns = time_ns
        self._monotonic = monotonic
        self._not_before_s = 0.0
        self._asked_until_s = 0.0
        self._wait_s = _FIRST_WAIT_S
        self._totals_sent_s = monotonic()
        self._state: Literal["idle", "up", "down"] = "idle"
        self._sent = 0
        self._rejected = 0
        self._failed = 0
        self._retried = 0
        self._dropped: Counter[DropReason] = Counter()
        self._last_success_unix_nano = 0
        self._last_error = ""
        self._next_warning_s = self._totals_sent_s

    @property
    def retry_in_s(self) -> float:
        """Seconds for which the backend is still left alone."""
        return max(0.0, self._not_before_s - self._monotonic())

    def state(self) -> DeliveryState:
        """Return the account."""
        _, size_bytes, oldest_unix_nano = self._source.waiting(self.position)
        return DeliveryState(
            name=self.exporter.name,
            state=self._state,
            sent=self._sent,
            rejected=self._rejected,
            failed=self._failed,
            retried=self._retried,
            dropped=dict(self._dropped),
            backlog_points=self._source.head - self.position,
            backlog_bytes=size_bytes,
            backlog_age_s=(self._time_ns() - oldest_unix_nano) / 1e9 if oldest_unix_nano else 0.0,
            last_success_unix_nano=self._last_success_unix_nano,
            last_error=self._last_error,
        )

    async def run_once(self, *, hurry: bool = False) -> bool:
        """Send everything that waits; return whether all of it went. Does not raise.

        Args:
            hurry: Whether to cut short a wait that we chose ourselves; one that the backend asked
                for is kept.
        """
        if self._monotonic() < (self._asked_until_s if hurry else self._not_before_s):
            return False
        self._message_points = min(2 * self._message_points, self._max_points)
        self._retried += self._state == "down"
        try:
            # Totals are small and of now; a backlog of points may take long, and goes oldest first.
            await self._send_totals()
            await self._send_points()
        except RetryableExportError as error:
            self._note_down(str(error), error.retry_after_s)
        except Exception as error:  # noqa: BLE001 — logged; a bug in one must not end its task
            if self._state != "down":
                _log.exception("exporter %s failed", self.exporter.name)
            self._note_down(repr(error), None)
        else:
            self.delivered_revision = self.revision
            return True
        return False

    async def _send_points(self) -> None:
        while self.position < self._source.head:
            page = self._source.read_points(self.position, self._message_points)
            # Counted once, whatever becomes of this message.
            self._lose("queue_full", page.lost)
            self._lose("too_old", page.too_old)
            if await self._try_send(page.snapshot):
                self.position = page.position
                if self._note_position is not None:
                    self._note_position(self.exporter.name, page.position)

    def _lose(self, reason: DropReason, count: int) -> None:
        if count:
            self._dropped[reason] += count
            self.position += count

    async def _send_totals(self) -> None:
        now_s = self._monotonic()
        everything = now_s - self._totals_sent_s >= TOTALS_REPEATED_AFTER_S
        snapshot, revision = self._source.read_totals(self.revision, everything=everything)
        parts = deque(split(snapshot, self._message_points))
        while parts:
            part = parts.popleft()
            if not await self._try_send(part):
                parts.extendleft(reversed(list(split(part, self._message_points))))
        self.revision = revision
        if everything:
            self._totals_sent_s = now_s

    async def _try_send(self, snapshot: Snapshot) -> bool:
        """Send one message; False when it is to go again in parts of `_message_points`."""
        points = snapshot.point_count
        try:
            result = await self.exporter.export(snapshot)
        except MessageTooLargeError as error:
            if points > 1:
                self._message_points = points // 2
                return False
            # It was this point, not the number of them.
            self._message_points = self._max_points
            self._refused(points, str(error))
            return True
        except RetryableExportError:
            raise
        except ExportError as error:
            self._refused(points, str(error))
            return True
        self._note_up()
        self._note_result(points, result)
        return True

    def _note_result(self, points: int, result: ExportResult) -> None:
        rejected = min(result.rejected, points)
        self._sent += points - rejected
        self._rejected += rejected
        if rejected or result.message:
            why = f"took a message and rejected {rejected} of {points} points: {result.message}"
            self._last_error = why
            self._warn(why)

    def _refused(self, points: int, why: str) -> None:
        self._failed += 1
        self._dropped["refused"] += points
        self._last_error = why
        self._warn(f"refused {points} points for good, they are dropped: {why}")

    def _warn(self, what: str) -> None:
        now_s = self._monotonic()
        if now_s >= self._next_warning_s:
            self._next_warning_s = now_s + _WARNING_EVERY_S
            _log.warning("%s %s", self.exporter.name, what)

    def _note_up(self) -> None:
        if self._state == "down":
            _log.warning("%s is back", self.exporter.name)
        self._state = "up"
        self._wait_s = _FIRST_WAIT_S
        self._last_success_unix_nano = self._time_ns()
        self._last_error = ""

    def _note_down(self, why: str, retry_after_s: float | None) -> None:
        self._failed += 1
        if self._state != "down":
            _log.warning(
                "%s does not take data, which waits in memory until it does: %s",
                self.exporter.name,
                why,
            )
        self._state = "down"
        self._last_error = why
        now_s = self._monotonic()
        self._asked_until_s = now_s + (retry_after_s or 0.0)
        self._not_before_s = max(now_s + self._wait_s, self._asked_until_s)
        self._wait_s = min(2 * self._wait_s, _LONGEST_WAIT_S)
