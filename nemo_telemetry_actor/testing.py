# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The whole way of a value in one process, without Ray: for tests, yours too.

::

    core = new_core()
    telemetry = connected(core)
    telemetry.register_metric_group("env", [MetricSpec("score", "rl.env.score")])

    telemetry.record("env", {"score": 0.8})

    assert telemetry.flush()
    assert [row["value"] for row in core.series()] == [0.8]
    telemetry.shutdown()
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import ClassVar, Final

from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.client.identity import fresh_run_id, new_client_id
from nemo_telemetry_actor.client.membership import Membership
from nemo_telemetry_actor.client.telemetry import Telemetry
from nemo_telemetry_actor.client.transport import OnDone, Transport
from nemo_telemetry_actor.config.fields import TelemetryConfig
from nemo_telemetry_actor.errors import ActorUnavailableError
from nemo_telemetry_actor.export.exporter import (
    DEFAULT_MAX_POINTS,
    ExportResult,
    PushExporter,
)
from nemo_telemetry_actor.model.points import HistogramPoint, NumberPoint, Snapshot
from nemo_telemetry_actor.wire.messages import Batch, Hello, decode

_LONGEST_HANG_S: Final = 30.0


class FakeClock:
    """A wall clock and a monotonic clock that move together, and only when told to.

    Args:
        unix_nano: Wall time at the start, Unix nanoseconds.
    """

    def __init__(self, unix_nano: int = 1_790_000_000_000_000_000) -> None:
        self._unix_nano = unix_nano
        self._elapsed_s = 1000.0

    def time_ns(self) -> int:
        """Return the wall time in Unix nanoseconds."""
        return self._unix_nano

    def monotonic(self) -> float:
        """Return the monotonic time in seconds."""
        return self._elapsed_s

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._unix_nano += round(seconds * 1e9)
        self._elapsed_s += seconds


class InMemoryExporter:
    """A push exporter that keeps what it is given.

    Args:
        name: What people call it.
        max_points: Data points that one call should hold at most.
        outcomes: What the first calls do, one each: raise this exception, or answer this result.
            A call that raises keeps nothing. After them every call succeeds.
    """

    def __init__(
        self,
        name: str = "memory",
        *,
        max_points: int = DEFAULT_MAX_POINTS,
        outcomes: Sequence[Exception | ExportResult] = (),
    ) -> None:
        self.name = name
        self.max_points = max_points
        self.outcomes = deque(outcomes)
        self.snapshots: list[Snapshot] = []
        self.is_shut_down = False

    async def export(self, snapshot: Snapshot) -> ExportResult:
        """Keep a snapshot, unless the next outcome is an exception."""
        outcome = self.outcomes.popleft() if self.outcomes else ExportResult()
        if isinstance(outcome, Exception):
            raise outcome
        self.snapshots.append(snapshot)
        return outcome

    async def shutdown(self) -> None:
        """Note that it was called."""
        self.is_shut_down = True

    def points(self, name: str) -> list[NumberPoint | HistogramPoint]:
        """Return every data point kept of a metric, in order of arrival."""
        return [
            point
            for snapshot in self.snapshots
            for resource in snapshot.resources
            for metric in resource.metrics
            if metric.declaration.name == name
            for point in metric.points
        ]


class Fate(Enum):
    """What becomes of one batch on its way."""

    ANSWER = auto()
    """Applied, committed, answered."""

    LOSE = auto()
    """Applied and committed, but the client hears that the actor is gone."""

    HOLD = auto()
    """Applied and committed; answered when `release` is called."""

    FAIL = auto()
    """Not applied: the actor raised."""

    GARBLE = auto()
    """Applied and committed, but the answer cannot be read."""

    GONE = auto()
    """Not applied: the call could not be made."""


class InProcess:
    """A `Transport` that calls a core directly, on the calling thread, and can misbehave.

    A batch is committed before it is answered. Safe to use from several threads; all in-process
    transports take turns, as calls to one actor do.

    Args:
        core: The core to call; may be set or replaced later, as when an actor is restarted.
    """

    _one_at_a_time: ClassVar = threading.RLock()

    def __init__(self, core: TelemetryCore | None = None) -> None:
        self.core = core
        self.fates: deque[Fate] = deque()
        """Of the next batches, one each; `Fate.ANSWER` when there is none."""
        self.hanging: threading.Event | None = None
        """While it is there and not set, a welcome waits for it as long as it may."""
        self.hellos: list[Hello] = []
        self.batches: list[Batch] = []
        """Every batch that a call was made with, the resent ones as often as they were sent."""
        self.resets = 0
        self._held: list[tuple[OnDone, bytes]] = []
        self._changed = threading.Condition()

    def welcome(self, hello: bytes, timeout_s: float) -> bytes:
        """See `Transport`."""
        self._note(self.hellos, decode(hello, Hello))
        if self.hanging is not None and not self.hanging.wait(min(timeout_s, _LONGEST_HANG_S)):
            raise ActorUnavailableError("the in-process core hangs")
        with self._one_at_a_time:
            return self._present().welcome(hello)

    def ingest(self, payload: bytes, on_done: OnDone) -> None:
        """See `Transport`."""
        fate = self.fates.popleft() if self.fates else Fate.ANSWER
        self._note(self.batches, decode(payload, Batch))
        if fate is Fate.GONE:
            raise ActorUnavailableError("the in-process core is gone")
        if fate is Fate.FAIL:
            self._present()
            on_done(None, RuntimeError("the in-process core failed"))
            return
        with self._one_at_a_time:
            core = self._present()
            answer = core.ingest(payload)
            core.commit()
        match fate:
            case Fate.LOSE:
                on_done(None, ActorUnavailableError("the in-process core is gone"))
            case Fate.GARBLE:
                on_done(b"\xc1", None)
            case Fate.HOLD:
                with self._changed:
                    self._held.append((on_done, answer))
                    self._changed.notify_all()
            case _:
                on_done(answer, None)

    def reset(self) -> None:
        """See `Transport`."""
        self.resets += 1

    def release(self, *, newest_first: bool = False) -> int:
        """Give every answer held back; return how many there were."""
        with self._changed:
            held, self._held = self._held, []
        for on_done, answer in reversed(held) if newest_first else held:
            on_done(answer, None)
        return len(held)

    @property
    def held(self) -> int:
        """How many answers are held back."""
        return len(self._held)

    def wait_until(self, condition: Callable[[], bool], timeout_s: float = 5.0) -> bool:
        """Wait until something is true that a call makes true; return whether it is."""
        with self._changed:
            return self._changed.wait_for(condition, timeout_s)

    def _present(self) -> TelemetryCore:
        if self.core is None:
            raise ActorUnavailableError("there is no in-process core")
        return self.core

    def _note(self, where: list[Hello] | list[Batch], message: Hello | Batch) -> None:
        with self._changed:
            where.append(message)  # type: ignore[arg-type]  # each caller passes its own list
            self._changed.notify_all()


def new_core(
    *,
    exporters: Sequence[PushExporter] = (),
    config: TelemetryConfig | None = None,
    clock: FakeClock | None = None,
) -> TelemetryCore:
    """Return a core as the actor has one.

    Args:
        exporters: Push exporters.
        config: The default configuration when left out.
        clock: Its time, which leases and exports go by.
    """
    clock = clock or FakeClock()
    return TelemetryCore(
        config or TelemetryConfig(),
        exporters,
        time_ns=clock.time_ns,
        monotonic=clock.monotonic,
        incarnation=new_client_id(),
        fresh_run_id=fresh_run_id,
    )


def connected(
    core: TelemetryCore | Transport,
    *,
    run_id: str = "",
    worker_group: str | None = None,
    rank: int | None = None,
    opens_run: bool = False,
    strict: bool = True,
) -> Telemetry:
    """Return a handle like that of `connect()`, whose values go to a core in this process.

    Shut it down at the end of the test. It is not found by `connect()`, and a forked child must
    not use it.

    Args:
        core: A core, or an `InProcess` transport, for tests of what goes wrong on the way.
        run_id: The run to join.
        worker_group: Resource attribute `rl.worker_group`.
        rank: Resource attribute `nv.dl.rank`.
        opens_run: Whether it is the run's driver.
        strict: Whether bugs raise.
    """
    membership = Membership(
        run_id=run_id, worker_group=worker_group, rank=rank, opens_run=opens_run
    )
    transport = InProcess(core) if isinstance(core, TelemetryCore) else core
    return Telemetry(membership, transport, strict=strict)
