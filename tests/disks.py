# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Small file systems that fill up or become read-only; only root can mount them."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


class SmallDisk:
    """A file system of a few hundred kilobytes in memory.

    Args:
        path: Where it is mounted.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._filler = path / "filler"

    def fill(self) -> None:
        """Leave no byte free."""
        descriptor = os.open(self._filler, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        with contextlib.suppress(OSError):
            while os.write(descriptor, b"x" * 1024):
                pass
        os.close(descriptor)

    def empty(self) -> None:
        """Make room again."""
        self._filler.unlink()

    def set_writable(self, is_writable: bool) -> None:
        """Mount it anew, for reading alone or not."""
        mode = "rw" if is_writable else "ro"
        subprocess.run(["mount", "-o", f"remount,{mode}", str(self.path)], check=True)


@contextmanager
def small_disk(path: Path, kilobytes: int = 512) -> Iterator[SmallDisk]:
    """Mount a small disk; skips the test where that is not allowed."""
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "none", str(path)]
    if os.geteuid() != 0 or subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("a file system of its own can only be mounted by root: " + " ".join(command))
    try:
        yield SmallDisk(path)
    finally:
        # Lazily: a core that the test dropped may still have a file open.
        subprocess.run(["umount", "--lazy", str(path)], check=True)
