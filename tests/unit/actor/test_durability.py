# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A core whose state file meets with an accident goes on, says so, and comes back."""

import contextlib
import logging
import os
import resource
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.actor.durability import RETRY_S, Durability
from nemo_telemetry_actor.errors import RetryableExportError
from nemo_telemetry_actor.state.opening import open_state
from nemo_telemetry_actor.state.rows import Loaded
from nemo_telemetry_actor.testing import FakeClock
from tests.clients import COUNTER, DRIVER, WORKER, Client, join_driver, shown
from tests.disks import SmallDisk, small_disk
from tests.lives import durability_of, killed, life, remembered
from tests.unit.actor.durable_world import World
from tests.unit.state.test_lock import held_elsewhere

ADVICE = (
    "; telemetry goes on in memory, and a restart of the actor would lose it; writing is tried "
    "again every 10 s: free the disk, make the directory of state.path writable, or configure "
    "another path"
)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "disk" / "state")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "disk") as disk:
        yield disk


def totals(core: TelemetryCore) -> Any:
    return shown(core)["r"]["rl.steps"]


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


# ---- the disk does not take it


def _fill(world: World, disk: SmallDisk) -> None:
    disk.fill()
    for _ in range(200):  # what SQLite had allocated before still takes some
        world.count()
        if world.durability.is_degraded:
            return


def test_a_full_disk_costs_durability_and_no_data_until_there_is_room(
    disk: SmallDisk, caplog: pytest.LogCaptureFixture
) -> None:
    world = World(disk.path / "state")
    world.count()

    _fill(world, disk)
    world.count()
    (problem,) = world.core.state()["problems"]
    assert world.durability.is_degraded
    assert "database or disk is full" in problem
    assert problem.endswith(ADVICE)
    for _ in range(3):
        world.pass_time(RETRY_S)
    assert world.durability.is_degraded
    disk.empty()
    world.pass_time(RETRY_S)

    assert world.core.state()["problems"] == []
    assert world.is_durable()
    world.count()
    assert world.is_durable()
    assert messages(caplog) == [problem, f"state file {world.path} is written again"]


def test_a_restart_on_a_full_disk_goes_on_from_its_file(disk: SmallDisk) -> None:
    world = World(disk.path / "state")
    world.count()
    disk.fill()
    before = remembered(world.core)
    kept = killed(world.path, disk.path.parent / "kept")
    for end in ("", "-wal"):
        Path(f"{world.path}{end}").write_bytes(Path(f"{kept}{end}").read_bytes())
    Path(f"{world.path}-shm").unlink()
    disk.fill()

    second = life(world.path, world.clock, [world.exporter])

    assert remembered(second) == before
    assert durability_of(second).is_degraded
    disk.empty()
    world.clock.advance(RETRY_S)
    second.tick()
    assert durability_of(second).problems == []
    assert list(disk.path.glob("*set-aside*")) == []


def test_a_disk_that_turns_read_only_is_written_again_when_it_can_be(disk: SmallDisk) -> None:
    world = World(disk.path / "state")
    world.count()
    world.end()
    disk.set_writable(False)

    second = life(world.path, world.clock, [world.exporter])

    (problem,) = second.state()["problems"]
    assert "Read-only file system" in problem
    assert remembered(second) == remembered(world.core)
    Client(second, WORKER, run_id="r", first_sequence=1).send(COUNTER)
    second.commit()
    world.clock.advance(RETRY_S)
    second.tick()
    assert durability_of(second).is_degraded
    disk.set_writable(True)
    world.clock.advance(RETRY_S)
    second.tick()
    third = life(killed(world.path, disk.path.parent / "copy"), world.clock, [world.exporter])
    assert (durability_of(second).problems, totals(third)) == ([], 3.0)
    assert list(disk.path.glob("*set-aside*")) == []


def test_a_limit_on_the_size_of_files_is_as_a_full_disk(world: World) -> None:
    world.count()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = Path(f"{world.path}-wal").stat().st_size

    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        world.count()
        assert world.durability.is_degraded
        world.pass_time(RETRY_S)
        assert world.durability.is_degraded
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    world.pass_time(RETRY_S)

    assert world.is_durable()


def test_someone_who_locks_the_file_for_a_while_costs_durability_for_that_while(
    world: World,
) -> None:
    world.count()
    assert world.durability._store is not None
    world.durability._store._db.execute("PRAGMA busy_timeout = 1")

    with contextlib.closing(sqlite3.connect(world.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        world.count()
        assert "database is locked" in world.core.state()["problems"][0]
        other.execute("ROLLBACK")
    world.pass_time(RETRY_S)

    assert world.is_durable()
    assert list(world.path.parent.glob("*set-aside*")) == []


def test_what_ended_while_nothing_was_written_is_not_there_later(tmp_path: Path) -> None:
    world = World(tmp_path / "disk" / "state")
    driver = join_driver(world.core, run_id="s")
    driver.send(COUNTER, closing="run")
    world.core.commit()
    world.durability._degrade(RuntimeError("the disk is full"))  # type: ignore[arg-type]
    world.durability._retry_at_s += 100 * RETRY_S

    world.exporter.outcomes.extend([RetryableExportError("down")] * 10)
    for _ in range(200):
        world.pass_time(50.0)
    assert [run["run_id"] for run in world.core.state()["runs"]] == ["r"]

    assert world.is_durable()


# ---- the file is not what it was


@pytest.mark.parametrize("what", ["file", "directory"])
def test_a_file_that_is_removed_is_written_anew_at_the_next_tick(
    world: World, what: str, caplog: pytest.LogCaptureFixture
) -> None:
    world.count()
    for each in world.path.parent.iterdir() if what == "directory" else [world.path]:
        each.unlink()
    if what == "directory":
        world.path.parent.rmdir()

    world.pass_time(1.0)

    assert world.is_durable()
    world.count()
    assert world.is_durable()
    gone, back = messages(caplog)[:2]
    assert gone.startswith(f"state file {world.path} was removed or replaced by someone; ")
    assert back == f"state file {world.path} is written again"


def test_a_file_that_replaced_ours_is_kept(world: World) -> None:
    world.count()
    other = world.path.with_name("other")
    other.write_text("somebody's")
    other.rename(world.path)

    world.pass_time(1.0)

    assert world.is_durable()
    (aside,) = world.path.parent.glob("*set-aside-??????????")
    assert aside.read_text() == "somebody's"
    assert str(aside) in world.core.state()["problems"][0]


def test_a_file_that_is_damaged_under_us_is_set_aside_and_written_anew(world: World) -> None:
    for _ in range(50):
        world.count()
    assert world.durability._store is not None
    world.durability._store.compact()
    world.durability._store._db.execute("PRAGMA cache_size = 0")
    size = world.path.stat().st_size
    with world.path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 4096))

    world.count()
    assert world.durability.is_degraded
    assert "malformed" in world.core.state()["problems"][0]
    world.pass_time(1.0)

    assert world.is_durable()
    (problem,) = world.core.state()["problems"]
    assert "malformed; it is kept as " in problem


def test_a_file_that_is_no_database_is_named_among_the_problems(tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.write_bytes(b"no database at all")

    core = life(path, FakeClock())

    (problem,) = core.state()["problems"]
    assert "file is not a database; it is kept as " in problem
    assert not durability_of(core).is_degraded


# ---- two actors


def test_a_second_actor_leaves_the_file_of_the_first_alone_for_good(tmp_path: Path) -> None:
    path = tmp_path / "disk" / "state"
    first = World(path)
    first.count()
    first.end()
    with held_elsewhere(path) as process:
        second = life(path, clock := FakeClock())
        (problem,) = second.state()["problems"]
        Client(second, DRIVER, run_id="s").send(COUNTER)
        second.commit()
        clock.advance(RETRY_S)
        second.tick()
        assert f"is in use by process {process.pid} of this machine; " in problem
        assert durability_of(second).is_degraded
        process.kill()
        process.wait()

        clock.advance(RETRY_S)
        second.tick()

    # The first one's content is not the second one's to overwrite.
    (aside,) = path.parent.glob("*set-aside-??????????")
    assert set(open_state(aside, 0, lock_wait_s=0.0).loaded.runs) == {"r"}
    assert set(shown(life(killed(path, tmp_path / "copy"), clock))) == {"s"}


# ---- nothing is written without a reason


def test_without_a_path_everything_is_in_memory() -> None:
    durability = Durability(None, monotonic=FakeClock().monotonic, time_unix_nano=0)

    assert (durability.loaded, durability.is_degraded, durability.problems) == (Loaded(), False, [])


def test_a_value_that_no_file_can_hold_costs_durability_and_no_exception(world: World) -> None:
    world.client.send(COUNTER)
    world.core._registry.runs["r"].opened_unix_nano = 2**70
    world.core._registry.runs["r"].version += 1
    world.core._durability._recorder._runs.clear()  # type: ignore[union-attr]

    world.core.commit()

    assert world.durability.is_degraded
    assert "OverflowError" in world.core.state()["problems"][0]
    assert totals(world.core) == 3.0
    world.pass_time(RETRY_S)
    assert world.durability.is_degraded


def test_a_client_whose_sequences_end_is_kept(world: World) -> None:
    strange = Client(world.core, DRIVER, run_id="r", first_sequence=2**64 - 1)
    strange.sequence = 2**64 - 1
    strange.send(COUNTER)
    world.core.commit()

    assert not world.durability.is_degraded
    assert DRIVER in world.restarted()._registry.producers
