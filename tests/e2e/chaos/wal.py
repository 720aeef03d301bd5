# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a kill came in the middle of a commit: what SQLite's log shows of it.

The formats are SQLite's own, https://www.sqlite.org/walformat.html.
"""

import struct
from pathlib import Path
from typing import Final

_LOG_HEADER: Final = struct.Struct(">I 28x")
_FRAME_HEADER: Final = struct.Struct(">IIIIII")
# Of the index: the page size, the last frame of the last commit, and the checksum up to there.
_INDEX_HEADER: Final = struct.Struct("=14x H I 4x II")
_LITTLE_ENDIAN_SUMS: Final = 0x377F0682
_LARGEST_PAGE: Final = 65536


def holds_unfinished_commit(database: Path) -> bool:
    """Tell whether the log goes on after the last commit that its index knows.

    Asked after a process was killed and before the database is opened again.
    """
    log, index = (database.with_name(database.name + end) for end in ("-wal", "-shm"))
    if not log.exists() or not index.exists():
        return False
    with index.open("rb") as file:
        found = file.read(_INDEX_HEADER.size)
    if len(found) < _INDEX_HEADER.size:
        return False
    page_size, frames, first, second = _INDEX_HEADER.unpack(found)
    page_size = _LARGEST_PAGE if page_size == 1 else page_size
    size = _FRAME_HEADER.size + page_size
    with log.open("rb") as file:
        header = file.read(_LOG_HEADER.size)
        file.seek(_LOG_HEADER.size + frames * size)
        frame = file.read(size)
    if len(frame) < size or len(header) < _LOG_HEADER.size:
        return False
    order = "<" if _LOG_HEADER.unpack(header)[0] == _LITTLE_ENDIAN_SUMS else ">"
    if frames == 0:
        first, second = struct.unpack(">II", header[24:32])
        if (first, second) != _sums(header[:24], 0, 0, order):
            return False
    summed = _sums(frame[:8] + frame[_FRAME_HEADER.size :], first, second, order)
    return summed == _FRAME_HEADER.unpack_from(frame)[4:]


def _sums(data: bytes, first: int, second: int, order: str) -> tuple[int, int]:
    for one, other in struct.iter_unpack(f"{order}II", data):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + other + first) & 0xFFFFFFFF
    return first, second
