# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import asyncio
import json
from typing import Any

import msgspec
import pytest

from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.config.fields import LimitsConfig, TelemetryConfig
from nemo_telemetry_actor.errors import RetryableExportError, WireError
from nemo_telemetry_actor.export.exporter import ExportResult
from nemo_telemetry_actor.model.points import HistogramPoint, NumberPoint, Snapshot
from nemo_telemetry_actor.testing import FakeClock, InMemoryExporter, new_core
from nemo_telemetry_actor.wire.messages import (
    WIRE_VERSION,
    Ack,
    MetricBlock,
    ObservedSet,
    Welcome,
    decode,
    encode,
)
from tests.batches import (
    batch,
    declared,
    gauge_points,
    hello,
    histogram_delta,
    observed,
    sum_delta,
)
from tests.clocks import run_at_once

LEASE_S = 90.0
DRIVER, WORKER, OTHER = "d" * 32, "a" * 32, "b" * 32
GAUGE = MetricBlock(declared("rl.reward"), [gauge_points([1.0, 2.0])])
COUNTER = MetricBlock(declared("rl.steps", "counter"), [sum_delta(3.0)])
HISTOGRAM = MetricBlock(declared("rl.time", "histogram"), [histogram_delta([1, 0, 1], 12, 1, 11)])
SEEN = declared("rl.seen", "observable_gauge")


class Client:
    """What a process does, step by step."""

    def __init__(self, core: TelemetryCore, client_id: str, **greeting: Any) -> None:
        self.core = core
        self.client_id = client_id
        self.greeting = greeting
        self.sequence = 0
        self.join()

    def join(self) -> Welcome:
        greeting = hello(self.client_id, **self.greeting)
        self.welcome = decode(self.core.welcome(encode(greeting)), Welcome)
        return self.welcome

    def send(self, *content: MetricBlock | ObservedSet, closing: Any = "") -> Ack:
        message = batch(self.sequence, *content, client_id=self.client_id, closing=closing)
        self.sequence += 1
        return self.resend(encode(message))

    def resend(self, payload: bytes) -> Ack:
        return decode(self.core.ingest(payload), Ack)


class Hanging(InMemoryExporter):
    """Answers neither exports nor its shutdown."""

    async def export(self, snapshot: Snapshot) -> ExportResult:
        await asyncio.Event().wait()
        return ExportResult()

    async def shutdown(self) -> None:
        self.is_shut_down = True
        await asyncio.Event().wait()


class SetBack(FakeClock):
    """Somebody sets the wall clock."""

    set_back_s = 0

    def time_ns(self) -> int:
        return super().time_ns() - self.set_back_s * 10**9


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def exporter() -> InMemoryExporter:
    return InMemoryExporter()


@pytest.fixture
def core(clock: FakeClock, exporter: InMemoryExporter) -> TelemetryCore:
    return new_core(exporters=[exporter], clock=clock)


def _worker(core: TelemetryCore, client_id: str = WORKER, **greeting: Any) -> Client:
    return Client(core, client_id, **({"run_id": "r"} | greeting))


def _driver(core: TelemetryCore, client_id: str = DRIVER, **greeting: Any) -> Client:
    return _worker(core, client_id, opens_run=True, **greeting)


def _shown(core: TelemetryCore) -> dict[str, dict[str, float]]:
    """Run → metric → value, as pages and commands see it."""
    shown: dict[str, dict[str, float]] = {}
    for row in core.series():
        value = row["sum"] if row["kind"] == "histogram" else row["value"]
        shown.setdefault(row["run_id"], {})[row["name"]] = value
    return shown


def _pass_time(core: TelemetryCore, clock: FakeClock, seconds: float, *alive: Client) -> None:
    """Let time pass in steps shorter than a lease, in which some clients send heartbeats."""
    while seconds > 0:
        clock.advance(min(seconds, 30.0))
        seconds -= 30.0
        for client in alive:
            assert client.send().status == "ok"
        core.tick()


def _run_states(core: TelemetryCore) -> dict[str, str]:
    return {run["run_id"]: run["state"] for run in core.state()["runs"]}


# ---- the way of a batch


async def test_a_value_is_visible_and_exported_after_its_commit_only(
    core: TelemetryCore, exporter: InMemoryExporter
) -> None:
    worker = _worker(core)

    assert worker.send(GAUGE, COUNTER, HISTOGRAM).status == "ok"
    await core.deliveries[0].run_once()
    before = (_shown(core), list(exporter.snapshots))
    core.commit()
    await core.deliveries[0].run_once()

    assert before == ({}, [])
    assert _shown(core) == {"r": {"rl.reward": 2.0, "rl.steps": 3.0, "rl.time": 12.0}}
    assert [p.value for p in exporter.points("rl.reward") if isinstance(p, NumberPoint)] == [1, 2]
    assert len(exporter.points("rl.steps")) == 1
    (histogram,) = exporter.points("rl.time")
    assert isinstance(histogram, HistogramPoint)
    assert (histogram.count, histogram.bucket_counts) == (2, (1, 0, 1))


def test_a_welcome_says_how_to_behave(core: TelemetryCore) -> None:
    welcome = _worker(core).welcome

    assert welcome == Welcome(WIRE_VERSION, "r", core.incarnation, 1.0, 10.0, 65536, 2000, LEASE_S)


def test_a_batch_that_comes_twice_counts_once(core: TelemetryCore) -> None:
    worker = _worker(core)
    payload = encode(batch(0, COUNTER))

    answers = [worker.resend(payload).status for _ in range(3)]
    core.commit()

    assert answers == ["ok"] * 3
    assert _shown(core) == {"r": {"rl.steps": 3.0}}
    assert core.state()["ingest"]["duplicate_batches"] == 2


def test_who_is_not_known_is_told_and_nothing_is_applied(core: TelemetryCore) -> None:
    ack = decode(core.ingest(encode(batch(0, COUNTER))), Ack)
    core.commit()

    assert ack == Ack("unknown_client", 1.0)
    assert core.state()["ingest"]["accepted"] == 0


@pytest.mark.parametrize("payload", [b"", b"\xc1", b"\x91" * 10_000, encode(hello())])
def test_bytes_that_are_no_batch_are_refused_and_counted(
    core: TelemetryCore, payload: bytes
) -> None:
    ack = decode(core.ingest(payload), Ack)

    assert ack.status == "refused"
    assert ack.message
    assert core.state()["ingest"]["dropped"] == {"decode_error": 1}


def test_a_greeting_of_a_newer_wire_version_is_an_error(core: TelemetryCore) -> None:
    newer = msgspec.structs.replace(hello(), version=WIRE_VERSION + 1)

    with pytest.raises(WireError, match="wire version 2 cannot be read"):
        core.welcome(encode(newer))


# ---- runs


async def test_two_runs_at_once_never_mix(core: TelemetryCore, exporter: InMemoryExporter) -> None:
    one = _worker(core, run_id="one", process_attributes={"host.name": "h1"})
    two = _worker(core, OTHER, run_id="two", process_attributes={"host.name": "h2"})
    seconds = MetricBlock(declared("rl.step.time", unit="s"), [gauge_points([1.0])])
    collides_in_one_run = MetricBlock(declared("rl.step.time.seconds"), [gauge_points([2.0])])

    one.send(COUNTER, seconds)
    two.send(COUNTER, collides_in_one_run)
    two.send(COUNTER)
    core.commit()
    await core.deliveries[0].run_once()

    assert _shown(core) == {
        "one": {"rl.steps": 3.0, "rl.step.time": 1.0},
        "two": {"rl.steps": 6.0, "rl.step.time.seconds": 2.0},
    }
    exported = {
        (resource.attributes["nemo.run.id"], resource.attributes["host.name"])
        for snapshot in exporter.snapshots
        for resource in snapshot.resources
    }
    assert exported == {("one", "h1"), ("two", "h2")}
    assert [row["value"] for row in core.series("one", ["rl.steps"])] == [3.0]
    assert core.state()["ingest"]["dropped"] == {}


def test_workers_join_the_run_of_their_jobs_driver(core: TelemetryCore) -> None:
    _driver(core, run_id="opened", job_id="01000000")

    assert _worker(core, run_id="", job_id="01000000").welcome.run_id == "opened"
    assert _worker(core, OTHER, run_id="", job_id="02000000").welcome.run_id != "opened"


async def test_the_end_of_a_driver_ends_its_run_and_its_last_values_are_exported(
    core: TelemetryCore, exporter: InMemoryExporter, clock: FakeClock
) -> None:
    driver, worker = _driver(core), _worker(core)
    worker.send(COUNTER)

    driver.send(GAUGE, closing="run")
    is_noted = core.run_ended.is_set()
    core.commit()
    await core.deliveries[0].run_once()

    assert is_noted
    assert _run_states(core) == {"r": "ended"}
    assert len(exporter.points("rl.reward")) == 2
    assert len(exporter.points("rl.steps")) == 1
    # A scraper may come a while later; it should still see the last values.
    _pass_time(core, clock, LEASE_S, worker)
    assert _shown(core) == {"r": {"rl.reward": 2.0, "rl.steps": 3.0}}
    _pass_time(core, clock, 30.0, worker)
    assert _shown(core) == {}


def test_only_the_driver_can_end_its_run(core: TelemetryCore) -> None:
    first, second, worker = _driver(core), _driver(core, OTHER), _worker(core)

    worker.send(closing="run")
    first.send(closing="run")
    assert _run_states(core) == {"r": "open"}
    second.send(closing="run")

    assert _run_states(core) == {"r": "ended"}


def test_a_stalled_driver_opens_its_run_again(core: TelemetryCore, clock: FakeClock) -> None:
    driver, worker = _driver(core), _worker(core)
    _pass_time(core, clock, LEASE_S + 30.0, worker)
    assert _run_states(core) == {"r": "ended"}
    assert core.run_ended.is_set()

    assert driver.send(COUNTER).status == "unknown_client"
    assert driver.join().run_id == "r"
    assert driver.send(COUNTER).status == "ok"
    core.commit()

    assert _run_states(core) == {"r": "open"}
    assert _shown(core) == {"r": {"rl.steps": 3.0}}


def test_values_that_come_after_the_end_of_a_run_are_taken(core: TelemetryCore) -> None:
    driver, worker = _driver(core), _worker(core)
    driver.send(closing="run")

    assert worker.send(COUNTER).status == "ok"
    core.commit()

    assert _shown(core) == {"r": {"rl.steps": 3.0}}


# ---- leases


def test_a_dead_worker_takes_what_it_vouched_for_with_it_and_brings_it_back(
    core: TelemetryCore, clock: FakeClock
) -> None:
    driver, worker = _driver(core), _worker(core)
    worker.send(GAUGE, COUNTER, observed(SEEN, 1, {"x": 5.0}))
    core.commit()
    everything = {"rl.reward": 2.0, "rl.steps": 3.0, "rl.seen": 5.0}
    assert _shown(core) == {"r": everything}

    _pass_time(core, clock, LEASE_S + 30.0, driver)
    assert _shown(core) == {"r": {"rl.steps": 3.0}}
    assert worker.send(GAUGE).status == "unknown_client"
    worker.join()

    assert _shown(core) == {"r": everything}
    assert [client["state"] for client in core.state()["clients"]] == ["live", "live"]


def test_a_heartbeat_keeps_a_lease(core: TelemetryCore, clock: FakeClock) -> None:
    worker = _worker(core)
    worker.send(GAUGE)

    _pass_time(core, clock, 10 * LEASE_S, worker)

    assert _shown(core) == {"r": {"rl.reward": 2.0}}


def test_gauges_of_a_client_that_said_goodbye_end_a_lease_later(
    core: TelemetryCore, clock: FakeClock
) -> None:
    driver, worker = _driver(core), _worker(core)
    worker.send(GAUGE, COUNTER, closing="client")

    _pass_time(core, clock, LEASE_S, driver)
    assert _shown(core) == {"r": {"rl.reward": 2.0, "rl.steps": 3.0}}
    _pass_time(core, clock, 30.0, driver)

    assert _shown(core) == {"r": {"rl.steps": 3.0}}
    assert [client["state"] for client in core.state()["clients"]] == ["live", "closed"]


# ---- memory


async def test_nothing_is_left_of_a_run_that_is_over_and_exported(
    core: TelemetryCore, clock: FakeClock
) -> None:
    for i in range(20):
        run_id = f"run-{i}"
        driver = _driver(core, f"{i:032x}", run_id=run_id, job_id=f"{i:08x}")
        worker = _worker(core, f"{i + 100:032x}", run_id="", job_id=f"{i:08x}")
        worker.send(GAUGE, COUNTER, HISTOGRAM, observed(SEEN, 1, {"x": 1.0}))
        driver.send(GAUGE, closing="run")
        core.tick()
        await core.deliveries[0].run_once()

    _pass_time(core, clock, 3 * LEASE_S)

    state = core.state()
    assert (state["runs"], state["clients"]) == ([], [])
    assert state["ingest"]["series"] == 0
    assert state["ingest"]["accepted"] == 20 * 7
    assert state["exporters"][0]["backlog_points"] == 0


async def test_a_run_waits_for_an_exporter_that_is_down(clock: FakeClock) -> None:
    down = InMemoryExporter("down", outcomes=[RetryableExportError("refused to connect")] * 3)
    core = new_core(exporters=[down, InMemoryExporter("up")], clock=clock)
    _worker(core).send(COUNTER, GAUGE)
    core.commit()
    for _ in range(3):
        assert [await each.run_once() for each in core.deliveries] == [False, True]
        _pass_time(core, clock, 4 * LEASE_S)

    assert _run_states(core) == {"r": "ended"}
    assert await core.deliveries[0].run_once()
    core.tick()

    assert len(down.points("rl.reward")) == 2
    assert len(down.points("rl.steps")) == 1
    assert _run_states(core) == {}


async def test_a_backlog_is_bounded_and_what_is_lost_is_counted(clock: FakeClock) -> None:
    config = TelemetryConfig(limits=LimitsConfig(backlog_points=5))
    exporter = InMemoryExporter(outcomes=[RetryableExportError("refused to connect")])
    core = new_core(exporters=[exporter], config=config, clock=clock)
    worker = _worker(core)
    for i in range(4):
        worker.send(MetricBlock(declared("rl.reward"), [gauge_points([0, 1], first_s=2 * i)]))
        core.commit()
        await core.deliveries[0].run_once()

    clock.advance(10.0)
    await core.deliveries[0].run_once()

    assert len(exporter.points("rl.reward")) == 5
    assert core.state()["exporters"][0]["dropped"] == {"queue_full": 3}


async def test_totals_of_an_open_run_are_repeated_and_of_an_ended_one_not(
    core: TelemetryCore, exporter: InMemoryExporter, clock: FakeClock
) -> None:
    one, two = _driver(core, run_id="one"), _driver(core, OTHER, run_id="two")
    one.send(COUNTER)
    two.send(COUNTER)
    core.commit()
    await core.deliveries[0].run_once()
    two.send(closing="run")

    clock.advance(60.0)
    await core.deliveries[0].run_once()

    exported = [
        resource.attributes["nemo.run.id"]
        for snapshot in exporter.snapshots
        for resource in snapshot.resources
    ]
    assert exported == ["one", "two", "one"]


async def test_the_time_of_totals_goes_on_although_the_clock_is_set_back(
    exporter: InMemoryExporter,
) -> None:
    clock = SetBack()
    core = new_core(exporters=[exporter], clock=clock)
    worker = _worker(core)
    for clock.set_back_s in (0, 3600, 7200):
        worker.send(COUNTER)
        core.commit()
        await core.deliveries[0].run_once()

    times = [point.time_unix_nano for point in exporter.points("rl.steps")]
    assert len(times) == 3
    assert times == sorted(set(times))


# ---- the end


def test_a_drain_commits_delivers_and_releases(clock: FakeClock) -> None:
    exporters = [InMemoryExporter("one"), InMemoryExporter("two")]
    core = new_core(exporters=exporters, clock=clock)
    _worker(core).send(GAUGE, COUNTER)

    report = run_at_once(clock, core.drain(5.0))

    assert report["delivered"] is True
    assert report["clients"] == 1
    for exporter in exporters:
        assert len(exporter.points("rl.reward")) == 2
        assert len(exporter.points("rl.steps")) == 1
        assert exporter.is_shut_down


def test_a_drain_keeps_its_time_although_an_exporter_hangs(clock: FakeClock) -> None:
    hanging, exporter = Hanging("hanging"), InMemoryExporter("fine")
    core = new_core(exporters=[hanging, exporter], clock=clock)
    _worker(core).send(GAUGE)
    begun_s = clock.monotonic()

    report = run_at_once(clock, core.drain(5.0))

    assert clock.monotonic() - begun_s <= 6.01
    assert report["delivered"] is False
    assert [each["delivered"] for each in report["exporters"]] == [False, True]
    assert len(exporter.points("rl.reward")) == 2
    assert hanging.is_shut_down


def test_a_drain_tries_again_within_its_time(clock: FakeClock) -> None:
    outcomes = [RetryableExportError("refused to connect")] * 2
    exporter = InMemoryExporter(outcomes=outcomes)
    core = new_core(exporters=[exporter], clock=clock)
    _worker(core).send(GAUGE)

    assert run_at_once(clock, core.drain(10.0))["delivered"] is True
    assert len(exporter.points("rl.reward")) == 2


def test_a_drain_without_exporters_is_done(clock: FakeClock) -> None:
    assert run_at_once(clock, new_core(clock=clock).drain(1.0)) == {
        "delivered": True,
        "exporters": [],
        "clients": 0,
    }


# ---- what is shown


def test_the_state_is_json_of_builtins(core: TelemetryCore, clock: FakeClock) -> None:
    attributes = {"nemo.algorithm": "grpo", "gpus": [0, 1], "odd": {"not": "a value"}, "big": 2**63}
    _driver(core, run_attributes=attributes)
    worker = _worker(core, process_attributes={"host.name": "h", "rl.worker_group": "policy"})
    worker.send(GAUGE, HISTOGRAM, MetricBlock(b"\xc1", [gauge_points([1.0])]))
    core.commit()
    core.problems.append("the port is taken")
    core.http_url = "http://127.0.0.1:9464"

    state = core.state()

    assert json.loads(json.dumps(state)) == msgspec.json.decode(msgspec.json.encode(state))
    assert state["runs"] == [
        {
            "run_id": "r",
            "state": "open",
            "opened_unix_nano": clock.time_ns(),
            "ended_unix_nano": None,
            "clients": 2,
            "series": 2,
            "points": 3,
            "attributes": {"nemo.algorithm": "grpo", "gpus": (0, 1), "big": str(2**63)},
        }
    ]
    assert state["clients"][1] == {
        "client_id": WORKER,
        "run_id": "r",
        "host": "h",
        "pid": None,
        "worker_group": "policy",
        "rank": None,
        "series": 2,
        "points": 3,
        "heard_unix_nano": clock.time_ns(),
        "state": "live",
    }
    assert state["ingest"] == {
        "accepted": 3,
        "duplicate_batches": 0,
        "dropped": {"undeclared": 1},
        "series": 2,
    }
    assert state["problems"] == ["the port is taken"]
    assert state["exporters"][0]["name"] == "memory"
    assert core.health() is None


def test_the_configuration_is_no_part_of_the_state() -> None:
    headers = {"authorization": "Bearer s3cret"}
    otlp = {"endpoint": "http://user:s3cret@127.0.0.1:4317", "headers": headers}
    config = msgspec.convert({"export": {"otlp": [otlp]}}, TelemetryConfig)

    core = new_core(config=config)

    assert "s3cret" not in json.dumps(core.state())
