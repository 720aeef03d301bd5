# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The label that names the worker groups of a host."""

from collections.abc import Iterable, Mapping

from nemo_telemetry_actor.model.placement import LABEL_SEPARATOR, NO_WORKER_GROUPS


def worker_groups_label(node_ids: Iterable[str], groups: Mapping[str, frozenset[str]]) -> str:
    """Name the groups resident on any of the nodes, sorted and comma-joined, or `none`."""
    here = frozenset(node_ids)
    resident = sorted(name for name, nodes in groups.items() if not nodes.isdisjoint(here))
    return LABEL_SEPARATOR.join(resident) or NO_WORKER_GROUPS
