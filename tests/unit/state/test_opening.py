# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import os
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from nemo_telemetry_actor.errors import StateError
from nemo_telemetry_actor.state.lock import StateLock
from nemo_telemetry_actor.state.opening import Opened, open_anew, open_state, put_aside
from nemo_telemetry_actor.state.rows import (
    SCHEMA_VERSION,
    Changes,
    Loaded,
    MetricBody,
    PointsBody,
    PointsRow,
    ProducerBody,
    RunBody,
    SeriesRow,
    SumBody,
)
from nemo_telemetry_actor.state.store import StateStore, files_of
from tests.unit.state.test_lock import held_elsewhere

NOW = 1_790_000_000_000_000_000
ASIDE = "state.sqlite.set-aside-1790000000"
RUN = RunBody(5, None, "d", ["j"], {"rl.model": "m"})
CONTENT = Changes(
    runs={"r": RUN},
    producers={1: ProducerBody("r", "a" * 32, {}, is_closed=False, has_lease=True)},
    metrics={1: MetricBody(1, b"d")},
    series={n: SeriesRow(1, bytes([n]), SumBody(1, n)) for n in range(1, 200)},
    points=[PointsRow(n, 1, [PointsBody(1, b"\x90", 0, [n], [0.5])]) for n in range(100)],
    head=100,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A state file with content, closed in good order."""
    path = tmp_path / "dir" / "state.sqlite"
    opened = opened_now(path)
    assert opened.store is not None
    opened.store.write(CONTENT)
    opened.store.close()
    return path


def opened_now(path: Path) -> Opened:
    return open_state(path, NOW, lock_wait_s=0.0)


def close(opened: Opened) -> None:
    if opened.store is not None:
        opened.store.close()


def run_sql(path: Path, script: str) -> None:
    db = sqlite3.connect(path, isolation_level=None)
    db.executescript(script)
    db.close()


def flip(path: Path, index: int) -> None:
    content = bytearray(path.read_bytes())
    content[index] ^= 0x55
    path.write_bytes(content)


# ---- all is well


def test_a_good_file_is_opened_and_read(path: Path) -> None:
    opened = opened_now(path)

    assert (opened.loaded.runs, opened.loaded.head) == ({"r": RUN}, 100)
    assert (opened.is_loaded, opened.set_aside, opened.problem) == (True, "", "")
    assert oct(path.parent.stat().st_mode & 0o777) == "0o700"
    close(opened)


def test_a_file_of_length_zero_is_as_good_as_none(tmp_path: Path) -> None:
    """A process that is killed in its first instants leaves one."""
    path = tmp_path / "state.sqlite"
    path.touch()

    opened = opened_now(path)

    assert (opened.loaded, opened.set_aside, opened.problem) == (Loaded(), "", "")
    close(opened)


# ---- damage: set aside and named, and a new one begun


def _random_bytes(path: Path) -> None:
    path.write_bytes(random.Random(7).randbytes(20_000))


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _empty_beside_its_log(path: Path) -> None:
    store = StateStore(path, StateLock(path))
    store.write(Changes(head=101))
    log = files_of(path)[1].read_bytes()
    store.close()
    os.truncate(path, 0)
    files_of(path)[1].write_bytes(log)


def _newer(path: Path) -> None:
    run_sql(path, f"PRAGMA user_version = {SCHEMA_VERSION + 1}")


def _of_something_else(path: Path) -> None:
    path.unlink()
    run_sql(path, "CREATE TABLE notes (text)")


def _without_a_table(path: Path) -> None:
    run_sql(path, "ALTER TABLE series RENAME COLUMN body TO content")


def _bad_body(path: Path) -> None:
    run_sql(path, "UPDATE series SET body = x'c1' WHERE id = 1")


def _bad_number(path: Path) -> None:
    run_sql(path, "UPDATE meta SET value = 'x'")


def _points_missing(path: Path) -> None:
    run_sql(path, "DELETE FROM points WHERE position = 50")


def _head_missing(path: Path) -> None:
    run_sql(path, "DELETE FROM meta")


def _metric_missing(path: Path) -> None:
    run_sql(path, "DELETE FROM metrics")


def _process_missing(path: Path) -> None:
    run_sql(path, "DELETE FROM producers")


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (_random_bytes, "file is not a database"),
        (lambda path: flip(path, 3), "file is not a database"),
        (_cut, "malformed"),
        (_empty_beside_its_log, "is empty although its log is not"),
        (
            _newer,
            "is of version 2, written by a newer nemo_telemetry_actor; this one knows up to 1",
        ),
        (_of_something_else, "is a database of something else"),
        (_without_a_table, "no such column"),
        (_bad_body, "is damaged"),
        (_bad_number, "is damaged"),
        (_points_missing, "points from 50 on are missing"),
        (_head_missing, "there are points up to 100, but 0 were counted"),
        (_metric_missing, "a metric of the points from 0 on is missing"),
        (_process_missing, "a process of a metric is missing"),
    ],
)
def test_a_damaged_or_strange_file_is_set_aside_whole_and_named(
    path: Path, spoil: Callable[[Path], None], why: str, caplog: pytest.LogCaptureFixture
) -> None:
    spoil(path)
    before = path.read_bytes()

    opened = opened_now(path)

    aside = path.with_name(ASIDE)
    assert opened.store is not None
    assert (opened.loaded, opened.is_loaded, opened.problem) == (Loaded(), True, "")
    assert why in opened.set_aside
    assert f"state file {path} " in opened.set_aside
    assert f"it is kept as {aside}, and a new state begins" in opened.set_aside
    assert [record.getMessage() for record in caplog.records] == [opened.set_aside]
    if spoil is not _empty_beside_its_log:
        assert len(aside.read_bytes()) == len(before)
    opened.store.write(CONTENT)
    close(opened)
    assert opened_now(path).set_aside == ""


@pytest.mark.parametrize("tenths", range(1, 10))
def test_a_file_that_was_cut_is_read_whole_or_set_aside(path: Path, tenths: int) -> None:
    whole = opened_now(path)
    close(whole)
    os.truncate(path, path.stat().st_size * tenths // 10 + 100)

    opened = opened_now(path)

    assert opened.loaded == (Loaded() if opened.set_aside else whole.loaded)
    close(opened)


@pytest.mark.parametrize("seed", range(40))
def test_a_flipped_byte_is_harmless_or_noticed_and_never_raises(path: Path, seed: int) -> None:
    flip(path, random.Random(seed).randrange(path.stat().st_size))

    opened = opened_now(path)

    assert opened.store is not None
    assert opened.problem == ""
    assert bool(opened.set_aside) == path.with_name(ASIDE).exists()
    close(opened)


def test_a_flipped_byte_in_the_log_ends_it_there_and_costs_no_commit_before_it(
    tmp_path: Path,
) -> None:
    path, copy = tmp_path / "state.sqlite", tmp_path / "copy.sqlite"
    store = StateStore(path, StateLock(path))
    store.write(Changes(head=1))
    middle = store.log_bytes
    store.write(Changes(head=2))
    for each, other in list(zip(files_of(path), files_of(copy), strict=True))[:2]:
        other.write_bytes(each.read_bytes())
    store.close()
    flip(files_of(copy)[1], middle + 100)

    opened = opened_now(copy)

    assert (opened.loaded.head, opened.set_aside) == (1, "")
    close(opened)


def test_files_set_aside_do_not_overwrite_each_other(path: Path) -> None:
    kept = []
    for i in range(3):
        path.write_bytes(b"no database %d" % i)
        opened = opened_now(path)
        close(opened)
        kept.append(path.with_name(f"state.sqlite.set-aside-{1_790_000_000 + i}"))

    assert [each.read_bytes() for each in kept] == [b"no database %d" % i for i in range(3)]


def test_the_log_is_set_aside_with_its_file(path: Path) -> None:
    files_of(path)[1].write_bytes(b"log")

    put_aside(path, "why", NOW)

    assert path.with_name(f"{ASIDE}-wal").read_bytes() == b"log"
    assert [each for each in files_of(path) if each.exists()] == []


# ---- trouble of the moment: nothing is set aside


def test_a_file_in_use_by_another_actor_is_left_alone(path: Path) -> None:
    before = path.read_bytes()

    with held_elsewhere(path) as process:
        opened = opened_now(path)

    assert opened.store is None
    assert (opened.loaded, opened.is_loaded, opened.set_aside) == (Loaded(), False, "")
    assert f"in use by process {process.pid}" in opened.problem
    assert path.read_bytes() == before


def test_a_directory_that_cannot_be_made_is_a_problem_and_no_exception(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    opened = opened_now(tmp_path / "file" / "state.sqlite")

    assert opened.store is None
    assert (opened.loaded, opened.is_loaded, opened.set_aside) == (Loaded(), True, "")
    assert "cannot be made, since its directory cannot be" in opened.problem


def test_a_path_that_is_a_directory_is_a_problem_and_no_exception(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    path.mkdir()

    opened = opened_now(path)

    assert (opened.store, opened.set_aside) == (None, "")
    assert "cannot be opened: " in opened.problem
    assert path.is_dir()


# ---- begun anew


def test_what_memory_does_not_hold_is_not_overwritten(path: Path) -> None:
    store, set_aside = open_anew(path, NOW, why_aside="it could not be read")

    assert "it could not be read; it is kept as " in set_aside
    assert store.load() == Loaded()
    store.close()
    assert opened_now(path.with_name(ASIDE)).loaded.runs == {"r": RUN}


def test_a_damaged_file_is_set_aside_before_a_new_one_is_begun(path: Path) -> None:
    path.write_bytes(b"no database at all")

    store, set_aside = open_anew(path, NOW, why_aside="")

    assert "file is not a database; it is kept as " in set_aside
    store.close()


def test_one_that_cannot_be_opened_lets_go_of_its_lock(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    path.mkdir()
    with pytest.raises(StateError):
        open_anew(path, NOW, why_aside="")
    path.rmdir()

    with held_elsewhere(path) as process:
        assert process.poll() is None
