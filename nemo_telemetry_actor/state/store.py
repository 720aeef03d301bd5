# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""One SQLite file: written a commit at a time, read whole at a restart."""

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import msgspec

from nemo_telemetry_actor.errors import StateError
from nemo_telemetry_actor.state.lock import StateLock
from nemo_telemetry_actor.state.read import no_garbage_collection, read_everything, what_is_missing
from nemo_telemetry_actor.state.rows import SCHEMA_VERSION, Changes, Loaded

# "NTA" and a 1: tells our files from another program's.
_APPLICATION_ID: Final = 0x4E544101
# auto_vacuum before anything is written: only then can space be given back later.
_SCHEMA: Final = f"""
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA application_id = {_APPLICATION_ID};
PRAGMA journal_mode = WAL;
PRAGMA user_version = {SCHEMA_VERSION};
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (run_id TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS jobs (job_id TEXT PRIMARY KEY, run_id TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS producers (id INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS windows (id INTEGER PRIMARY KEY, body BLOB NOT NULL);
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
_TABLES: Final = (
    "meta", "runs", "jobs", "producers", "windows", "metrics", "series", "points", "cursors",
)  # fmt: skip
_PRAGMAS: Final = (
    # A killed process loses nothing either way; an fsync a commit would only help a lost machine.
    "PRAGMA synchronous = NORMAL",
    # Checkpoints wait for the disk: they are asked for, in a thread, and never come by themselves.
    "PRAGMA wal_autocheckpoint = 0",
    "PRAGMA journal_size_limit = 4194304",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA busy_timeout = 1000",
)
_CHECKED_BYTES: Final = 268_435_456
"""A larger file is not read through when it is opened; that would take longer than its rows do."""

_VACUUM_PAGES: Final = 500
_VACUUM_STEPS: Final = 20
_BLOCKING_WAL_BYTES: Final = 67_108_864
"""A log that has grown to this, since writes never paused, is worth a pause."""

# What lies in the file's content; all others are of the moment and the disk.
_DAMAGE: Final = frozenset(
    {
        sqlite3.SQLITE_ERROR,  # a table or column is not there
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_CONSTRAINT,
        sqlite3.SQLITE_MISMATCH,
        sqlite3.SQLITE_FORMAT,
        sqlite3.SQLITE_NOTADB,
    }
)

_encode = msgspec.msgpack.Encoder().encode


class DamagedStateError(StateError):
    """The file itself is the trouble: damaged, of a newer version, or something else's."""


class GoneStateError(StateError):
    """The file that is written is no longer the one at its path."""


class StateStore:
    """The state file. All methods but `compact` are called from one thread.

    Args:
        path: The file; made if it is not there, readable by its owner alone.
        lock: Of this file; the store lets go of it when it is closed.

    Raises:
        DamagedStateError: It is no database, damaged, of a newer version, or something else's.
        StateError: It cannot be opened now.
    """

    def __init__(self, path: Path, lock: StateLock) -> None:
        self.path = path
        self._lock = lock
        if _size(path) == 0 and _size(_log_of(path)) > 0:
            # SQLite would take it for a new file and throw the log away.
            raise DamagedStateError(f"state file {path} is empty although its log is not")
        try:
            # Made before SQLite would, so that it is nobody else's from the first byte on.
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                self._identity = _identity(os.fstat(descriptor))
                with contextlib.suppress(PermissionError):  # another's file that we may write
                    os.fchmod(descriptor, 0o600)
            finally:
                os.close(descriptor)
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        except (OSError, sqlite3.Error) as error:
            raise StateError(f"state file {path} cannot be opened: {error}") from error
        try:
            self._prepare()
        except sqlite3.Error as error:
            self._db.close()
            raise self._error_of(error, "cannot be used") from error
        except StateError:
            self._db.close()
            raise

    def _prepare(self) -> None:
        for pragma in _PRAGMAS:
            self._db.execute(pragma)
        if self._number("PRAGMA schema_version"):
            if self._number("PRAGMA application_id") != _APPLICATION_ID:
                raise DamagedStateError(f"state file {self.path} is a database of something else")
            version = self._number("PRAGMA user_version")
            if version > SCHEMA_VERSION:
                raise DamagedStateError(
                    f"state file {self.path} is of version {version}, written by a newer "
                    f"nemo_telemetry_actor; this one knows up to {SCHEMA_VERSION}"
                )
        if _size(self.path) <= _CHECKED_BYTES:
            damage = self._db.execute("PRAGMA quick_check(1)").fetchone()[0]
            if damage != "ok":
                raise DamagedStateError(f"state file {self.path} is damaged: {damage}")
        self._db.executescript(_SCHEMA)

    def write(self, changes: Changes) -> None:
        """Write one commit, all or nothing.

        Raises:
            DamagedStateError: The file turned out to be damaged.
            StateError: The disk is full, read-only or failing; nothing of it is written.
        """
        try:
            with self._transaction():
                self._write(changes)
        except sqlite3.Error as error:
            raise self._error_of(error, "cannot be written") from error

    def rewrite(self, changes: Changes) -> None:
        """Replace everything by `changes`, all or nothing.

        Raises:
            StateError: As with `write`.
        """
        try:
            with self._transaction():
                for table in _TABLES:
                    self._db.execute(f"DELETE FROM {table}")  # noqa: S608  # names from above
                self._write(changes)
        except sqlite3.Error as error:
            raise self._error_of(error, "cannot be written") from error

    def load(self) -> Loaded:
        """Read everything.

        Raises:
            DamagedStateError: The file is damaged.
            StateError: It cannot be read now.
        """
        try:
            with no_garbage_collection():
                loaded = read_everything(self._db)
        except (msgspec.DecodeError, TypeError, ValueError) as error:
            raise DamagedStateError(f"state file {self.path} is damaged: {error}") from error
        except sqlite3.Error as error:
            raise self._error_of(error, "cannot be read") from error
        if what := what_is_missing(loaded):
            raise DamagedStateError(f"state file {self.path} is damaged: {what}")
        return loaded

    def check_present(self) -> None:
        """Look whether what is written is still what a restart would find.

        Raises:
            GoneStateError: The file was removed or replaced.
        """
        try:
            is_same = _identity(self.path.stat()) == self._identity
        except OSError:
            is_same = False
        if not is_same:
            raise GoneStateError(f"state file {self.path} was removed or replaced by someone")

    def compact(self) -> None:
        """Move what was written from the log into the file, and give free space back.

        Waits for the disk: call it in a thread of its own. It has a connection of its own. Writes
        go on meanwhile, unless they were so many that the log has outgrown all bounds.

        Raises:
            StateError: As with `write`.
        """
        try:
            uri = f"file:{quote(str(self.path))}?mode=rw"
            with contextlib.closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as db:
                db.execute("PRAGMA busy_timeout = 2000")
                for _ in range(_VACUUM_STEPS):
                    if not db.execute("PRAGMA freelist_count").fetchone()[0]:
                        break
                    # As a script: execute() would stop after the first page.
                    db.executescript(f"PRAGMA incremental_vacuum({_VACUUM_PAGES})")
                db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
                if _size(_log_of(self.path)) > _BLOCKING_WAL_BYTES:
                    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error as error:
            raise self._error_of(error, "cannot be compacted") from error

    def close(self, *, remove: bool = False) -> None:
        """Close the file, and remove it when nothing in it is needed any more.

        Raises:
            StateError: It cannot be removed; it is closed.
        """
        self.disconnect()
        try:
            for name in files_of(self.path) if remove else ():
                name.unlink(missing_ok=True)
        except OSError as error:
            raise StateError(f"state file {self.path} cannot be removed: {error}") from error
        finally:
            self._lock.release()

    def disconnect(self) -> None:
        """Close the file alone, so that it can be renamed; the lock is held on."""
        # Closing moves the log into the file, which a full disk may not let it; the log then stays.
        with contextlib.suppress(sqlite3.Error):
            self._db.close()

    def __del__(self) -> None:
        # One that is let go of unclosed, after an error, would leave that to sqlite3, which warns.
        if hasattr(self, "_db"):
            self.disconnect()

    @property
    def size_bytes(self) -> int:
        """Bytes on disk, the log included."""
        return sum(map(_size, files_of(self.path)))

    @property
    def log_bytes(self) -> int:
        """Bytes of the log, which `compact` empties."""
        return _size(_log_of(self.path))

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
        self._write_forgotten(changes)
        put = self._put
        put("INSERT OR REPLACE INTO runs VALUES (?, ?)", _keyed(changes.runs))
        put("INSERT OR REPLACE INTO jobs VALUES (?, ?)", list(changes.jobs.items()))
        put("INSERT OR REPLACE INTO producers VALUES (?, ?)", _keyed(changes.producers))
        put("INSERT OR REPLACE INTO windows VALUES (?, ?)", _keyed(changes.windows))
        put(
            "INSERT OR REPLACE INTO metrics VALUES (?, ?, ?)",
            [(key, body.producer, _encode(body)) for key, body in changes.metrics.items()],
        )
        put(
            "INSERT INTO series VALUES (?, ?, ?, ?)",
            [
                (key, row.metric, row.attributes, _encode(row.body))
                for key, row in changes.series.items()
            ],
        )
        put(
            "UPDATE series SET body = ? WHERE id = ?",
            [(_encode(body), key) for key, body in changes.values.items()],
        )
        put(
            "INSERT OR REPLACE INTO points VALUES (?, ?, ?)",
            [(row.position, row.count, _encode(row.columns)) for row in changes.points],
        )
        put("INSERT OR REPLACE INTO cursors VALUES (?, ?)", list(changes.cursors.items()))
        meta = {
            "head": changes.head,
            "time_unix_nano": changes.time_unix_nano,
            "lives": changes.lives,
        }
        put(
            "INSERT OR REPLACE INTO meta VALUES (?, ?)",
            [(key, value) for key, value in meta.items() if value],
        )

    def _write_forgotten(self, changes: Changes) -> None:
        for gone in changes.gone_producers:
            self._forget_series(gone)
        for producer in changes.forgotten_producers:
            self._forget(producer)
        for run_id in changes.forgotten_runs:
            self._db.execute("DELETE FROM runs WHERE run_id = ?", (run_id,))
            self._db.execute("DELETE FROM jobs WHERE run_id = ?", (run_id,))
        for exporter in changes.forgotten_cursors:
            self._db.execute("DELETE FROM cursors WHERE exporter = ?", (exporter,))
        if changes.delivered:
            self._db.execute(
                # The first half finds the rows, the second keeps one that is half delivered.
                "DELETE FROM points WHERE position < ?1 AND position + count <= ?1",
                (changes.delivered,),
            )

    def _put(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        if rows:
            self._db.executemany(statement, rows)

    def _forget(self, producer: int) -> None:
        self._forget_series(producer)
        self._db.execute("DELETE FROM metrics WHERE producer = ?", (producer,))
        self._db.execute("DELETE FROM windows WHERE id = ?", (producer,))
        self._db.execute("DELETE FROM producers WHERE id = ?", (producer,))

    def _forget_series(self, producer: int) -> None:
        self._db.execute(
            "DELETE FROM series WHERE metric IN (SELECT id FROM metrics WHERE producer = ?)",
            (producer,),
        )

    def _number(self, pragma: str) -> int:
        return int(self._db.execute(pragma).fetchone()[0])

    def _error_of(self, error: sqlite3.Error, what: str) -> StateError:
        # Extended codes have the primary one in their lowest byte.
        is_damage = getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE
        kind = DamagedStateError if is_damage else StateError
        return kind(f"state file {self.path} {what}: {error}")


def files_of(path: Path) -> tuple[Path, ...]:
    """Return the files that SQLite makes of a state file; they belong together."""
    return (path, _log_of(path), path.with_name(f"{path.name}-shm"))


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _identity(stat: os.stat_result) -> tuple[int, int]:
    return stat.st_dev, stat.st_ino


def _keyed(bodies: Mapping[Any, Any]) -> list[tuple[Any, bytes]]:
    return [(key, _encode(body)) for key, body in bodies.items()]
