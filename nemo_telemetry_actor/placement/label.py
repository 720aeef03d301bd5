# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The label that names the worker groups of a host, and the names it can hold."""

from collections.abc import Iterable, Mapping
from typing import Final

NO_WORKER_GROUPS: Final = "none"
"""The label of a host on which no worker group is resident."""

MAX_GROUP_NAME_CHARS: Final = 128

_SEPARATOR: Final = ","


def worker_groups_label(node_ids: Iterable[str], groups: Mapping[str, frozenset[str]]) -> str:
    """Name the groups resident on any of the nodes, sorted and comma-joined, or `none`."""
    here = frozenset(node_ids)
    resident = sorted(name for name, nodes in groups.items() if not nodes.isdisjoint(here))
    return _SEPARATOR.join(resident) or NO_WORKER_GROUPS


def check_group_name(name: object) -> str:
    """Return a worker group's name, when a label that holds it can be read back.

    Raises:
        ValueError: It is no string, empty, `none`, longer than `MAX_GROUP_NAME_CHARS`, or holds
            a comma, space at an end, or a character that cannot be printed.
    """
    if not isinstance(name, str) or not name:
        raise ValueError(f"worker group name must be a non-empty string, got {name!r:.200}")
    if len(name) > MAX_GROUP_NAME_CHARS:
        raise ValueError(
            f"worker group name {name[:20]!r}… has {len(name)} characters; at most "
            f"{MAX_GROUP_NAME_CHARS} fit"
        )
    if name == NO_WORKER_GROUPS:
        raise ValueError(
            f"worker group name {name!r} is what a host without groups is labelled; choose another"
        )
    if _SEPARATOR in name:
        raise ValueError(
            f"worker group name {name!r} holds a comma, which parts the groups of one host in "
            "rl.worker_groups; choose a name without"
        )
    if name != name.strip():
        raise ValueError(f"worker group name {name!r} begins or ends with a space; strip it")
    if not name.isprintable():
        raise ValueError(f"worker group name {name!r} holds a character that cannot be printed")
    return name
