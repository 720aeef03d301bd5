# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What becomes of a commit on disk: written, or the actor goes on in memory and says so."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from nemo_telemetry_actor.actor.records import PlacementsOf, Recorder
from nemo_telemetry_actor.errors import StateError
from nemo_telemetry_actor.registry.pointlog import PointLog
from nemo_telemetry_actor.registry.producers import Run
from nemo_telemetry_actor.registry.registry import Applied
from nemo_telemetry_actor.state.rows import Changes, Loaded
from nemo_telemetry_actor.state.store import StateStore, open_or_set_aside

_log = logging.getLogger("nemo_telemetry_actor")

RETRY_S: Final = 10.0
"""Seconds between two tries to write again, while the disk does not take it."""

CHECKPOINT_S: Final = 10.0


class Durability:
    """The state file of one core, or none. Owned by the actor's event loop.

    Nothing here raises: while the disk does not take what is written, the actor goes on in memory,
    `problems` says so, and everything is written anew once it can be.

    Args:
        path: The file; None keeps everything in memory, as tests of other things want it.
        monotonic: Clock in seconds.
        time_unix_nano: Now; names a file that is set aside.
    """

    def __init__(
        self, path: Path | None, *, monotonic: Callable[[], float], time_unix_nano: int
    ) -> None:
        self._path = path
        self._monotonic = monotonic
        self._store: StateStore | None = None
        self._recorder: Recorder | None = None
        self._is_degraded = False
        self._retry_at_s = 0.0
        self._checkpoint_at_s = monotonic() + CHECKPOINT_S
        self._checkpoint: asyncio.Task[None] | None = None
        self.loaded = Loaded({}, {}, {}, {}, [], {}, 0)
        self._set_aside = ""
        self._problem = ""
        self.commits = 0
        self.last_commit_s = 0.0
        if path is not None:
            self._open(path, time_unix_nano)

    def use(self, placements_of: PlacementsOf) -> None:
        """Say how placements are found; before the first write."""
        self._recorder = Recorder(placements_of, self.loaded)

    @property
    def is_degraded(self) -> bool:
        """Whether what is acknowledged is in memory only, although it should be on disk."""
        return self._is_degraded

    @property
    def problems(self) -> list[str]:
        """What people should know: why a file was set aside, why nothing is written."""
        return [each for each in (self._set_aside, self._problem) if each]

    @property
    def size_bytes(self) -> int:
        """Bytes on disk."""
        return 0 if self._store is None else self._store.size_bytes

    def write(self, applied: Applied, head: int, delivered: int) -> None:
        """Write one commit, whose points begin at `head`; points below `delivered` go."""
        if self._store is None or self._recorder is None or self._is_degraded:
            return
        began_s = self._monotonic()
        changes = self._recorder.changes(applied, head)
        changes.delivered = delivered
        self._try(lambda store: store.write(changes))
        self.commits += 1
        self.last_commit_s = self._monotonic() - began_s

    def write_cursor(self, exporter: str, position: int) -> None:
        """Write how far an exporter has come, at once: what was sent is not sent again."""
        if self._store is not None and not self._is_degraded:
            self._try(lambda store: store.write(Changes(cursors={exporter: position})))

    def tick(self, runs: Iterable[Run], log: PointLog, cursors: dict[str, int]) -> None:
        """Try a disk again that did not take it, and compact the file now and then."""
        now_s = self._monotonic()
        if self._is_degraded and now_s >= self._retry_at_s:
            self._recover(runs, log, cursors)
        if self._store is None or self._is_degraded or now_s < self._checkpoint_at_s:
            return
        if self._checkpoint is None or self._checkpoint.done():
            self._checkpoint_at_s = now_s + CHECKPOINT_S
            self._checkpoint = asyncio.create_task(self._compact(self._store))

    async def close(self, *, remove: bool) -> None:
        """Close the file; remove it when nothing in it is needed any more."""
        if self._checkpoint is not None:
            await self._checkpoint
        if self._store is not None:
            self._store.close(remove=remove)
            self._store = None

    # ---- inside

    def _open(self, path: Path, time_unix_nano: int) -> None:
        try:
            self._store, self.loaded, self._set_aside = open_or_set_aside(path, time_unix_nano)
        except StateError as error:
            self._degrade(error)

    def _try(self, act: Callable[[StateStore], None]) -> None:
        if self._store is None:
            return
        try:
            act(self._store)
        except StateError as error:
            self._degrade(error)

    def _degrade(self, error: StateError) -> None:
        self._retry_at_s = self._monotonic() + RETRY_S
        self._problem = f"{error}; going on in memory: a restart of the actor would lose it"
        if not self._is_degraded:
            _log.warning("%s", self._problem)
        self._is_degraded = True

    def _recover(self, runs: Iterable[Run], log: PointLog, cursors: dict[str, int]) -> None:
        if self._recorder is None or self._path is None:
            return
        try:
            store = self._store or StateStore(self._path)
            changes = self._recorder.everything(runs, log.everything())
            changes.cursors = cursors
            store.rewrite(changes)
        except StateError as error:
            self._degrade(error)
            return
        self._store = store
        self._is_degraded = False
        self._problem = ""
        _log.warning("state file %s is written again", store.path)

    async def _compact(self, store: StateStore) -> None:
        try:
            await asyncio.to_thread(store.checkpoint)
        except StateError as error:
            _log.debug("%s", error)  # the next one may succeed; nothing is lost meanwhile
