# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""One SQLite file: opened or set aside, written a commit at a time, read whole at a restart."""

import contextlib
import logging
import os
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from nemo_telemetry_actor.errors import StateError
from nemo_telemetry_actor.state.rows import (
    SCHEMA_VERSION,
    Changes,
    Loaded,
    MetricBody,
    PointsBody,
    PointsRow,
    ProducerBody,
    RunBody,
    SeriesBody,
    SeriesRow,
)

_log = logging.getLogger("nemo_telemetry_actor")

# auto_vacuum before the first table: only then can space be given back later.
_SCHEMA: Final = """
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (run_id TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS producers (id INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS metrics (
    id INTEGER PRIMARY KEY, producer INTEGER NOT NULL, body BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS metrics_of_producer ON metrics (producer);
CREATE TABLE IF NOT EXISTS series (
    id INTEGER PRIMARY KEY, metric INTEGER NOT NULL, attributes BLOB NOT NULL, body BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS series_of_metric ON series (metric);
CREATE TABLE IF NOT EXISTS points (
    position INTEGER PRIMARY KEY, count INTEGER NOT NULL, body BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS cursors (
    exporter TEXT PRIMARY KEY, position INTEGER NOT NULL) WITHOUT ROWID;
"""
_PRAGMAS: Final = (
    # A killed process loses nothing either way; an fsync a commit would only help a lost machine.
    "PRAGMA synchronous = NORMAL",
    # Checkpoints wait for the disk: they are asked for, in a thread, and never come by themselves.
    "PRAGMA wal_autocheckpoint = 0",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA busy_timeout = 2000",
)

_encode = msgspec.msgpack.Encoder().encode
_run = msgspec.msgpack.Decoder(RunBody).decode
_producer = msgspec.msgpack.Decoder(ProducerBody).decode
_metric = msgspec.msgpack.Decoder(MetricBody).decode
_series = msgspec.msgpack.Decoder(SeriesBody).decode
_columns = msgspec.msgpack.Decoder(list[PointsBody]).decode


class DamagedStateError(StateError):
    """The file itself is the trouble: it is no database, damaged, or of a newer version."""


class StateStore:
    """The state file. All methods but `checkpoint` are called from one thread.

    Args:
        path: The file; it and its directory are readable by their owner alone.

    Raises:
        DamagedStateError: It is no database, damaged, or of a newer version.
        StateError: It cannot be opened now.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Made before SQLite would, so that it is nobody else's from the first byte on.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        except (OSError, sqlite3.Error) as error:
            raise StateError(f"state file {path} cannot be opened: {error}") from error
        try:
            self._prepare()
        except sqlite3.Error as error:
            self._db.close()
            raise _error_of(error, f"state file {path} cannot be used") from error
        except StateError:
            self._db.close()
            raise

    def _prepare(self) -> None:
        self._db.executescript(_SCHEMA)
        for pragma in _PRAGMAS:
            self._db.execute(pragma)
        damage = self._db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if damage != "ok":
            raise DamagedStateError(f"state file {self.path} is damaged: {damage}")
        version = self._meta("schema_version")
        if version is None:
            self._db.execute("INSERT INTO meta VALUES ('schema_version', ?)", (SCHEMA_VERSION,))
        elif version > SCHEMA_VERSION:
            raise DamagedStateError(
                f"state file {self.path} is of version {version}, written by a newer "
                f"nemo_telemetry_actor; this one knows up to {SCHEMA_VERSION}"
            )

    def write(self, changes: Changes) -> None:
        """Write one commit, all or nothing.

        Raises:
            StateError: The disk is full, read-only or failing; nothing of it is written.
        """
        try:
            with self._transaction():
                self._write(changes)
        except sqlite3.Error as error:
            raise StateError(f"state file {self.path} cannot be written: {error}") from error

    def rewrite(self, changes: Changes) -> None:
        """Replace everything by `changes`, all or nothing.

        Raises:
            StateError: As with `write`.
        """
        try:
            with self._transaction():
                for table in ("runs", "producers", "metrics", "series", "points", "cursors"):
                    self._db.execute(f"DELETE FROM {table}")  # noqa: S608  # names from above
                self._write(changes)
        except sqlite3.Error as error:
            raise StateError(f"state file {self.path} cannot be written: {error}") from error

    def load(self) -> Loaded:
        """Read everything.

        Raises:
            StateError: The file is damaged.
        """
        try:
            return self._load()
        except msgspec.DecodeError as error:
            raise DamagedStateError(f"state file {self.path} cannot be read: {error}") from error
        except sqlite3.Error as error:
            raise _error_of(error, f"state file {self.path} cannot be read") from error

    def checkpoint(self) -> None:
        """Move what was written from the log into the file, and give free space back.

        Waits for the disk: call it in a thread of its own. It has a connection of its own.

        Raises:
            StateError: As with `write`.
        """
        try:
            with contextlib.closing(sqlite3.connect(self.path, isolation_level=None)) as db:
                db.execute("PRAGMA busy_timeout = 2000")
                db.execute("PRAGMA incremental_vacuum(1000)").fetchall()
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error as error:
            raise StateError(f"state file {self.path} cannot be compacted: {error}") from error

    def close(self, *, remove: bool = False) -> None:
        """Close the file, and remove it when nothing in it is needed any more."""
        self._db.close()
        if remove:
            for name in _files_of(self.path):
                name.unlink(missing_ok=True)

    @property
    def size_bytes(self) -> int:
        """Bytes on disk, the log included."""
        return sum(each.stat().st_size for each in _files_of(self.path) if each.exists())

    # ---- inside

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def _write(self, changes: Changes) -> None:
        many = self._db.executemany
        for producer in changes.forgotten_producers:
            self._forget(producer)
        many("DELETE FROM runs WHERE run_id = ?", ((each,) for each in changes.forgotten_runs))
        many("INSERT OR REPLACE INTO runs VALUES (?, ?)", _keyed(changes.runs.items()))
        many("INSERT OR REPLACE INTO producers VALUES (?, ?)", _keyed(changes.producers.items()))
        many(
            "INSERT OR REPLACE INTO metrics VALUES (?, ?, ?)",
            ((key, body.producer, _encode(body)) for key, body in changes.metrics.items()),
        )
        many(
            "INSERT INTO series VALUES (?, ?, ?, ?) "
            "ON CONFLICT (id) DO UPDATE SET body = excluded.body",
            (
                (key, row.metric, row.attributes, _encode(row.body))
                for key, row in changes.series.items()
            ),
        )
        many(
            "INSERT OR REPLACE INTO points VALUES (?, ?, ?)",
            ((row.position, row.count, _encode(row.columns)) for row in changes.points),
        )
        if changes.points:
            last = changes.points[-1]
            self._set_meta("head", last.position + last.count)
        many("INSERT OR REPLACE INTO cursors VALUES (?, ?)", changes.cursors.items())
        if changes.delivered:
            self._db.execute("DELETE FROM points WHERE position + count <= ?", (changes.delivered,))

    def _forget(self, producer: int) -> None:
        self._db.execute(
            "DELETE FROM series WHERE metric IN (SELECT id FROM metrics WHERE producer = ?)",
            (producer,),
        )
        self._db.execute("DELETE FROM metrics WHERE producer = ?", (producer,))
        self._db.execute("DELETE FROM producers WHERE id = ?", (producer,))

    def _load(self) -> Loaded:
        rows = self._db.execute
        return Loaded(
            runs={key: _run(body) for key, body in rows("SELECT run_id, body FROM runs")},
            producers={
                key: _producer(body) for key, body in rows("SELECT id, body FROM producers")
            },
            metrics={key: _metric(body) for key, body in rows("SELECT id, body FROM metrics")},
            series={
                key: SeriesRow(metric, attributes, _series(body))
                for key, metric, attributes, body in rows(
                    "SELECT id, metric, attributes, body FROM series"
                )
            },
            points=[
                PointsRow(position, count, _columns(body))
                for position, count, body in rows(
                    "SELECT position, count, body FROM points ORDER BY position"
                )
            ],
            cursors=dict(rows("SELECT exporter, position FROM cursors").fetchall()),
            head=self._meta("head") or 0,
        )

    def _meta(self, key: str) -> int | None:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else int(row[0])

    def _set_meta(self, key: str, value: int) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


def _error_of(error: sqlite3.Error, what: str) -> StateError:
    # An OperationalError is of the moment and the disk; its siblings are of the file's content.
    is_damage = isinstance(error, sqlite3.DatabaseError) and not isinstance(
        error, sqlite3.OperationalError
    )
    return (DamagedStateError if is_damage else StateError)(f"{what}: {error}")


def _keyed(items: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, bytes]]:
    return ((key, _encode(body)) for key, body in items)


def _files_of(path: Path) -> tuple[Path, ...]:
    return (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm"))


def open_or_set_aside(path: Path, time_unix_nano: int) -> tuple[StateStore, Loaded, str]:
    """Open and read a state file; one that is damaged or too new is renamed, and a new one begun.

    Returns:
        The store, what it holds, and what people should know; empty when all is well.

    Raises:
        StateError: Nothing can be read or written there now.
    """
    try:
        store = StateStore(path)
        return store, store.load(), ""
    except DamagedStateError as error:
        aside = path.with_name(f"{path.name}.set-aside-{time_unix_nano // 1_000_000_000}")
        try:
            for each in _files_of(path):
                if each.exists():
                    each.rename(each.with_name(each.name.replace(path.name, aside.name, 1)))
        except OSError as failed:
            raise StateError(f"{error}; it cannot be set aside either: {failed}") from failed
        problem = f"{error}; it is kept as {aside}, and the state begins anew"
        _log.warning("%s", problem)
        store = StateStore(path)
        return store, store.load(), problem
