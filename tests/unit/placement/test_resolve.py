# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import asyncio
import threading
from collections.abc import Mapping
from typing import Any

from nemo_telemetry_actor.placement.resolve import PlacementResolver
from nemo_telemetry_actor.placement.table import GroupNodes


class ScriptedTable:
    """Answers from rows; hangs at `hangs_at` until it is let go."""

    def __init__(self, rows: dict[str, Any], hangs_at: str = "") -> None:
        self.rows = rows
        self.hangs_at = hangs_at
        self.hangs = threading.Event()
        self.go_on = threading.Event()
        self.asked: list[str] = []
        self.threads: set[int] = set()

    def __call__(self, group_id: str) -> Mapping[str, Any]:
        self.asked.append(group_id)
        self.threads.add(threading.get_ident())
        if group_id == self.hangs_at:
            self.hangs.set()
            self.go_on.wait(20)
        row = self.rows[group_id]
        if isinstance(row, Exception):
            raise row
        assert isinstance(row, dict)
        return row


def _created(node_id: str) -> dict[str, Any]:
    return {"state": "CREATED", "bundles_to_node_id": {0: node_id}}


async def test_each_group_is_looked_up_once_in_one_other_thread() -> None:
    table = ScriptedTable({"a": _created("n1"), "b": _created("n2")})

    answers = await PlacementResolver(lookup=table).resolve(["a", "b"])

    assert answers == {
        "a": GroupNodes("CREATED", {0: "n1"}, is_settled=True),
        "b": GroupNodes("CREATED", {0: "n2"}, is_settled=True),
    }
    assert table.asked == ["a", "b"]
    assert len(table.threads) == 1
    assert threading.get_ident() not in table.threads


async def test_nothing_to_look_up_asks_nobody() -> None:
    table = ScriptedTable({})

    assert await PlacementResolver(lookup=table).resolve(frozenset()) == {}
    assert table.asked == []


async def test_an_error_costs_its_own_group_only() -> None:
    error = OSError("the control service is away")
    table = ScriptedTable({"a": error, "b": _created("n2"), "c": {"state": "CREATED"}})

    answers = await PlacementResolver(lookup=table).resolve(["a", "b", "c"])

    assert answers["a"] is error
    assert answers["b"] == GroupNodes("CREATED", {0: "n2"}, is_settled=True)
    assert isinstance(answers["c"], KeyError)


async def test_what_hangs_costs_itself_and_what_would_come_after_it() -> None:
    rows = {key: _created(key) for key in "abc"}
    table = ScriptedTable(rows, hangs_at="b")
    resolver = PlacementResolver(timeout_s=0.02, lookup=table)

    answers = await resolver.resolve(["a", "b", "c"])

    assert isinstance(answers["a"], GroupNodes)
    assert repr(answers["b"]) == "TimeoutError('Ray gave no answer within 0.02 s')"
    assert isinstance(answers["c"], TimeoutError)
    table.go_on.set()


async def test_a_lookup_that_hangs_is_joined_by_no_other() -> None:
    table = ScriptedTable({"a": _created("n1"), "b": _created("n2")}, hangs_at="a")
    resolver = PlacementResolver(timeout_s=0.02, lookup=table)
    await resolver.resolve(["a"])

    answers = await resolver.resolve(["b"])

    assert isinstance(answers["b"], TimeoutError)
    assert table.asked == ["a"]
    table.go_on.set()


async def test_the_next_question_waits_for_the_thread_of_one_that_was_given_up() -> None:
    table = ScriptedTable({"a": _created("n1"), "b": _created("n2")}, hangs_at="a")
    resolver = PlacementResolver(lookup=table)
    given_up = asyncio.create_task(resolver.resolve(["a", "b"]))
    assert await asyncio.to_thread(table.hangs.wait, 10)
    given_up.cancel()
    await asyncio.gather(given_up, return_exceptions=True)

    next_one = asyncio.create_task(resolver.resolve(["b"]))
    table.go_on.set()

    assert await next_one == {"b": GroupNodes("CREATED", {0: "n2"}, is_settled=True)}
    assert given_up.cancelled()
    assert table.asked == ["a", "b"]
