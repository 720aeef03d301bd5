# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The life and deaths of the receiver's process, on one port."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.e2e.chaos.model import Message
from tests.e2e.chaos.receiver import read_log

_START_S = 30.0


class Backend:
    """A receiver that is killed and started again; each life has a log of its own.

    Args:
        directory: Where the logs are.
        seed: What its misbehaviour follows from.
        protocol: `grpc` or `http/protobuf`.
    """

    def __init__(self, directory: Path, seed: int, protocol: str) -> None:
        self._protocol = protocol
        self._directory = directory
        self._seed = seed
        self._process: subprocess.Popen[bytes] | None = None
        self._lives = 0
        self.kills = 0
        self.port = _free_port()

    @property
    def log(self) -> Path:
        """The log of the present life, or of the last one."""
        return self._directory / f"receiver.{self._lives:04d}"

    @property
    def taken_bytes(self) -> int:
        """Size of that log: it grows when a message was taken."""
        return self.log.stat().st_size if self.log.exists() else 0

    def start(self) -> None:
        """Start a life and wait until its port is open."""
        self._lives += 1
        calm = self._directory / "calm"
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.e2e.chaos.receiver"),
                *(self._protocol, str(self.port), str(self.log)),
                *(f"{self._seed}/{self._lives}", str(calm)),
            ],
            stdin=subprocess.DEVNULL,
        )
        until_s = time.monotonic() + _START_S
        while not _is_open(self.port):
            if self._process.poll() is not None or time.monotonic() > until_s:
                raise RuntimeError(f"the receiver did not start on port {self.port}")
            time.sleep(0.02)

    def kill(self) -> None:
        """Kill the process; nothing when none runs."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
            self.kills += 1

    def calm_down(self) -> None:
        """Take every message from now on."""
        (self._directory / "calm").touch()

    def messages(self) -> Iterator[Message]:
        """Yield what was taken in all lives."""
        for path in sorted(self._directory.glob("receiver.*")):
            yield from read_log(path)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
