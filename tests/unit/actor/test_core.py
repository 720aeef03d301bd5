# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import json

import msgspec
import pytest

from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.config.fields import TelemetryConfig
from nemo_telemetry_actor.errors import WireError
from nemo_telemetry_actor.model.points import HistogramPoint, NumberPoint
from nemo_telemetry_actor.testing import FakeClock, InMemoryExporter, new_core
from nemo_telemetry_actor.wire.messages import (
    WIRE_VERSION,
    Ack,
    MetricBlock,
    Welcome,
    decode,
    encode,
)
from tests.batches import (
    batch,
    declared,
    gauge_points,
    hello,
    observed,
)
from tests.clients import (
    COUNTER,
    GAUGE,
    HISTOGRAM,
    LEASE_S,
    OTHER,
    SEEN,
    WORKER,
    join_driver,
    join_worker,
    pass_time,
    run_states,
    shown,
)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def exporter() -> InMemoryExporter:
    return InMemoryExporter()


@pytest.fixture
def core(clock: FakeClock, exporter: InMemoryExporter) -> TelemetryCore:
    return new_core(exporters=[exporter], clock=clock)


# ---- the way of a batch


async def test_a_value_is_visible_and_exported_after_its_commit_only(
    core: TelemetryCore, exporter: InMemoryExporter
) -> None:
    worker = join_worker(core)

    assert worker.send(GAUGE, COUNTER, HISTOGRAM).status == "ok"
    await core.deliveries[0].run_once()
    before = (shown(core), list(exporter.snapshots))
    core.commit()
    await core.deliveries[0].run_once()

    assert before == ({}, [])
    assert shown(core) == {"r": {"rl.reward": 2.0, "rl.steps": 3.0, "rl.time": 12.0}}
    assert [p.value for p in exporter.points("rl.reward") if isinstance(p, NumberPoint)] == [1, 2]
    assert len(exporter.points("rl.steps")) == 1
    (histogram,) = exporter.points("rl.time")
    assert isinstance(histogram, HistogramPoint)
    assert (histogram.count, histogram.bucket_counts) == (2, (1, 0, 1))


def test_a_welcome_says_how_to_behave(core: TelemetryCore) -> None:
    welcome = join_worker(core).welcome

    assert welcome == Welcome(WIRE_VERSION, "r", core.incarnation, 1.0, 10.0, 65536, 2000, LEASE_S)


def test_a_batch_that_comes_twice_counts_once(core: TelemetryCore) -> None:
    worker = join_worker(core)
    payload = encode(batch(0, COUNTER))

    answers = [worker.resend(payload).status for _ in range(3)]
    core.commit()

    assert answers == ["ok"] * 3
    assert shown(core) == {"r": {"rl.steps": 3.0}}
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
    one = join_worker(core, run_id="one", process_attributes={"host.name": "h1"})
    two = join_worker(core, OTHER, run_id="two", process_attributes={"host.name": "h2"})
    seconds = MetricBlock(declared("rl.step.time", unit="s"), [gauge_points([1.0])])
    collides_in_one_run = MetricBlock(declared("rl.step.time.seconds"), [gauge_points([2.0])])

    one.send(COUNTER, seconds)
    two.send(COUNTER, collides_in_one_run)
    two.send(COUNTER)
    core.commit()
    await core.deliveries[0].run_once()

    assert shown(core) == {
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
    join_driver(core, run_id="opened", job_id="01000000")

    assert join_worker(core, run_id="", job_id="01000000").welcome.run_id == "opened"
    assert join_worker(core, OTHER, run_id="", job_id="02000000").welcome.run_id != "opened"


async def test_the_end_of_a_driver_ends_its_run_and_its_last_values_are_exported(
    core: TelemetryCore, exporter: InMemoryExporter, clock: FakeClock
) -> None:
    driver, worker = join_driver(core), join_worker(core)
    worker.send(COUNTER)

    driver.send(GAUGE, closing="run")
    is_noted = core.run_ended.is_set()
    core.commit()
    await core.deliveries[0].run_once()

    assert is_noted
    assert run_states(core) == {"r": "ended"}
    assert len(exporter.points("rl.reward")) == 2
    assert len(exporter.points("rl.steps")) == 1
    # A scraper may come a while later; it should still see the last values.
    pass_time(core, clock, LEASE_S, worker)
    assert shown(core) == {"r": {"rl.reward": 2.0, "rl.steps": 3.0}}
    pass_time(core, clock, 30.0, worker)
    assert shown(core) == {}


def test_only_the_driver_can_end_its_run(core: TelemetryCore) -> None:
    first, second, worker = join_driver(core), join_driver(core, OTHER), join_worker(core)

    worker.send(closing="run")
    first.send(closing="run")
    assert run_states(core) == {"r": "open"}
    second.send(closing="run")

    assert run_states(core) == {"r": "ended"}


def test_a_stalled_driver_opens_its_run_again(core: TelemetryCore, clock: FakeClock) -> None:
    driver, worker = join_driver(core), join_worker(core)
    pass_time(core, clock, LEASE_S + 30.0, worker)
    assert run_states(core) == {"r": "ended"}
    assert core.run_ended.is_set()

    assert driver.send(COUNTER).status == "unknown_client"
    assert driver.join().run_id == "r"
    assert driver.send(COUNTER).status == "ok"
    core.commit()

    assert run_states(core) == {"r": "open"}
    assert shown(core) == {"r": {"rl.steps": 3.0}}


def test_values_that_come_after_the_end_of_a_run_are_taken(core: TelemetryCore) -> None:
    driver, worker = join_driver(core), join_worker(core)
    driver.send(closing="run")

    assert worker.send(COUNTER).status == "ok"
    core.commit()

    assert shown(core) == {"r": {"rl.steps": 3.0}}


# ---- leases


def test_a_dead_worker_takes_what_it_vouched_for_with_it_and_brings_it_back(
    core: TelemetryCore, clock: FakeClock
) -> None:
    driver, worker = join_driver(core), join_worker(core)
    worker.send(GAUGE, COUNTER, observed(SEEN, 1, {"x": 5.0}))
    core.commit()
    everything = {"rl.reward": 2.0, "rl.steps": 3.0, "rl.seen": 5.0}
    assert shown(core) == {"r": everything}

    pass_time(core, clock, LEASE_S + 30.0, driver)
    assert shown(core) == {"r": {"rl.steps": 3.0}}
    assert worker.send(GAUGE).status == "unknown_client"
    worker.join()

    assert shown(core) == {"r": everything}
    assert [client["state"] for client in core.state()["clients"]] == ["live", "live"]


def test_a_heartbeat_keeps_a_lease(core: TelemetryCore, clock: FakeClock) -> None:
    worker = join_worker(core)
    worker.send(GAUGE)

    pass_time(core, clock, 10 * LEASE_S, worker)

    assert shown(core) == {"r": {"rl.reward": 2.0}}


def test_gauges_of_a_client_that_said_goodbye_end_a_lease_later(
    core: TelemetryCore, clock: FakeClock
) -> None:
    driver, worker = join_driver(core), join_worker(core)
    worker.send(GAUGE, COUNTER, closing="client")

    pass_time(core, clock, LEASE_S, driver)
    assert shown(core) == {"r": {"rl.reward": 2.0, "rl.steps": 3.0}}
    pass_time(core, clock, 30.0, driver)

    assert shown(core) == {"r": {"rl.steps": 3.0}}
    assert [client["state"] for client in core.state()["clients"]] == ["live", "closed"]


# ---- what is shown


def test_the_state_is_json_of_builtins(core: TelemetryCore, clock: FakeClock) -> None:
    attributes = {"nemo.algorithm": "grpo", "gpus": [0, 1], "odd": {"not": "a value"}, "big": 2**63}
    join_driver(core, run_attributes=attributes)
    worker = join_worker(core, process_attributes={"host.name": "h", "rl.worker_group": "policy"})
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
