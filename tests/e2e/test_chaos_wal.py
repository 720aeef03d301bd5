# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""How the chaos runs know that a kill came in the middle of a commit."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.chaos.wal import holds_unfinished_commit


@pytest.fixture
def database(tmp_path: Path) -> Iterator[tuple[Path, sqlite3.Connection]]:
    path = tmp_path / "state.sqlite"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA wal_autocheckpoint = 0")
        db.execute("CREATE TABLE t (a)")
        yield path, db


def test_a_finished_commit_is_none(database: tuple[Path, sqlite3.Connection]) -> None:
    path, db = database

    db.execute("INSERT INTO t VALUES (zeroblob(20000))")

    assert not holds_unfinished_commit(path)


def test_pages_written_before_the_commit_are_one_until_others_take_their_place(
    database: tuple[Path, sqlite3.Connection],
) -> None:
    path, db = database
    db.execute("PRAGMA cache_size = 5")  # so small that pages are written before the commit

    db.execute("BEGIN")
    db.execute("INSERT INTO t VALUES (zeroblob(200000))")
    amid = holds_unfinished_commit(path)
    db.execute("ROLLBACK")
    db.execute("INSERT INTO t VALUES (1)")

    assert amid
    assert not holds_unfinished_commit(path)


def test_no_log_holds_none(tmp_path: Path) -> None:
    assert not holds_unfinished_commit(tmp_path / "state.sqlite")
