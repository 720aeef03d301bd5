# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What does a commit to disk cost the actor's event loop, and how much of it is SQLite?

A commit of one batch with 10 gauge series of 5 points each, of 20 such batches (as on an actor that
takes 400 a second), and of a batch with 1,000 series. `disk` against `memory` is the difference
that the state file makes; `bare_sqlite` writes as many rows of as many bytes to the same tables
with `executemany`. Every hundredth commit the points are taken for delivered and the file is
compacted, outside the time that is measured.

Run: `pytest -o python_files='bench_*.py' benchmarks/micro/bench_state.py`
"""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.actor.durability import Durability
from nemo_telemetry_actor.config.fields import TelemetryConfig
from nemo_telemetry_actor.model.attributes import encode_attributes
from nemo_telemetry_actor.model.instrument import Declaration
from nemo_telemetry_actor.state.lock import StateLock
from nemo_telemetry_actor.state.rows import Changes
from nemo_telemetry_actor.state.store import StateStore
from nemo_telemetry_actor.testing import FakeClock, InMemoryExporter
from nemo_telemetry_actor.wire.messages import Batch, GaugePoints, Hello, MetricBlock, encode

T0 = 1_790_000_000_000_000_000
CLIENT = "a" * 32
NONE = encode_attributes({})

# Series and points of each in a batch, and batches a commit.
SHAPES = {
    "10 series x 5 points": (10, 5, 1),
    "20 batches of 10 series x 5 points": (10, 5, 20),
    "1000 series x 1 point": (1000, 1, 1),
}

pytestmark = [
    pytest.mark.benchmark(group="state.commit", disable_gc=True, min_rounds=200, warmup=True),
    pytest.mark.parametrize("shape", SHAPES),
]


def _blocks(series: int, points: int) -> list[MetricBlock]:
    times = [T0 + i * 10**9 for i in range(points)]
    return [
        MetricBlock(
            encode(Declaration(f"rl.gauge.m{i}", "gauge", "s", "What it is.")),
            [GaugePoints(NONE, times, [0.1 * i + j for j in range(points)])],
        )
        for i in range(series)
    ]


class Committing:
    """A core that has a new batch, or several, to commit at each call of `prepare`."""

    def __init__(self, path: Path | None, shape: str) -> None:
        series, points, self._batches = SHAPES[shape]
        self._blocks = _blocks(series, points)
        self._sequences = itertools.count()
        clock = FakeClock()
        self._durability = Durability(
            path, monotonic=clock.monotonic, time_unix_nano=clock.time_ns()
        )
        self.core = TelemetryCore(
            TelemetryConfig(),
            [InMemoryExporter()],
            time_ns=clock.time_ns,
            monotonic=clock.monotonic,
            incarnation="bench",
            fresh_run_id=lambda: "r",
            durability=self._durability,
        )
        hello = Hello(1, CLIENT, "", "r", "", False, {"rl.model": "m"}, {"host.name": "h"})
        self.core.welcome(encode(hello))
        self.prepare()
        self.core.commit()

    def prepare(self) -> None:
        for _ in range(self._batches):
            sequence = next(self._sequences)
            if sequence % (100 * self._batches) == 0:
                self._deliver()
            self.core.ingest(encode(Batch(1, CLIENT, sequence, self._blocks)))

    def _deliver(self) -> None:
        for delivery in self.core.deliveries:
            delivery.position = self.core._log.head
        self.core.tick()
        if self._durability._store is not None:
            self._durability._store.compact()

    def changes(self) -> Changes:
        """Return the rows of one more commit, which is not made."""
        self.prepare()
        applied = self.core._registry.take()
        assert self._durability._recorder is not None
        return self._durability._recorder.changes(applied, self.core._log.head, 0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.sqlite"


def _measure(benchmark: BenchmarkFixture, committing: Committing) -> None:
    benchmark.pedantic(  # type: ignore[no-untyped-call]  # as pytest-benchmark has it
        committing.core.commit,
        setup=committing.prepare,
        rounds=400 if committing._batches == 1 else 200,
        warmup_rounds=5,
    )


def test_memory(benchmark: BenchmarkFixture, shape: str) -> None:
    _measure(benchmark, Committing(None, shape))


def test_disk(benchmark: BenchmarkFixture, shape: str, path: Path) -> None:
    _measure(benchmark, Committing(path, shape))


class Recorded:
    """Takes the place of a database and keeps what was executed."""

    def __init__(self) -> None:
        self.many: list[tuple[str, Any]] = []
        self.in_transaction = False

    def execute(self, statement: str, parameters: Any = ()) -> None:
        """Keep nothing of it: a transaction begins or ends."""

    def executemany(self, statement: str, rows: Any) -> None:
        self.many.append((statement, rows))


@pytest.fixture
def bare(path: Path, shape: str) -> Iterator[Callable[[], None]]:
    """The statements of one commit, and nothing but them."""
    changes = Committing(path.with_name("other"), shape).changes()
    store = StateStore(path, StateLock(path))
    store.write(changes)
    db, recorded = store._db, Recorded()
    store._db = recorded  # type: ignore[assignment]  # all that `write` calls
    store.write(changes)
    positions = itertools.count(10_000_000, 10_000)

    def write() -> None:
        db.execute("BEGIN IMMEDIATE")
        for statement, rows in recorded.many:
            at = next(positions)
            is_points = "INTO points" in statement
            db.executemany(statement, [(at, *row[1:]) for row in rows] if is_points else rows)
        db.execute("COMMIT")

    yield write
    store._db = db
    store.close()


def test_bare_sqlite(benchmark: BenchmarkFixture, shape: str, bare: Callable[[], None]) -> None:
    benchmark.pedantic(  # type: ignore[no-untyped-call]  # as pytest-benchmark has it
        bare, rounds=400, warmup_rounds=5
    )
