# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A rotating file of JSON lines, each one an OTLP/JSON `ExportMetricsServiceRequest`."""

import asyncio
import contextlib
import json
import os
import threading
from pathlib import Path

from google.protobuf.json_format import MessageToDict

from nemo_telemetry_actor.config import FileConfig
from nemo_telemetry_actor.errors import MessageTooLargeError, RetryableExportError
from nemo_telemetry_actor.export.encode import to_request
from nemo_telemetry_actor.export.exporter import DEFAULT_MAX_POINTS, ExportResult
from nemo_telemetry_actor.model.points import Snapshot


class FileExporter:
    """Appends each snapshot as one line to `path`; at most `max_files` of `max_bytes` are kept.

    A full file becomes `path.1`, that one `path.2`, and so on; the oldest is deleted. The file is
    opened for each line, so another program may move it away at any time. A line that a crash or a
    full disk left unfinished is cut off or ended by the next one, and costs no other.

    Args:
        config: The bounds.
        path: The file; its directory is made when missing. Mode 0600.
        name: What people call the exporter; kind and path by default.
    """

    def __init__(self, config: FileConfig, path: Path, *, name: str | None = None) -> None:
        self._config = config
        self._path = path
        self._name = name or f"file {path}"
        # A cancelled export leaves its thread running: the next one must not write beside it.
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Kind and path."""
        return self._name

    @property
    def max_points(self) -> int:
        """See `PushExporter`."""
        return DEFAULT_MAX_POINTS

    async def export(self, snapshot: Snapshot) -> ExportResult:
        """Append one line, on a thread of its own.

        Raises:
            RetryableExportError: The file cannot be written now (a full disk, a missing right).
            MessageTooLargeError: The line alone is longer than `max_bytes`.
            ExportError: A value has no OTLP form.
        """
        await asyncio.to_thread(self._write, snapshot)
        return ExportResult()

    async def shutdown(self) -> None:
        """Do nothing: no file stays open between two exports."""

    def _write(self, snapshot: Snapshot) -> None:
        line = to_line(snapshot)
        if len(line) > self._config.max_bytes:
            raise MessageTooLargeError(
                f"{self._name}: a line of {len(line)} bytes; max_bytes is {self._config.max_bytes}"
            )
        try:
            with self._lock:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._append(line)
        except OSError as error:
            raise RetryableExportError(f"{self._name}: {error}") from error

    def _append(self, line: bytes) -> None:
        with contextlib.suppress(FileNotFoundError):
            size = self._path.stat().st_size
            # One byte more, for the newline that may be needed after an unfinished line.
            if size and size + len(line) + 1 > self._config.max_bytes:
                rotate(self._path, self._config.max_files)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            append_line(descriptor, line)
        finally:
            os.close(descriptor)


def to_line(snapshot: Snapshot) -> bytes:
    """Return a snapshot in OTLP/JSON form: one line of strict JSON in ASCII, with its newline.

    OTLP/JSON is protobuf's JSON mapping with enumerations as numbers. The mapping writes 64-bit
    integers as strings, and non-finite numbers as the strings `NaN`, `Infinity`, `-Infinity`.
    """
    fields = MessageToDict(to_request(snapshot), use_integers_for_enums=True)
    return json.dumps(fields, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"


def append_line(descriptor: int, line: bytes) -> None:
    """Append a whole line on a line of its own, or nothing.

    Raises:
        OSError: It could not be written. What was written of it is cut off again where the system
            allows; else the next call ends it with a newline.
    """
    size = os.fstat(descriptor).st_size
    if size and os.pread(descriptor, 1, size - 1) != b"\n":
        line = b"\n" + line
    rest = memoryview(line)
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except OSError:
        with contextlib.suppress(OSError):  # the first failure is the one to tell
            os.ftruncate(descriptor, size)
        raise


def rotate(path: Path, max_files: int) -> None:
    """Move `path` to `path.1`, `path.1` to `path.2`, …, so that a new file makes `max_files`.

    Files beyond the bound are deleted, also those that a larger bound left behind.
    """
    excess = max_files
    while numbered(path, excess).exists():
        numbered(path, excess).unlink()
        excess += 1
    for index in range(max_files - 1, 0, -1):
        source = numbered(path, index - 1)
        if source.exists():
            source.replace(numbered(path, index))
    if max_files == 1:
        path.unlink()


def numbered(path: Path, index: int) -> Path:
    """Return the file's name after `index` rotations."""
    return path.with_name(f"{path.name}.{index}") if index else path
