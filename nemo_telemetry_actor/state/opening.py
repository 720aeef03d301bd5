# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A state file at a restart: opened, read without writing, or set aside."""

import contextlib
import logging
import shutil
import tempfile
from pathlib import Path
from typing import Final

import msgspec

from nemo_telemetry_actor.errors import StateError
from nemo_telemetry_actor.state.lock import StateInUseError, StateLock
from nemo_telemetry_actor.state.rows import Loaded
from nemo_telemetry_actor.state.store import DamagedStateError, StateStore, files_of

_log = logging.getLogger("nemo_telemetry_actor")

_MEMORY_DISK: Final = Path("/dev/shm")  # noqa: S108  # a private directory is made in it


class Opened(msgspec.Struct, frozen=True):
    """What became of opening a state file.

    Args:
        store: None when nothing can be written now.
        loaded: What the file holds; nothing when it was not read.
        is_loaded: Whether everything in the file is in `loaded`.
        set_aside: Which file was set aside and why; empty when none was.
        problem: Why there is no store; empty when there is one.
    """

    store: StateStore | None
    loaded: Loaded
    is_loaded: bool = True
    set_aside: str = ""
    problem: str = ""


def open_state(path: Path, time_unix_nano: int, *, lock_wait_s: float) -> Opened:
    """Open and read a state file. Does not raise.

    One that is damaged or too new is set aside, and a new one begun. One that cannot be written,
    as its disk is full or read-only, is read all the same. One that another process has in use is
    left alone.

    Args:
        path: The file; its directory is made if it is not there, for its owner alone.
        time_unix_nano: Now; names a file that is set aside.
        lock_wait_s: How long to wait for a process that has it in use.
    """
    set_aside = ""
    try:
        _make_directory(path)
        lock = StateLock(path, wait_s=lock_wait_s)
        try:
            try:
                store, loaded = _opened(path, lock)
            except DamagedStateError as error:
                set_aside = put_aside(path, str(error), time_unix_nano)
                store, loaded = _opened(path, lock)
        except StateError:
            lock.release()
            raise
    except StateInUseError as error:
        return Opened(None, Loaded(), is_loaded=False, problem=str(error))
    except StateError as error:
        loaded, is_loaded = _read_only(path)
        return Opened(None, loaded, is_loaded, set_aside, str(error))
    return Opened(store, loaded, set_aside=set_aside)


def open_anew(path: Path, time_unix_nano: int, *, why_aside: str) -> tuple[StateStore, str]:
    """Open a state file that is going to be rewritten, for memory holds what it should.

    Args:
        path: The file.
        time_unix_nano: Now; names a file that is set aside.
        why_aside: Why what is there must not be overwritten; empty when it may be.

    Returns:
        The store, and which file was set aside; empty when none was.

    Raises:
        StateError: It cannot be opened now.
    """
    set_aside = ""
    _make_directory(path)
    lock = StateLock(path)
    try:
        if not path.exists():
            # Of a file that was removed; without it they are of no use.
            for each in files_of(path):
                each.unlink(missing_ok=True)
        elif why_aside and path.stat().st_size:
            set_aside = put_aside(path, why_aside, time_unix_nano)
        try:
            return StateStore(path, lock), set_aside
        except DamagedStateError as error:
            set_aside = put_aside(path, str(error), time_unix_nano)
            return StateStore(path, lock), set_aside
    except OSError as error:
        lock.release()
        raise StateError(f"state file {path} cannot be opened: {error}") from error
    except StateError:
        lock.release()
        raise


def remove_state(path: Path) -> None:
    """Remove a state file that is not open, for nothing in it is needed any more.

    Raises:
        StateError: It cannot be removed, or another process has it in use.
    """
    try:
        if path.exists():
            lock = StateLock(path)
            for each in files_of(path):
                each.unlink(missing_ok=True)
            lock.release()
    except OSError as error:
        raise StateError(f"state file {path} cannot be removed: {error}") from error


def put_aside(path: Path, why: str, time_unix_nano: int) -> str:
    """Rename a state file, never over another one; return what people should know.

    Raises:
        StateError: It cannot be renamed.
    """
    number = time_unix_nano // 1_000_000_000
    while any(each.exists() for each in files_of(_aside(path, number))):
        number += 1  # two in one second, or the clock was set back
    aside = _aside(path, number)
    try:
        for each, other in zip(files_of(path), files_of(aside), strict=True):
            with contextlib.suppress(FileNotFoundError):
                each.rename(other)
    except OSError as error:
        raise StateError(f"{why}; it cannot be set aside either: {error}") from error
    problem = (
        f"{why}; it is kept as {aside}, and a new state begins: what it held is not exported "
        "again (remove it when nobody needs it)"
    )
    _log.warning("%s", problem)
    return problem


def _aside(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.set-aside-{number}")


def _opened(path: Path, lock: StateLock) -> tuple[StateStore, Loaded]:
    store = StateStore(path, lock)
    try:
        return store, store.load()
    except StateError:
        store.disconnect()
        raise


def _read_only(path: Path) -> tuple[Loaded, bool]:
    """Read a file that cannot be opened where it is, from a copy; say whether that went well."""
    place = _MEMORY_DISK if _MEMORY_DISK.is_dir() else None
    try:
        if not path.exists():
            return Loaded(), True
        with tempfile.TemporaryDirectory(prefix="nemo_telemetry_", dir=place) as directory:
            copy = Path(directory) / path.name
            # Without the index of the log, which SQLite makes anew.
            for each, other in list(zip(files_of(path), files_of(copy), strict=True))[:2]:
                if each.exists():
                    shutil.copyfile(each, other)
            store, loaded = _opened(copy, StateLock(copy))
            store.close()
            return loaded, True
    except (OSError, StateError) as error:
        _log.warning("state file %s could not be read: %s", path, error)
        return Loaded(), False


def _make_directory(path: Path) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StateError(
            f"state file {path} cannot be made, since its directory cannot be: {error}"
        ) from error
