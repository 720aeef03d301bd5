# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
from typing import Any

import pytest

from nemo_telemetry_actor.placement.table import GroupNodes, read_table


def _row(state: str, **places: str) -> dict[str, Any]:
    nodes = {int(index.removeprefix("b")): node for index, node in places.items()}
    return {"state": state, "bundles_to_node_id": nodes, "name": "", "strategy": "PACK"}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (_row("CREATED", b0="n1", b1="n2"), GroupNodes("CREATED", {0: "n1", 1: "n2"}, True)),
        (_row("CREATED", b0="n1", b1=""), GroupNodes("CREATED", {0: "n1"}, False)),
        (_row("PENDING", b0=""), GroupNodes("PENDING", {}, False)),
        (_row("PREPARED", b0="n1"), GroupNodes("PREPARED", {}, False)),
        (_row("RESCHEDULING", b0="", b1="n2"), GroupNodes("RESCHEDULING", {1: "n2"}, False)),
        (_row("REMOVED", b0="n1"), GroupNodes("REMOVED", {}, True)),
        (_row("A_NEW_STATE", b0="n1"), GroupNodes("A_NEW_STATE", {}, False)),
        ({}, GroupNodes("UNKNOWN", {}, True)),
    ],
)
def test_only_bundles_that_are_on_a_node_have_one(
    row: dict[str, Any], expected: GroupNodes
) -> None:
    assert read_table(row) == expected


def test_only_a_removed_group_is_gone_for_good() -> None:
    assert read_table(_row("REMOVED", b0="n1")).is_removed
    assert not read_table({}).is_removed


@pytest.mark.parametrize("row", [{"state": "CREATED"}, {"bundles_to_node_id": {}}])
def test_a_table_of_another_shape_is_an_error(row: dict[str, Any]) -> None:
    with pytest.raises(KeyError):
        read_table(row)
