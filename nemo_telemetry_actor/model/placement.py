# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Worker groups as a client speaks of them: their names, and their bundles as ids, without Ray."""

import operator
from collections.abc import Iterable
from typing import Any, Final, TypeAlias

BundleRef: TypeAlias = tuple[str, int]
"""A placement group's id in hex and the index of one of its bundles."""

MAX_BUNDLE_INDEX: Final = 2**31 - 1

NO_WORKER_GROUPS: Final = "none"
"""The label of a host on which no worker group is resident."""

MAX_GROUP_NAME_CHARS: Final = 128

LABEL_SEPARATOR: Final = ","
"""What parts the groups of one host in `rl.worker_groups`."""

_HEX_DIGITS: Final = frozenset("0123456789abcdef")


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
    if LABEL_SEPARATOR in name:
        raise ValueError(
            f"worker group name {name!r} holds a comma, which parts the groups of one host in "
            "rl.worker_groups; choose a name without"
        )
    if name != name.strip():
        raise ValueError(f"worker group name {name!r} begins or ends with a space; strip it")
    if not name.isprintable():
        raise ValueError(f"worker group name {name!r} holds a character that cannot be printed")
    return name


def bundle_refs(bundles: Iterable[tuple[Any, int]]) -> tuple[BundleRef, ...]:
    """Return what the actor needs of (placement group, bundle index) pairs.

    Nobody is asked where a bundle is: it may still wait for a node. The same bundle named twice
    is kept once, in the order of first mention. One bad pair makes the whole wrong, since a group
    that is named on some of its hosts only would be a false statement about the others.

    Args:
        bundles: Pairs of a `ray.util.placement_group.PlacementGroup` and an index from 0.

    Raises:
        ValueError: It is no iterable of pairs, a group is none or Ray's empty one, or an index is
            no whole number from 0 (-1, Ray's "any bundle", does not say where).
    """
    try:
        pairs = [(group, index) for group, index in bundles]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"bundles must be pairs (placement group, bundle index): {error}"
        ) from error
    return tuple(
        dict.fromkeys(
            (_group_id(at, group), _bundle_index(at, index))
            for at, (group, index) in enumerate(pairs)
        )
    )


def _group_id(at: int, group: Any) -> str:
    hex_of = getattr(getattr(group, "id", None), "hex", None)
    group_id = hex_of() if callable(hex_of) else None
    if not isinstance(group_id, str) or not group_id or not _HEX_DIGITS.issuperset(group_id):
        raise ValueError(
            f"bundles[{at}] has a {type(group).__name__} where a placement group is wanted; for "
            "workers without one use register_worker_group_nodes()"
        )
    if set(group_id) == {"f"}:  # Ray's nil id
        raise ValueError(
            f"bundles[{at}] has Ray's empty placement group, which is on no node; for workers "
            "without one use register_worker_group_nodes()"
        )
    return group_id


def _bundle_index(at: int, index: Any) -> int:
    try:
        whole = operator.index(index)  # takes numpy's integers too
    except TypeError:
        whole = None
    if whole is None or isinstance(index, bool):
        raise ValueError(f"bundles[{at}] has bundle index {index!r:.200}; it must be an integer")
    if not 0 <= whole <= MAX_BUNDLE_INDEX:
        raise ValueError(
            f"bundles[{at}] has bundle index {whole}; it must be from 0 to {MAX_BUNDLE_INDEX}"
        )
    return whole
