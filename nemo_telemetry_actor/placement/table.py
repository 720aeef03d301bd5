# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What Ray's placement-group table says of one group, reduced to where its bundles are."""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import msgspec

UNKNOWN: Final = "UNKNOWN"
"""State of a group that Ray does not know; the other states are Ray's own words."""

# In every other state Ray's node ids are not to be believed: REMOVED keeps the old ones.
_STATES_WITH_NODES: Final = frozenset({"CREATED", "RESCHEDULING"})


class GroupNodes(msgspec.Struct, frozen=True):
    """Where the bundles of one placement group are.

    Args:
        state: `CREATED`, `PENDING`, `PREPARED`, `RESCHEDULING`, `REMOVED` or `UNKNOWN`.
        node_ids: Bundle index to node id, of those bundles that are on a node.
        is_settled: Whether the same question is answered the same until a node dies or somebody
            removes the group.
    """

    state: str
    node_ids: Mapping[int, str]
    is_settled: bool

    @property
    def is_removed(self) -> bool:
        """Whether the group is gone for good; Ray gives no id twice."""
        return self.state == "REMOVED"


Answer: TypeAlias = GroupNodes | Exception
"""Of one lookup: where the bundles are, or why that is not known."""


def read_table(row: Mapping[str, Any]) -> GroupNodes:
    """Read one group's entry of Ray's table; an empty one means that there is no such group.

    Raises:
        KeyError: A group without state or bundles: not a table that this build knows.
    """
    if not row:
        return GroupNodes(UNKNOWN, {}, is_settled=True)
    state, places = row["state"], row["bundles_to_node_id"]
    if state not in _STATES_WITH_NODES:
        return GroupNodes(state, {}, is_settled=state == "REMOVED")
    node_ids = {index: node_id for index, node_id in places.items() if node_id}
    return GroupNodes(
        state, node_ids, is_settled=state == "CREATED" and len(node_ids) == len(places)
    )
