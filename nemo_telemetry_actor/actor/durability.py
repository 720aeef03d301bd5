# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What becomes of a commit on disk: written, or the actor goes on in memory and says so."""

import asyncio
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from nemo_telemetry_actor.actor.records import PlacementsOf, Recorder
from nemo_telemetry_actor.errors import StateError
from nemo_telemetry_actor.registry.pointlog import PointLog
from nemo_telemetry_actor.registry.registry import Applied, Registry
from nemo_telemetry_actor.state.opening import open_anew, open_state, remove_state
from nemo_telemetry_actor.state.rows import Changes, Loaded
from nemo_telemetry_actor.state.store import DamagedStateError, GoneStateError, StateStore

_log = logging.getLogger("nemo_telemetry_actor")

RETRY_S: Final = 10.0
"""Seconds between two tries to write again, while the disk does not take it."""

COMPACT_S: Final = 10.0
"""Seconds between two compactions, which come sooner when the log is large."""

COMPACT_BYTES: Final = 33_554_432
"""A log of this size is compacted at the next tick."""

LOCK_WAIT_S: Final = 5.0
"""How long a new life of the actor waits for the last one to be gone."""


class Durability:
    """The state file of one core, or none. Owned by the actor's event loop.

    Nothing here raises: while the disk does not take what is written, the actor goes on in memory,
    `problems` says so, and everything is written anew once it can be.

    Args:
        path: The file; None keeps everything in memory, as tests of other things want it.
        monotonic: Clock in seconds.
        time_unix_nano: Now.
        lock_wait_s: How long to wait for another process that has the file in use.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        monotonic: Callable[[], float],
        time_unix_nano: int,
        lock_wait_s: float = LOCK_WAIT_S,
    ) -> None:
        self._path = path
        self._monotonic = monotonic
        self._began_s = monotonic()
        self._began_unix_nano = time_unix_nano
        self._store: StateStore | None = None
        self._recorder: Recorder | None = None
        self._is_degraded = False
        self._retry_at_s = 0.0
        # Why what lies at the path must not be overwritten when it can be written again.
        self._why_aside = ""
        self._compact_at_s = self._began_s + COMPACT_S
        self._compaction: threading.Thread | None = None
        self.loaded = Loaded()
        self._cursors: set[str] = set()
        self._delivered = 0
        self._set_aside = ""
        self._problem = ""
        self._compaction_problem = ""
        self.commits = 0
        self.last_commit_s = 0.0
        if path is not None:
            self._open(path, lock_wait_s)
        # Lives of the actor that have written the file before this one.
        self.restarts = self.loaded.lives

    def use(self, placements_of: PlacementsOf) -> None:
        """Say how placements are found; once, before the first write. Lets go of `loaded`."""
        self._recorder = Recorder(placements_of, self.loaded)
        self.loaded = Loaded()

    @property
    def is_degraded(self) -> bool:
        """Whether what is acknowledged is in memory only, although it should be on disk."""
        return self._is_degraded

    @property
    def problems(self) -> list[str]:
        """What people should know: why a file was set aside, why nothing is written."""
        each_problem = (self._set_aside, self._problem, self._compaction_problem)
        return [each for each in each_problem if each]

    @property
    def size_bytes(self) -> int:
        """Bytes on disk."""
        return 0 if self._store is None else self._store.size_bytes

    def write(self, applied: Applied, head: int, delivered: int) -> None:
        """Write one commit, whose points begin at `head`; points below `delivered` go."""
        if self._store is None or self._recorder is None or self._is_degraded:
            return
        began_s = self._monotonic()
        recorder = self._recorder

        def write(store: StateStore) -> None:
            changes = recorder.changes(applied, head, delivered)
            if delivered <= self._delivered:
                changes.delivered = 0  # nothing more to look for
            changes.time_unix_nano = self._now_unix_nano()
            changes.lives = self.restarts + 1
            store.write(changes)
            self._delivered = delivered
            self.commits += 1

        self._try(write)
        self.last_commit_s = self._monotonic() - began_s

    def write_cursor(self, exporter: str, position: int) -> None:
        """Write how far an exporter has come, at once: what was sent is not sent again."""
        self._cursors.add(exporter)
        self._try(lambda store: store.write(Changes(cursors={exporter: position})))

    def tick(self, registry: Registry, log: PointLog, cursors: dict[str, int]) -> None:
        """Let go of what was delivered, try a disk again that did not take it, compact the file.

        To be called between commits, when nothing waits for one.
        """
        now_s = self._monotonic()
        self._try(StateStore.check_present)
        if self._is_degraded and now_s >= self._retry_at_s:
            self._recover(registry, log, cursors)
        self._let_go(log, cursors)
        store = self._store
        if store is None or self._is_degraded:
            return
        is_due = now_s >= self._compact_at_s or store.log_bytes >= COMPACT_BYTES
        if is_due and (self._compaction is None or not self._compaction.is_alive()):
            self._compact_at_s = now_s + COMPACT_S
            self._compaction = threading.Thread(
                target=self._compact, args=(store,), name="nemo-telemetry-compact", daemon=True
            )
            self._compaction.start()

    async def close(self, *, remove: bool) -> None:
        """Close the file; remove it when nothing in it is needed any more."""
        if self._compaction is not None:
            await asyncio.to_thread(self._compaction.join)
        store, self._store = self._store, None
        try:
            if store is not None:
                store.close(remove=remove)
            elif remove and self._path is not None and not self._why_aside:
                # It could be read but not written, and everything in it was delivered since.
                remove_state(self._path)
        except StateError as error:
            _log.warning("%s", error)

    # ---- inside

    def _open(self, path: Path, lock_wait_s: float) -> None:
        opened = open_state(path, self._began_unix_nano, lock_wait_s=lock_wait_s)
        self._store = opened.store
        self._set_aside = opened.set_aside
        self.loaded = opened.loaded
        # Of a lost machine the last commits may be lost, never some in between; of an edited file
        # anything may.
        head = self.loaded.head
        self.loaded.cursors = {
            name: min(position, head) for name, position in self.loaded.cursors.items()
        }
        self._cursors = set(self.loaded.cursors)
        if not opened.is_loaded:
            self._why_aside = f"state file {path} could not be read when this actor began"
        if opened.problem:
            self._degrade(StateError(opened.problem))

    def _try(self, act: Callable[[StateStore], None]) -> None:
        if self._store is None or self._is_degraded:
            return
        try:
            act(self._store)
        except StateError as error:
            self._degrade(error)
        except Exception as error:  # noqa: BLE001 — logged; what was applied must not be lost by it
            _log.exception("the state could not be written")
            self._degrade(StateError(f"state file {self._store.path} is not written: {error!r}"))

    def _degrade(self, error: StateError) -> None:
        self._retry_at_s = self._monotonic() + RETRY_S
        if isinstance(error, DamagedStateError | GoneStateError):
            # Memory has everything: a new file can be begun at once.
            self._why_aside = str(error)
            self._retry_at_s = 0.0 if not self._is_degraded else self._retry_at_s
            self._abandon_store()
        self._problem = (
            f"{error}; telemetry goes on in memory, and a restart of the actor would lose it; "
            f"writing is tried again every {RETRY_S:g} s: free the disk, make the directory of "
            "state.path writable, or configure another path"
        )
        if not self._is_degraded:
            _log.warning("%s", self._problem)
        self._is_degraded = True

    def _recover(self, registry: Registry, log: PointLog, cursors: dict[str, int]) -> None:
        if self._recorder is None or self._path is None:
            return
        try:
            if self._store is None:
                self._store, set_aside = open_anew(
                    self._path, self._now_unix_nano(), why_aside=self._why_aside
                )
                self._set_aside = set_aside or self._set_aside
                self._why_aside = ""
            changes = self._recorder.everything(registry, log)
            changes.cursors = cursors
            changes.time_unix_nano = self._now_unix_nano()
            changes.lives = self.restarts + 1
            self._store.rewrite(changes)
        except StateError as error:
            self._degrade(error)
        except Exception as error:  # noqa: BLE001 — logged; the actor goes on in memory
            _log.exception("the state could not be written anew")
            self._degrade(StateError(f"state file {self._path} is not written: {error!r}"))
        else:
            self._cursors = set(cursors)
            self._is_degraded = False
            self._problem = ""
            _log.warning("state file %s is written again", self._path)

    def _let_go(self, log: PointLog, cursors: dict[str, int]) -> None:
        """Remove what was delivered since the last commit, and exporters that are no more."""
        read_by_all = min(cursors.values(), default=log.head)
        delivered = max(read_by_all, log.tail)
        strangers = self._cursors - cursors.keys()
        if self._recorder is None or (delivered <= self._delivered and not strangers):
            return
        changes = Changes(delivered=delivered, forgotten_cursors=sorted(strangers))
        self._recorder.settle(changes)
        self._try(lambda store: store.write(changes))
        self._delivered = delivered
        self._cursors -= strangers

    def _abandon_store(self) -> None:
        if self._compaction is not None:
            self._compaction.join()
        store, self._store = self._store, None
        if store is not None:
            store.close()

    def _compact(self, store: StateStore) -> None:
        try:
            store.compact()
        except StateError as error:
            self._compaction_problem = f"{error}; the file grows until it can be"
            _log.debug("%s", error)  # the next one may succeed; nothing is lost meanwhile
        else:
            self._compaction_problem = ""

    def _now_unix_nano(self) -> int:
        # Not the wall clock's, which may be set back.
        return self._began_unix_nano + int((self._monotonic() - self._began_s) * 1e9)
