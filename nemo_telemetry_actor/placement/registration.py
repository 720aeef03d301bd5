# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What cannot be taken of what a client says of its worker groups."""

from typing import Final

from nemo_telemetry_actor.model.placement import check_group_name
from nemo_telemetry_actor.wire.messages import Registration

MAX_ID_CHARS: Final = 128
"""Longest id of a node or placement group; Ray's have 56 and 36 characters."""


def place_count(registration: Registration) -> int:
    """Return how many nodes and bundles a registration names."""
    return len(registration.node_ids) + len(registration.bundles)


def check_registration(registration: Registration) -> None:
    """Refuse a registration that no client of ours would send.

    Raises:
        ValueError: The name cannot stand in a label, both kinds of places are given, or an id is
            empty or longer than `MAX_ID_CHARS`.
    """
    prefix = check_group_name(registration.prefix)
    if registration.node_ids and registration.bundles:
        raise ValueError(f"worker group {prefix!r} has nodes and bundles; it takes one of the two")
    ids = [*registration.node_ids, *(group_id for group_id, _ in registration.bundles)]
    if not all(0 < len(each) <= MAX_ID_CHARS for each in ids):
        raise ValueError(
            f"worker group {prefix!r} has an id that is empty or longer than {MAX_ID_CHARS} "
            "characters"
        )
