# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""One process a state file: a lock that ends with its holder, however that ends."""

import contextlib
import errno
import fcntl
import os
import time
from pathlib import Path
from typing import Final

from nemo_telemetry_actor.errors import StateError

_POLL_S: Final = 0.05


class StateInUseError(StateError):
    """Another living process writes this file."""


class StateLock:
    """The lock of a state file, a file beside it. Held from the constructor to `release`.

    It keeps other processes out, not other stores of this process. A child that was forked has it
    not.

    Args:
        path: The state file.
        wait_s: How long to wait for who holds it: a killed process may take a moment to be gone.

    Raises:
        StateInUseError: Another process holds it.
        StateError: The lock file cannot be made.
    """

    def __init__(self, path: Path, *, wait_s: float = 0.0) -> None:
        self.path = path.with_name(f"{path.name}.lock")
        try:
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StateError(f"state file {path} cannot be locked: {error}") from error
        until_s = time.monotonic() + wait_s
        while not self._try_lock(path):
            if time.monotonic() >= until_s:
                holder = os.pread(self._descriptor, 20, 0).decode("ascii", "replace").strip()
                os.close(self._descriptor)
                raise StateInUseError(
                    f"state file {path} is in use by process {holder or 'unknown'} of this "
                    "machine; give each telemetry actor a state.path of its own, or end the other"
                )
            time.sleep(_POLL_S)
        # For people alone; a disk that is full must not stand in the way.
        with contextlib.suppress(OSError):
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, str(os.getpid()).encode(), 0)

    def release(self) -> None:
        """Let go of it. The lock file stays: removing it could give two processes a lock each."""
        os.close(self._descriptor)

    def _try_lock(self, path: Path) -> bool:
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in {errno.EACCES, errno.EAGAIN}:
                return False
            os.close(self._descriptor)
            raise StateError(f"state file {path} cannot be locked: {error}") from error
        return True
