# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nemo_telemetry_actor.errors import StateError
from nemo_telemetry_actor.state.lock import StateLock
from nemo_telemetry_actor.state.rows import (
    Changes,
    GaugeBody,
    HistogramBody,
    Loaded,
    MetricBody,
    PointsBody,
    PointsRow,
    ProducerBody,
    RunBody,
    SeriesRow,
    SumBody,
    WindowBody,
)
from nemo_telemetry_actor.state.store import GoneStateError, StateStore, files_of

RUN = RunBody(5, None, "d", ["j"], {"rl.model": "m", "tp": 2})
PRODUCER = ProducerBody("r", "a" * 32, {"rank": 1}, is_closed=False, has_lease=True)
WINDOW = WindowBody(7, [9, 12], 100)
POINTS = PointsBody(1, b"\x90", 0, [1, 2], [0.5, float(2**60)])
LARGE = 2**63 - 1


def everything() -> Changes:
    return Changes(
        runs={"r": RUN},
        jobs={"j": "r"},
        producers={1: PRODUCER},
        windows={1: WINDOW},
        metrics={1: MetricBody(1, b"d", 3, [(b"\x90", 1, 2, 0.5)], [(b"\x90", 1, 0.5)])},
        series={
            1: SeriesRow(1, b"\x90", GaugeBody(LARGE, -0.0)),
            2: SeriesRow(1, b"\x91\x01", SumBody(1, 1e308)),
            3: SeriesRow(1, b"\x91\x02", HistogramBody(1, [LARGE, 0], LARGE, 1.5, 0.1, 2.0)),
        },
        points=[PointsRow(10, 2, [POINTS]), PointsRow(12, 4, [POINTS, POINTS])],
        cursors={"otlp": 11},
        head=16,
        time_unix_nano=LARGE,
    )


def opened(path: Path) -> StateStore:
    return StateStore(path, StateLock(path))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[StateStore]:
    store = opened(path)
    yield store
    store.close()


def pragma(store: StateStore, name: str) -> Any:
    (value,) = store._db.execute(f"PRAGMA {name}").fetchone()
    return value


# ---- what is written is read


def test_what_is_written_is_read_whole_after_a_close(path: Path) -> None:
    store = opened(path)
    store.write(everything())
    store.close()

    loaded = opened(path).load()

    changes = everything()
    assert loaded == Loaded(**{name: getattr(changes, name) for name in Loaded.__struct_fields__})
    assert loaded.first_position == 10


def test_a_new_file_holds_nothing(store: StateStore) -> None:
    assert store.load() == Loaded()
    assert store.load().first_position == 0


def test_a_later_body_replaces_the_earlier_one(store: StateStore) -> None:
    store.write(everything())
    ended = msgspec.structs.replace(RUN, ended_unix_nano=9)

    store.write(Changes(runs={"r": ended}, values={2: SumBody(1, 5.0)}))

    loaded = store.load()
    assert loaded.runs == {"r": ended}
    assert loaded.series[2] == SeriesRow(1, b"\x91\x01", SumBody(1, 5.0))


def test_a_forgotten_producer_takes_its_metrics_and_series_along(store: StateStore) -> None:
    store.write(Changes(producers={1: PRODUCER, 2: PRODUCER}, windows={1: WINDOW, 2: WINDOW}))
    store.write(Changes(metrics={n: MetricBody(n, b"d") for n in (1, 2)}))
    store.write(Changes(series={n: SeriesRow(n, b"", SumBody(1, 1.0)) for n in (1, 2)}))

    store.write(Changes(forgotten_producers=[1]))

    loaded = store.load()
    tables = (loaded.producers, loaded.windows, loaded.metrics, loaded.series)
    assert [set(table) for table in tables] == [{2}] * 4


def test_a_gone_producer_keeps_what_its_points_need(store: StateStore) -> None:
    store.write(everything())

    store.write(Changes(gone_producers=[1]))

    loaded = store.load()
    assert (set(loaded.metrics), set(loaded.series)) == ({1}, set())


def test_a_forgotten_run_takes_its_jobs_along(store: StateStore) -> None:
    store.write(Changes(runs={"r": RUN, "s": RUN}, jobs={"j": "r", "k": "s"}))

    store.write(Changes(forgotten_runs=["r"]))

    loaded = store.load()
    assert (set(loaded.runs), loaded.jobs) == ({"s"}, {"k": "s"})


def test_a_run_that_is_forgotten_and_opened_again_in_one_commit_is_there(store: StateStore) -> None:
    store.write(Changes(runs={"r": RUN}, jobs={"j": "r"}))
    again = msgspec.structs.replace(RUN, opened_unix_nano=99)

    store.write(Changes(forgotten_runs=["r"], runs={"r": again}, jobs={"j": "r"}))

    assert (store.load().runs, store.load().jobs) == ({"r": again}, {"j": "r"})


@pytest.mark.parametrize(
    ("delivered", "left"), [(10, [10, 12]), (11, [10, 12]), (12, [12]), (15, [12]), (16, [])]
)
def test_a_row_of_points_goes_when_all_of_it_is_delivered(
    store: StateStore, delivered: int, left: list[int]
) -> None:
    store.write(everything())

    store.write(Changes(delivered=delivered))

    loaded = store.load()
    assert [row.position for row in loaded.points] == left
    assert (loaded.head, loaded.first_position) == (16, left[0] if left else 16)


def test_a_file_begun_anew_has_nothing_of_before(store: StateStore) -> None:
    store.write(everything())

    store.rewrite(Changes(runs={"s": RUN}, head=99))

    assert store.load() == Loaded(runs={"s": RUN}, head=99)


def test_a_write_that_fails_half_way_writes_nothing(store: StateStore) -> None:
    store.write(everything())
    before = store.load()
    too_large = Changes(runs={"s": RUN}, points=[PointsRow(2**70, 0, [])])

    with pytest.raises(OverflowError):
        store.write(too_large)

    assert store.load() == before
    store.write(Changes(head=17))  # and the next one goes well
    assert store.load().head == 17


# ---- the file


def test_only_the_owner_may_read_the_files(tmp_path: Path) -> None:
    path = tmp_path / "loose.sqlite"
    path.touch(0o644)

    store = opened(path)
    store.write(everything())

    modes = {each.name: oct(each.stat().st_mode & 0o777) for each in tmp_path.iterdir()}
    store.close()
    assert set(modes) == {f"loose.sqlite{end}" for end in ("", "-wal", "-shm", ".lock")}
    assert set(modes.values()) == {"0o600"}


def test_space_can_be_given_back(store: StateStore) -> None:
    assert (pragma(store, "auto_vacuum"), pragma(store, "journal_mode")) == (2, "wal")


def test_the_file_shrinks_again_when_points_are_delivered(path: Path, store: StateStore) -> None:
    many = PointsBody(1, b"", 0, [10**18 + i for i in range(1000)], [0.1] * 1000)
    store.write(everything())
    for i in range(300):
        store.write(Changes(points=[PointsRow(16 + 1000 * i, 1000, [many])]))
    store.compact()
    full = path.stat().st_size

    store.write(Changes(delivered=16 + 300_000))
    store.compact()
    store.compact()

    assert full > 5_000_000
    assert path.stat().st_size < 200_000
    assert pragma(store, "freelist_count") == 0


def test_the_log_does_not_grow_while_it_is_compacted_between_writes(store: StateStore) -> None:
    many = PointsBody(1, b"", 0, [10**18 + i for i in range(1000)], [0.1] * 1000)
    sizes = []
    for i in range(400):
        delivered = 1000 * max(0, i - 10)
        store.write(Changes(points=[PointsRow(1000 * i, 1000, [many])], delivered=delivered))
        if i % 10 == 9:
            store.compact()
            sizes.append(store.log_bytes)

    assert max(sizes) < 1_500_000
    assert store.size_bytes < 3_000_000


def test_a_reader_that_lingers_neither_blocks_writes_nor_is_hurt(
    path: Path, store: StateStore
) -> None:
    store.write(everything())
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        count = "SELECT count(*) FROM points"
        assert reader.execute(count).fetchone() == (2,)

        store.write(Changes(delivered=16))
        store.compact()

        assert reader.execute(count).fetchone() == (2,)
        reader.execute("COMMIT")
        assert reader.execute(count).fetchone() == (0,)


def test_someone_who_locks_the_file_costs_a_state_error(path: Path, store: StateStore) -> None:
    store._db.execute("PRAGMA busy_timeout = 1")
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        with pytest.raises(StateError, match=r"cannot be written: database is locked"):
            store.write(everything())

        other.execute("ROLLBACK")
    store.write(everything())
    assert store.load().head == 16


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.unlink(),
        lambda path: path.rename(path.with_name("elsewhere")),
        lambda path: path.with_name("new").write_bytes(b"") or path.with_name("new").rename(path),
    ],
    ids=["removed", "moved", "replaced"],
)
def test_a_file_that_is_not_at_its_path_any_more_is_noticed(
    path: Path, store: StateStore, spoil: Callable[[Path], object]
) -> None:
    store.check_present()

    spoil(path)

    with pytest.raises(GoneStateError, match=r"state\.sqlite was removed or replaced"):
        store.check_present()
    assert store.size_bytes >= 0


def test_compacting_makes_no_new_file_where_one_was_removed(path: Path, store: StateStore) -> None:
    path.unlink()

    with pytest.raises(StateError, match=r"cannot be compacted: unable to open"):
        store.compact()

    assert not path.exists()


def test_nothing_is_left_of_a_file_that_is_removed(path: Path) -> None:
    store = opened(path)
    store.write(everything())

    store.close(remove=True)

    assert [each for each in files_of(path) if each.exists()] == []
