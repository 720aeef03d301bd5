# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What a client says of its worker groups, and what of it cannot be taken."""

from typing import Final

import msgspec

from nemo_telemetry_actor.placement.label import check_group_name

MAX_ID_CHARS: Final = 128
"""Longest id of a node or placement group; Ray's have 56 and 36 characters."""


class Registration(msgspec.Struct, frozen=True, array_like=True):
    """One worker group's places: nodes by id, or bundles whose nodes the actor looks up.

    Args:
        prefix: The worker group's name.
        node_ids: Ray node ids in hex.
        bundles: Placement group ids in hex, each with the index of one bundle.
    """

    prefix: str
    node_ids: list[str] = []
    bundles: list[tuple[str, int]] = []


class PlacementSet(msgspec.Struct, frozen=True, array_like=True):
    """Every worker group that one client vouches for at present; replaces the set before it.

    `sequence` orders the sets of one client: batches may arrive out of order, and an older set
    never replaces a newer one. A client without groups sends an empty set, once.
    """

    sequence: int
    registrations: list[Registration]


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
