# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The processes that are killed: the telemetry actor, and clients in actors and drivers."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import ray

from nemo_telemetry_actor.actor.lifecycle import find_actor
from tests.e2e.chaos.clients import ActorClient, ClientOrder
from tests.e2e.chaos.ledger import Notes, read_notes

_ANSWER_S = 120.0
_TITLE = b"ray::TelemetryActor"


class ActorDownError(RuntimeError):
    """The telemetry actor did not come back in time."""


class TelemetryVictim:
    """The telemetry actor of the Ray that this process started."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        """What any life of it complained of."""

    def wait_ready(self, not_pid: int = 0) -> dict[str, Any]:
        """Return its state once a life other than `not_pid` answers.

        Raises:
            ActorDownError: None does.
        """
        until_s = time.monotonic() + _ANSWER_S
        while time.monotonic() < until_s:
            with contextlib.suppress(ray.exceptions.RayActorError, ray.exceptions.GetTimeoutError):
                state: dict[str, Any] = ray.get(find_actor().state.remote(), timeout=10.0)
                if state["pid"] != not_pid:
                    self.problems.extend(
                        each for each in state["problems"] if each not in self.problems
                    )
                    return state
            time.sleep(0.01)
        raise ActorDownError(f"the telemetry actor did not answer within {_ANSWER_S:g} s")

    def wait_born(self, not_pid: int, timeout_s: float) -> int:
        """Return the pid of a new life as soon as there is one, long before it answers; or 0."""
        until_s = time.monotonic() + timeout_s
        raylets = _children(os.getpid())
        while time.monotonic() < until_s:
            for raylet in raylets:
                for pid in _children(raylet):
                    if pid != not_pid and _title(pid).startswith(_TITLE):
                        return pid
            time.sleep(0.002)
        return 0


def send(pid: int, signal_: signal.Signals) -> None:
    """Send a signal to a process; nothing when it is gone."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal_)


def wait_dead(pid: int, timeout_s: float = 1.0) -> None:
    """Wait until a killed process does nothing any more."""
    until_s = time.monotonic() + timeout_s
    while time.monotonic() < until_s and _title(pid):
        time.sleep(0.001)


def wait_stopped(pid: int, timeout_s: float = 1.0) -> None:
    """Wait until a stopped process does nothing; at most a time, for it may be gone."""
    until_s = time.monotonic() + timeout_s
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        while time.monotonic() < until_s:
            # The state follows the name, which may hold anything but is in parentheses.
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T":
                return


class Clients:
    """All clients of a run, dead ones too: half in Ray actors, half drivers of runs of their own.

    Args:
        directory: Where ledgers are.
        seed: Of the whole run.
        config: What drivers start telemetry with.
    """

    def __init__(self, directory: Path, seed: int, config: dict[str, Any]) -> None:
        self._directory = directory
        self._seed = seed
        self._config = config
        self._drivers: dict[int, subprocess.Popen[bytes]] = {}
        self._handles: list[Any] = []
        self._answers: dict[int, Any] = {}
        self._killed: set[int] = set()
        self.count = 0
        self.stop = directory / "stop"

    def add(self, *, as_driver: bool, stop: Path | None = None) -> None:
        """Start one more client."""
        number = self.count
        self.count += 1
        order = ClientOrder(
            seed=self._seed,
            client=number,
            run_id=f"driven-{number}" if as_driver else f"shared-{number % 2}",
            ledger=str(self._ledger(number)),
            stop=str(stop or self.stop),
            worker_group=None if as_driver else f"group-{number}",
            config=self._config if as_driver else {},
            says_goodbye=number % 3 == 0,
        )
        encoded = msgspec.json.encode(order)
        if not as_driver:
            handle = ActorClient.remote()  # type: ignore[attr-defined]  # Ray's decorator
            self._answers[number] = handle.work.remote(encoded)
            self._handles.append(handle)  # an actor ends with its last handle
            return
        address = ray.get_runtime_context().gcs_address
        self._drivers[number] = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.chaos.clients", encoded.decode()],
            env={**os.environ, "RAY_ADDRESS": address},
            stdin=subprocess.DEVNULL,
        )

    def living(self) -> list[int]:
        """Return the numbers of the clients that have begun and were not killed."""
        return [
            number
            for number in range(self.count)
            if number not in self._killed and self.notes(number) is not None
        ]

    def kill(self, number: int) -> bool:
        """Kill a client; tell whether it was a driver."""
        notes = self.notes(number)
        if notes is None:
            raise ValueError(f"client {number} has not begun")
        self._killed.add(number)
        send(notes.pid, signal.SIGKILL)
        return notes.ledger.worker_group is None

    def notes(self, number: int) -> Notes | None:
        """Return what a client has written so far."""
        return read_notes(self._ledger(number))

    def all_notes(self) -> list[Notes]:
        """Return what all clients wrote."""
        every = [self.notes(number) for number in range(self.count)]
        return [notes for notes in every if notes is not None]

    def wait_ended(self, numbers: list[int], timeout_s: float) -> list[int]:
        """Wait until clients have ended; return those that have not in time."""
        until_s = time.monotonic() + timeout_s
        left = numbers
        while left and time.monotonic() < until_s:
            time.sleep(0.2)
            left = [number for number in left if not self._has_ended(number)]
        return left

    def failures(self) -> list[str]:
        """Say of every client that was not killed and ended otherwise than it should how it did."""
        failures = [
            f"driver {number} exited with {driver.poll()}"
            for number, driver in self._drivers.items()
            if number not in self._killed and driver.poll() not in {None, 0}
        ]
        for number, answer in self._answers.items():
            if number not in self._killed and ray.wait([answer], timeout=0)[0]:
                try:
                    ray.get(answer)
                except ray.exceptions.RayError as error:
                    failures.append(f"client {number} failed: {error}")
        return failures

    def end_drivers(self) -> None:
        """End the drivers that are left; clients in actors end with Ray."""
        for driver in self._drivers.values():
            driver.kill()
            driver.wait()

    def _has_ended(self, number: int) -> bool:
        path = self._ledger(number)
        return path.exists() and b'\n["end", ' in path.read_bytes()[-200:]

    def _ledger(self, number: int) -> Path:
        return self._directory / f"client.{number:04d}"


def _children(parent: int) -> list[int]:
    path = Path(f"/proc/{parent}/task")
    children: list[int] = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for task in path.iterdir():
            children.extend(map(int, (task / "children").read_text().split()))
    return children


def _title(pid: int) -> bytes:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""
