# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Chaos on a real Ray: everything is killed again and again, and then the books must balance.

``python -m tests.e2e.chaos.run --kills 200 --seed 7``. The same command replays the same schedule
of faults; what the machine makes of it is its own. Exit code 1 says that something was lost,
doubled or wrong; the directory of the run is kept then.
"""

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, Final

import msgspec
import ray
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)

from benchmarks.machine import machine_facts
from nemo_telemetry_actor.actor.lifecycle import ensure_actor, stop_actor
from nemo_telemetry_actor.config.load import load_config
from tests.e2e.chaos.backend import Backend
from tests.e2e.chaos.model import Message, Verdict, judge
from tests.e2e.chaos.receiver import message_of
from tests.e2e.chaos.victims import Clients, TelemetryVictim, send, wait_dead, wait_stopped
from tests.e2e.chaos.wal import holds_unfinished_commit

_STOP_S: Final = 120.0
_LONGEST_OVERRUN_S: Final = 5.0
_WAYS: Final = {
    "at random": 5,
    "after the backend took": 5,
    "after a line was written": 3,
    "in a commit": 4,
    "after a commit": 4,
    "at birth": 2,
    "while stopped": 1,
}
_AIMED_AT_CURSORS: Final = (
    "after the backend took",
    "after a line was written",
    "while stopped",
)


class Options(msgspec.Struct, frozen=True):
    """What the command line says."""

    seed: int
    kills: int
    seconds: float
    clients: int
    protocol: str
    keep: str
    result: str


class Chaos:
    """One run of it."""

    def __init__(self, options: Options, directory: Path) -> None:
        self._options = options
        self._directory = directory
        self._draw = random.Random(options.seed)
        self._backend = Backend(directory, options.seed, options.protocol)
        self._state = directory / "state.sqlite"
        self._wal = directory / "state.sqlite-wal"
        self._lines = directory / "export.jsonl"
        self._config: dict[str, Any] = {
            "http": {"port": 0},
            "hosts": None,
            "state": {"path": str(self._state)},
            "export": {
                "interval_s": 1.0,
                "otlp": {
                    "endpoint": f"http://127.0.0.1:{self._backend.port}",
                    "protocol": options.protocol,
                    "timeout_s": 3.0,
                },
                "file": {"path": str(self._lines), "max_bytes": 2**40},
            },
            "client": {"flush_interval_s": 0.2, "observe_interval_s": 1.0},
            "limits": {"lease_s": 10.0},
        }
        self._clients = Clients(directory, options.seed, self._config)
        self._actor = TelemetryVictim()
        self._down_until_s = 0.0
        self.kills: Counter[str] = Counter()
        self.unfinished_commits = 0
        self.resent_batches = 0
        self.pauses = 0
        self.replacements = 0
        self.client_kills = 0
        self.restarts_s: list[float] = []
        self.stop_report: Any = None
        self.late: list[int] = []
        self.failures: list[str] = []

    def run(self) -> None:
        """Do everything up to the drained end."""
        self._backend.start()
        ensure_actor(load_config(self._config, {}))
        for number in range(self._options.clients):
            self._clients.add(as_driver=number % 3 == 2)
        self._clients.add(as_driver=False, stop=self._directory / "late")
        until_s = time.monotonic() + self._options.seconds
        while self.kills.total() < self._options.kills - 1 and time.monotonic() < until_s:
            self._disturb_others()
            self._kill_actor()
            self._show()
        self._end()

    def _end(self) -> None:
        late = self._options.clients
        self._backend.kill()
        self._clients.stop.touch()
        recording = [number for number in self._clients.living() if number != late]
        self.late = self._clients.wait_ended(recording, 180.0)
        # What was acknowledged last has not been exported, and nobody will say it again.
        pid = self._actor.wait_ready()["pid"]
        self._strike("at the end", pid)
        self._backend.calm_down()
        self._backend.start()
        self._actor.wait_ready(pid)
        # One client goes on meanwhile: what it is told is committed must be delivered as well.
        self.stop_report = stop_actor(_STOP_S)
        (self._directory / "late").touch()
        self._clients.wait_ended([late], 10.0)
        self.failures = self._clients.failures()

    def close(self) -> None:
        """End every process that is left, whatever happened."""
        self._clients.end_drivers()
        self._backend.kill()

    # ---- faults

    def _disturb_others(self) -> None:
        now_s = time.monotonic()
        if self._down_until_s and now_s >= self._down_until_s:
            self._backend.start()
            self._down_until_s = 0.0
        elif not self._down_until_s and self._draw.random() < 0.15:
            self._backend.kill()
            self._down_until_s = now_s + self._draw.uniform(0.5, 6.0)
        if self._draw.random() < 0.1:
            # It goes on after it; not as long as an exporter waits for an answer.
            pid = self._actor.wait_ready()["pid"]
            send(pid, signal.SIGSTOP)
            time.sleep(self._draw.uniform(0.1, 1.5))
            send(pid, signal.SIGCONT)
            self.pauses += 1
        if self._draw.random() < 0.05:
            self._replace_actor()
        if self._draw.random() < 0.12:
            living = [n for n in self._clients.living() if n != self._options.clients]
            if living:
                was_driver = self._clients.kill(self._draw.choice(living))
                self.client_kills += 1
                self._clients.add(as_driver=was_driver)

    def _replace_actor(self) -> None:
        """End the actor as people do, while the backend is down; another goes on from its state."""
        if not self._down_until_s:
            self._backend.kill()
            self._down_until_s = time.monotonic() + 1.0
        self._actor.wait_ready()
        stop_actor(0.5)
        ensure_actor(load_config(self._config, {}))
        self.replacements += 1

    def _kill_actor(self) -> None:
        (way,) = self._draw.choices(list(_WAYS), list(_WAYS.values()))
        pause_s = self._draw.uniform(0.1, 2.5)
        aim_s = self._draw.uniform(0.0, 0.025)
        time.sleep(pause_s)
        state = self._actor.wait_ready()
        pid: int = state["pid"]
        self.resent_batches += state["ingest"]["duplicate_batches"]
        if way == "after the backend took":
            _wait_growth(lambda: self._backend.taken_bytes, 3.0)
            time.sleep(aim_s)
        elif way == "after a line was written":
            _wait_growth(lambda: _size(self._lines), 3.0)
            time.sleep(aim_s / 20)
        elif way == "after a commit":
            # Before or after the answer leaves: clients send again what they have no answer to.
            _wait_growth(lambda: _size(self._wal), 3.0)
            time.sleep(aim_s / 20)
        elif way == "in a commit":
            self._catch_in_a_commit(pid)
        elif way == "while stopped":
            send(pid, signal.SIGSTOP)
            time.sleep(pause_s / 2)
        self._strike(way, pid)
        if way == "at birth":
            born = self._actor.wait_born(pid, 5.0)
            time.sleep(self._draw.uniform(0.0, 0.6))
            if born:
                pid = born
                self._strike(way, pid)
        killed_s = time.monotonic()
        self._actor.wait_ready(pid)
        self.restarts_s.append(round(time.monotonic() - killed_s, 3))

    def _catch_in_a_commit(self, pid: int) -> None:
        """Stop the actor while a commit is half written; give up after a while."""
        until_s = time.monotonic() + 4.0
        while time.monotonic() < until_s:
            _wait_growth(lambda: _size(self._wal), 1.0)
            send(pid, signal.SIGSTOP)
            wait_stopped(pid)
            if holds_unfinished_commit(self._state):
                return
            send(pid, signal.SIGCONT)

    def _strike(self, way: str, pid: int) -> None:
        send(pid, signal.SIGKILL)
        self.kills[way] += 1
        wait_dead(pid)
        self.unfinished_commits += holds_unfinished_commit(self._state)

    def _show(self) -> None:
        say(
            f"{self.kills.total()} of {self._options.kills} kills, {self.client_kills} clients, "
            f"backend {self._backend.kills}, last restart {self.restarts_s[-1]:.2f} s"
        )

    # ---- the books

    def result(self) -> dict[str, Any]:
        """Compare everything; `problems` is empty when all is right."""
        notes = self._clients.all_notes()
        ledgers = [each.ledger for each in notes]
        verdicts = {
            "otlp": judge(
                self._options.seed,
                ledgers,
                self._backend.messages(),
                most_repeated=self._most_repeated() + self._backend.kills + self.replacements,
            ),
            "file": judge(
                self._options.seed,
                ledgers,
                _file_messages(self._lines),
                most_repeated=self._most_repeated(),
            ),
        }
        flushes = [flush for each in notes for flush in each.flushes]
        overdue_s = max((flush.took_s - flush.timeout_s for flush in flushes), default=0.0)
        return {
            "machine": machine_facts(),
            "protocol": self._options.protocol,
            "seed": self._options.seed,
            "kills": dict(self.kills),
            "kills_total": self.kills.total(),
            "kills_within_a_commit": self.unfinished_commits,
            "resent_batches_recognised": self.resent_batches,
            "pauses": self.pauses,
            "replacements": self.replacements,
            "client_kills": self.client_kills,
            "backend_kills": self._backend.kills,
            "clients": len(notes),
            "steps_recorded": sum(len(each.ledger.begun) for each in notes),
            "flushes": len(flushes),
            "flushes_committed": sum(flush.is_committed for flush in flushes),
            "longest_flush_overrun_s": round(max(0.0, overdue_s), 3),
            "restart_s": _spread(self.restarts_s),
            "exporters": {name: msgspec.to_builtins(each) for name, each in verdicts.items()},
            "problems": self._problems(verdicts, overdue_s),
        }

    def _most_repeated(self) -> int:
        """Return how many messages may have come twice: one a kill before the cursor was written.

        That is what some kills were aimed at. Of the others few meet that moment, which lasts for
        milliseconds of each second; more would say that cursors are not written at once.
        """
        aimed = sum(self.kills[way] for way in _AIMED_AT_CURSORS)
        return aimed + 1 + round(0.15 * (self.kills.total() - aimed))

    def _problems(self, verdicts: dict[str, Verdict], overdue_s: float) -> list[str]:
        problems = [
            f"{name}: {problem}" for name, each in verdicts.items() for problem in each.problems
        ]
        problems += [f"actor: {problem}" for problem in self._actor.problems]
        problems += [f"client {number} could not deliver in the end" for number in self.late]
        problems += self.failures
        if overdue_s > _LONGEST_OVERRUN_S:
            problems.append(f"a flush took {overdue_s:.1f} s longer than it was given")
        if not self.stop_report.delivered:
            problems.append(f"stop: {self.stop_report}")
        return problems


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _wait_growth(size: Any, timeout_s: float) -> None:
    """Spin until a file grows, for at most a time: a sleep would miss the moment."""
    until_s = time.monotonic() + timeout_s
    before = size()
    while size() <= before and time.monotonic() < until_s:
        pass


def _file_messages(path: Path) -> list[Message]:
    """Return the lines of the file exporter; one that a kill cut off is none."""
    messages = []
    for line in path.read_bytes().splitlines():
        try:
            fields = json.loads(line)
        except ValueError:
            continue
        messages.append(message_of(ParseDict(fields, ExportMetricsServiceRequest())))
    return messages


def _spread(values: list[float]) -> dict[str, float]:
    ordered = sorted(values) or [0.0]
    return {"median": ordered[len(ordered) // 2], "longest": ordered[-1]}


def say(text: str) -> None:
    """Show how far it is."""
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {text}\n")


def main() -> int:
    """Run, judge, and say how it was."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--kills", type=int, default=200, help="of the actor")
    parser.add_argument("--seconds", type=float, default=3600.0, help="of killing, at most")
    parser.add_argument("--clients", type=int, default=6)
    parser.add_argument("--protocol", choices=("grpc", "http/protobuf"), default="grpc")
    parser.add_argument("--keep", default="", help="a directory for all files, which are kept")
    parser.add_argument("--result", default="", help="a file for the result, JSON")
    options = msgspec.convert(vars(parser.parse_args()), Options)
    directory = Path(options.keep or tempfile.mkdtemp(prefix="chaos-")).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    say(
        f"seed {options.seed}, in {directory}; replay with: python -m tests.e2e.chaos.run "
        f"--seed {options.seed} --kills {options.kills} --clients {options.clients} "
        f"--protocol {options.protocol}"
    )
    os.environ.update(RAY_AUTH_MODE="disabled", RAY_USAGE_STATS_ENABLED="0")
    ray.init(address="local", include_dashboard=False, num_cpus=4, log_to_driver=False)
    chaos = Chaos(options, directory)
    try:
        chaos.run()
        result = chaos.result()
    finally:
        chaos.close()
        ray.shutdown()
    text = json.dumps(result, indent=2) + "\n"
    sys.stdout.write(text)
    if options.result:
        Path(options.result).write_text(text, encoding="utf-8")
    if result["problems"]:
        say(f"{len(result['problems'])} problems; look into {directory}")
        return 1
    if not options.keep:
        shutil.rmtree(directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
