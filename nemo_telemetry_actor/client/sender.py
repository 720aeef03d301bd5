# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The one background thread of a client: folds, sends, hears answers, joins again."""

import logging
import random
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final, Literal

from nemo_telemetry_actor.client.guard import Guard
from nemo_telemetry_actor.client.intake import Intake
from nemo_telemetry_actor.client.membership import Membership
from nemo_telemetry_actor.client.outbox import Held, Outbox
from nemo_telemetry_actor.client.transport import Transport
from nemo_telemetry_actor.errors import ActorUnavailableError, DropReason, WireError
from nemo_telemetry_actor.wire.messages import (
    WIRE_VERSION,
    Ack,
    Batch,
    GaugePoints,
    MetricBlock,
    ObservedSet,
    PlacementSet,
    Welcome,
    decode,
    encode,
)

_log = logging.getLogger("nemo_telemetry_actor")

_SHORTEST_PAUSE_S: Final = 0.05
_WELCOME_TIMEOUT_S: Final = 5.0
_FIRST_FLUSH_INTERVAL_S: Final = 1.0
_HEARTBEATS_PER_LEASE: Final = 4
_ABSENT_WARNING_AFTER_S: Final = 60.0

Closing = Literal["", "client", "run"]
Answer = tuple[int, bytes | None, Exception | None]

_JOIN_AGAIN: Final[Answer] = (-1, None, None)


class Sender:
    """Moves what is recorded to the actor, on a thread of its own.

    The methods are safe to call from any thread; none but `flush`, `close` and `wait_joined`
    waits, and these keep the time they are given.

    Args:
        transport: The way to the actor.
        intake: Where the content of batches comes from.
        guard: Counts and logs.
        membership: Who the client is; says hello again when a lease was lost.
    """

    def __init__(
        self,
        *,
        transport: Transport,
        intake: Intake,
        guard: Guard,
        membership: Membership,
    ) -> None:
        self._membership = membership
        self._transport = transport
        self._intake = intake
        self._guard = guard
        self._changed = threading.Condition()
        # Guarded by _changed:
        self._answers: deque[Answer] = deque()
        self._woken = False
        self._flush_wanted = 0
        self._flush_done = 0
        self._lost_batches = 0
        self._closing: Closing = ""
        self._closed = False
        self._thread: threading.Thread | None = None
        self.welcome: Welcome | None = None
        # Owned by the thread:
        self._outbox = Outbox(random.random)
        self._joined = False
        self._flush_marks: list[tuple[int, int]] = []
        self._closing_sequence: int | None = None
        self._interval_s = _FIRST_FLUSH_INTERVAL_S
        self._next_drain_s = 0.0
        self._observe_interval_s = _FIRST_FLUSH_INTERVAL_S
        self._lease_s = 0.0
        self._last_sent_s = 0.0
        self._absent_since_s: float | None = None

    # ---- called from any thread

    def ensure_running(self) -> None:
        """Start the thread unless it runs or the sender is closed."""
        with self._changed:
            if self._thread is None and not self._closed:
                thread = threading.Thread(
                    target=self._run, name="nemo-telemetry-flush", daemon=True
                )
                try:
                    thread.start()
                except RuntimeError as error:
                    # No room for a thread, or the interpreter ends: what is recorded waits.
                    self._guard.failed("starting the flush thread", error)
                else:
                    self._thread = thread

    def wake(self) -> None:
        """Let the thread look at the buffer now."""
        with self._changed:
            self._woken = True
            self._changed.notify_all()

    def request_join(self) -> None:
        """Say hello again, since the hello would say something new."""
        with self._changed:
            self.welcome = None
            self._answers.append(_JOIN_AGAIN)
            self._changed.notify_all()

    def wait_joined(self, timeout_s: float) -> Welcome | None:
        """Wait until the actor has answered a hello; None when it has not in time."""
        with self._changed:
            self._changed.wait_for(lambda: self.welcome is not None, timeout_s)
            return self.welcome

    @property
    def undelivered(self) -> int:
        """Values in the buffer and points in batches that are not acknowledged; a reading."""
        return self._intake.waiting + self._outbox.points

    def flush(self, timeout_s: float) -> bool:
        """Return whether all that was recorded before this call is committed within the time."""
        with self._changed:
            if self._closed:
                return False
            self._flush_wanted += 1
            wanted = self._flush_wanted
            lost = self._lost_batches
            self._woken = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._closed or self._flush_done >= wanted, timeout_s)
            return self._flush_done >= wanted and self._lost_batches == lost

    def close(self, closing: Closing, timeout_s: float) -> bool:
        """Deliver what is there, say goodbye and end the thread; return whether all arrived."""
        deadline = time.monotonic() + timeout_s
        nothing_to_do = self._thread is None and not self.undelivered
        delivered = nothing_to_do or self.flush(timeout_s)
        with self._changed:
            if nothing_to_do or self._closed:
                self._closed = True
                return delivered
            self._closing = closing
            self._woken = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._closed, max(0.0, deadline - time.monotonic()))
            self._closed = True
            self._changed.notify_all()
        return delivered

    # ---- the thread

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._woken and not self._answers:
                    self._changed.wait(self._pause_s())
                if self._closed:
                    return
                self._woken = False
                answers = list(self._answers)
                self._answers.clear()
                wanted, closing = self._flush_wanted, self._closing
            try:
                self._cycle(answers, wanted, closing)
            except Exception as error:
                if self._guard.strict:
                    raise
                self._guard.failed("flush thread", error)
                # Whatever it was may come at once again; the wait keeps the thread from spinning.
                self._outbox.wait(time.monotonic())

    def _pause_s(self) -> float:
        now_s = time.monotonic()
        if not self._joined:
            due_s = max(self._outbox.not_before_s, now_s + _SHORTEST_PAUSE_S)
        elif len(self._outbox):
            # Answers wake the thread; only what was put back after a failure has a time of its own.
            due_s = self._outbox.next_send_s
        else:
            due_s = self._next_drain_s
        return min(max(0.0, due_s - now_s), self._interval_s)

    def _cycle(self, answers: list[Answer], wanted: int, closing: Closing) -> None:
        now_s = time.monotonic()
        for answer in answers:
            self._settle(*answer, now_s=now_s)
        for sequence in self._outbox.overdue(now_s):
            self._transport.reset()
            self._outbox.failed(sequence, now_s, permanent=False)
        self._intake.fold_all()
        hurry = wanted > self._flush_done and (
            not self._flush_marks or wanted > self._flush_marks[-1][0]
        )
        if hurry:
            self._outbox.hurry()
        if not self._joined:
            self._join(now_s)
        if self._joined:
            if closing:
                self._say_goodbye(closing)
            else:
                self._drain(now_s, wanted, hurry=hurry)
            self._send(now_s)
        self._report_flushed()

    def _join(self, now_s: float) -> None:
        if now_s < self._outbox.not_before_s:
            return
        try:
            hello = encode(self._membership.hello(self._outbox.lowest))
            welcome = decode(self._transport.welcome(hello, _WELCOME_TIMEOUT_S), Welcome)
        except (ActorUnavailableError, WireError) as error:
            self._outbox.wait(now_s)
            self._note_absence(now_s, error)
            return
        self._absent_since_s = None
        self._joined = True
        # From here on this run is insisted on, also when the actor has forgotten it.
        self._membership.run_id = welcome.run_id
        self._intake.apply(welcome)
        self._interval_s = welcome.flush_interval_s
        self._observe_interval_s = welcome.observe_interval_s
        self._lease_s = welcome.lease_s
        self._last_sent_s = now_s  # a hello renews the lease as a batch does
        self._next_drain_s = now_s
        with self._changed:
            # Whoever asked for another hello meanwhile waits for the answer to that one.
            if _JOIN_AGAIN not in self._answers:
                self.welcome = welcome
                self._changed.notify_all()

    def _note_absence(self, now_s: float, error: Exception) -> None:
        if self._absent_since_s is None:
            self._absent_since_s = now_s
        _log.debug("cannot join the telemetry actor yet: %s", error)
        if now_s - self._absent_since_s > _ABSENT_WARNING_AFTER_S or isinstance(error, WireError):
            self._guard.warn_once(
                "absent",
                "this process has found no telemetry actor so far (%s); what it records is "
                "buffered in bounded memory. Start one with nemo_telemetry_actor.start() in the "
                "driver, or with `nemo-telemetry start`",
                error,
            )

    def _drain(self, now_s: float, wanted: int, *, hurry: bool) -> None:
        due = now_s >= self._next_drain_s and len(self._outbox) == 0
        if not (due or hurry) or not self._outbox.has_room:
            return
        self._next_drain_s = now_s + self._interval_s
        observed = self._intake.observe(now_s, self._observe_interval_s, at_once=hurry)
        placements = self._intake.placements()
        contents = self._intake.take()
        idle = now_s - self._last_sent_s > self._lease_s / _HEARTBEATS_PER_LEASE
        if not contents and (observed or placements or idle):
            contents = [[]]
        for metrics in contents:
            self._put(metrics, observed, placements)
            observed, placements = [], None
        if hurry:
            self._flush_marks.append((wanted, self._outbox.next_sequence))

    def _put(
        self,
        metrics: list[MetricBlock],
        observed: list[ObservedSet] | None = None,
        placements: PlacementSet | None = None,
        closing: Closing = "",
    ) -> int:
        batch = Batch(
            WIRE_VERSION,
            self._membership.client_id,
            self._outbox.next_sequence,
            metrics,
            observed or [],
            closing,
            placements,
        )
        return self._outbox.put(encode(batch), _count_points(metrics))

    def _say_goodbye(self, closing: Closing) -> None:
        # Last of all: what it ends should not meet batches that were sent before it.
        if self._closing_sequence is not None or len(self._outbox):
            return
        # With what came while the flush before it was under way, the drops after shutdown included.
        contents = self._intake.take() or [[]]
        for metrics in contents[:-1]:
            self._put(metrics)
        self._closing_sequence = self._put(contents[-1], closing=closing)

    def _send(self, now_s: float) -> None:
        for held in self._outbox.due(now_s):
            try:
                self._transport.ingest(held.payload, self._hears(held.sequence))
            except ActorUnavailableError as error:
                self._note_failed(held.sequence, error, now_s)
                return
            # Only now: a call that failed in another way must not count as one under way.
            self._outbox.sent(held.sequence, now_s)
            self._last_sent_s = now_s

    def _hears(self, sequence: int) -> Callable[[bytes | None, Exception | None], None]:
        def on_done(answer: bytes | None, error: Exception | None) -> None:
            with self._changed:
                self._answers.append((sequence, answer, error))
                self._changed.notify_all()

        return on_done

    def _settle(
        self, sequence: int, answer: bytes | None, error: Exception | None, *, now_s: float
    ) -> None:
        if sequence < 0:
            self._joined = False
            return
        if answer is None:
            self._note_failed(sequence, error, now_s)
            return
        try:
            ack = decode(answer, Ack)
        except WireError as unreadable:
            self._note_failed(sequence, unreadable, now_s)
            return
        if ack.status == "unknown_client":
            self._joined = False
            # After a wait: every client of an actor that was restarted hears this at once.
            self._outbox.failed(sequence, now_s, permanent=False)
            return
        held = self._outbox.acknowledged(sequence)
        self._interval_s = ack.flush_interval_s
        if ack.status == "refused" and held is not None:
            self._lose(held, "refused", ack.message)
        if sequence == self._closing_sequence:
            with self._changed:
                self._closed = True
                self._changed.notify_all()

    def _note_failed(self, sequence: int, error: Exception | None, now_s: float) -> None:
        given_up = self._outbox.failed(
            sequence, now_s, permanent=not isinstance(error, ActorUnavailableError)
        )
        self._transport.reset()
        _log.debug("batch %d was not taken, it is sent again: %r", sequence, error)
        if given_up is not None:
            self._lose(given_up, "refused", repr(error))

    def _lose(self, held: Held, reason: DropReason, why: str) -> None:
        with self._changed:
            self._lost_batches += 1
        self._guard.drop(reason, held.points)
        self._guard.warn_once(
            f"lost:{reason}",
            "the telemetry actor cannot take a batch of %d points, which are dropped: %s",
            held.points,
            why,
        )

    def _report_flushed(self) -> None:
        lowest = self._outbox.lowest
        served = [wanted for wanted, mark in self._flush_marks if mark <= lowest]
        if served:
            self._flush_marks = [pair for pair in self._flush_marks if pair[1] > lowest]
            with self._changed:
                self._flush_done = max(self._flush_done, *served)
                self._changed.notify_all()


def _count_points(metrics: list[MetricBlock]) -> int:
    return sum(
        len(points.values) if isinstance(points, GaugePoints) else 1
        for metric in metrics
        for points in metric.points
    )
