# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A client's own notes, in a file that survives its SIGKILL; and reading them."""

import json
import os
from pathlib import Path
from typing import Any

import msgspec

from tests.e2e.chaos.model import Ledger


class LedgerFile:
    """Appends one line a note, each by one write."""

    def __init__(self, path: Path, client: int, run_id: str, worker_group: str | None) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC)
        self.note("client", client, run_id, worker_group, os.getpid())

    def note(self, *what: Any) -> None:
        """Write one note down."""
        os.write(self._descriptor, json.dumps(what).encode() + b"\n")


class Flush(msgspec.Struct, frozen=True):
    """One flush: the time it was given, and the time it took."""

    timeout_s: float
    took_s: float
    is_committed: bool


class Notes(msgspec.Struct):
    """All that one client wrote."""

    ledger: Ledger
    pid: int
    flushes: list[Flush] = []


def read_notes(path: Path) -> Notes | None:
    """Return what a client wrote; None when it has not come to writing. A torn line is left out."""
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    if not lines:
        return None
    _, client, run_id, worker_group, pid = json.loads(lines[0])
    ledger = Ledger(client, run_id, worker_group, {}, {}, 0, {}, {})
    notes = Notes(ledger, pid)
    for line in lines[1:]:
        match json.loads(line):
            case ["begin", step, time_unix_nano]:
                ledger.begun[step] = time_unix_nano
            case ["done", step, time_unix_nano]:
                ledger.done[step] = time_unix_nano
            case ["read", metric, time_unix_nano]:
                ledger.observed.setdefault(metric, []).append(time_unix_nano)
            case ["flush", steps, observed, timeout_s, took_s, is_committed]:
                notes.flushes.append(Flush(timeout_s, took_s, is_committed))
                if is_committed:
                    ledger.acknowledged = steps
                    ledger.observed_acknowledged = observed
            case ["end", has_ended]:
                ledger.has_ended = has_ended
            case other:
                raise ValueError(f"{path}: no such note: {other}")
    return notes
