# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The placement map: which worker group sits on which nodes, by run, and who vouches for it."""

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from nemo_telemetry_actor.errors import DropReason
from nemo_telemetry_actor.placement.registration import check_registration, place_count
from nemo_telemetry_actor.placement.table import Answer, GroupNodes
from nemo_telemetry_actor.wire.messages import PlacementSet, Registration

_log = logging.getLogger("nemo_telemetry_actor")

REGISTRATIONS_PER_RUN: Final = 4096
"""Worker groups of one run at most, each counted once for every client that vouches for it."""

PLACES_PER_RUN: Final = 1_048_576
"""Nodes and bundles that the registrations of one run name at most."""

_WARNINGS_PER_RUN: Final = 100
_MAX_WHY_CHARS: Final = 300


class PlacementMap:
    """What clients vouch for, joined with what Ray says of their placement groups.

    Owned by one event loop; asks nobody and waits for nothing. A registration holds as long as its
    client vouches for it. Where two clients of one run vouch for one name, the group is on the
    nodes of both: each knows only what it built itself, so that neither can speak for the other's
    nodes, whatever the order in which they were heard. What a killed client leaves behind ends
    with its lease and not before: Ray keeps a placement group that an actor made until the actor's
    job has ended too.

    Args:
        registrations_per_run: See `REGISTRATIONS_PER_RUN`.
        places_per_run: See `PLACES_PER_RUN`. A registration that does not fit is refused whole.
    """

    def __init__(
        self,
        *,
        registrations_per_run: int = REGISTRATIONS_PER_RUN,
        places_per_run: int = PLACES_PER_RUN,
    ) -> None:
        self._registrations_per_run = registrations_per_run
        self._places_per_run = places_per_run
        self._runs: dict[str, dict[str, _Vouched]] = {}
        # Placement groups that a registration names: by how many, and what Ray last said of each.
        self._uses: Counter[str] = Counter()
        self._answers: dict[str, Answer] = {}
        self._warned: dict[str, set[str]] = {}
        self.refused: Counter[DropReason] = Counter()

    # ---- what clients vouch for

    def replace(self, run_id: str, client_id: str, placement_set: PlacementSet) -> bool:
        """Take a client's newer set whole, except for what is wrong in it.

        To be called only for a client that has its lease: nothing else would end the set.

        Returns:
            False when the set is not newer than the one that is there, which then stays.
        """
        clients = self._runs.setdefault(run_id, {})
        known = clients.get(client_id)
        if known is not None and placement_set.sequence <= known.placement_set.sequence:
            return False
        others = [each.placement_set for key, each in clients.items() if key != client_id]
        kept = self._admitted(run_id, placement_set.registrations, others)
        # Also when nothing is kept: the sequence must stand against older sets.
        newer = _Vouched(PlacementSet(placement_set.sequence, kept))
        self._uses.update(newer.group_ids())
        clients[client_id] = newer
        if known is not None:
            self._release(known)
        return True

    def drop_client(self, client_id: str) -> None:
        """End what a client vouches for; one that vouches for nothing is fine."""
        for run_id, clients in list(self._runs.items()):
            vouched = clients.pop(client_id, None)
            if vouched is not None:
                self._release(vouched)
            if not clients:
                del self._runs[run_id]

    def clients(self) -> frozenset[str]:
        """Return every client that vouches for something, or has a set here."""
        return frozenset(key for clients in self._runs.values() for key in clients)

    def drop_run(self, run_id: str) -> None:
        """End what all clients of a run vouch for; an unknown run is fine."""
        for vouched in self._runs.pop(run_id, {}).values():
            self._release(vouched)
        self._warned.pop(run_id, None)

    def sets(self, run_id: str) -> dict[str, PlacementSet]:
        """Return what is in force, by client; for the state file and the status page."""
        return {key: each.placement_set for key, each in self._runs.get(run_id, {}).items()}

    def vouched_by(self, run_id: str, client_id: str) -> PlacementSet | None:
        """Return what one client vouches for in a run."""
        vouched = self._runs.get(run_id, {}).get(client_id)
        return None if vouched is None else vouched.placement_set

    # ---- what Ray says of placement groups

    def pending_groups(self) -> frozenset[str]:
        """Return the placement groups, each once, whose nodes are not or not all known yet."""
        return frozenset(key for key in self._uses if not _is_settled(self._answers.get(key)))

    def changeable_groups(self) -> frozenset[str]:
        """Return the placement groups, each once, of which Ray may say something else by now.

        These are all but the removed ones: a group is removed without a word to anybody.
        """
        return frozenset(key for key in self._uses if not _is_removed(self._answers.get(key)))

    def resolved(self, group_id: str, answer: Answer) -> None:
        """Take the newest answer about a placement group; nothing of an older one stays.

        Where the lookup failed, the group's registrations name no node until one succeeds: a
        label that may be false is worse than none. That is logged once, until one succeeds.
        """
        if group_id not in self._uses:
            return  # nobody vouches for it any more
        if isinstance(answer, Exception) and not isinstance(self._answers.get(group_id), Exception):
            _log.warning(
                "placement group %s could not be looked up, so that worker groups %s are left out "
                "of rl.worker_groups until it can be: %r",
                group_id,
                ", ".join(self._names_using(group_id)),
                answer,
            )
        self._answers[group_id] = answer

    # ---- what labels are made of

    def groups(self, run_id: str) -> dict[str, frozenset[str]]:
        """Return every worker group of a run with the nodes it is on: none, or some that died."""
        found: dict[str, set[str]] = {}
        for vouched in self._runs.get(run_id, {}).values():
            for prefix, places in vouched.places.items():
                found.setdefault(prefix, set()).update(places.node_ids(self._answers))
        return {prefix: frozenset(nodes) for prefix, nodes in found.items()}

    # ---- inside

    def _admitted(
        self, run_id: str, registrations: Sequence[Registration], others: Sequence[PlacementSet]
    ) -> list[Registration]:
        """Return what of a set can be taken beside what others vouch for; the last of one name."""
        count = sum(len(each.registrations) for each in others)
        places = sum(place_count(each) for other in others for each in other.registrations)
        kept: list[Registration] = []
        for registration in {each.prefix: each for each in registrations}.values():
            try:
                check_registration(registration)
            except ValueError as error:
                self._refuse(run_id, "bad_value", str(error))
                continue
            size = place_count(registration)
            if count >= self._registrations_per_run or places + size > self._places_per_run:
                self._refuse(
                    run_id,
                    "cardinality_limit",
                    f"worker group {registration.prefix!r}: one run registers at most "
                    f"{self._registrations_per_run} groups on {self._places_per_run} places in all",
                )
                continue
            count, places = count + 1, places + size
            kept.append(registration)
        return kept

    def _refuse(self, run_id: str, reason: DropReason, why: str) -> None:
        self.refused[reason] += 1
        warned = self._warned.setdefault(run_id, set())
        # What the text quotes comes from outside and may be of any length.
        why = why[:_MAX_WHY_CHARS]
        if why not in warned and len(warned) < _WARNINGS_PER_RUN:
            warned.add(why)
            _log.warning(
                "a worker group of run %s is left out of rl.worker_groups (%s): %s",
                run_id,
                reason,
                why,
            )

    def _release(self, vouched: "_Vouched") -> None:
        self._uses.subtract(vouched.group_ids())
        for group_id in vouched.group_ids():
            if not self._uses[group_id]:
                del self._uses[group_id]
                self._answers.pop(group_id, None)

    def _names_using(self, group_id: str) -> list[str]:
        return sorted(
            {
                prefix
                for clients in self._runs.values()
                for vouched in clients.values()
                for prefix, places in vouched.places.items()
                if group_id in places.bundles
            }
        )


class _Places:
    """The places of one registration, its bundles by placement group."""

    __slots__ = ("bundles", "nodes")

    def __init__(self, registration: Registration) -> None:
        self.nodes = frozenset(registration.node_ids)
        self.bundles: dict[str, set[int]] = {}
        for group_id, index in registration.bundles:
            self.bundles.setdefault(group_id, set()).add(index)

    def node_ids(self, answers: Mapping[str, Answer]) -> Iterator[str]:
        """Yield the nodes; what is not known to be on one, and unknown indexes, yield nothing."""
        yield from self.nodes
        for group_id, indexes in self.bundles.items():
            answer = answers.get(group_id)
            if isinstance(answer, GroupNodes):
                nodes = map(answer.node_ids.get, indexes)
                yield from (node for node in nodes if node is not None)


class _Vouched:
    """What one client vouches for at present."""

    __slots__ = ("placement_set", "places")

    def __init__(self, placement_set: PlacementSet) -> None:
        self.placement_set = placement_set
        self.places = {each.prefix: _Places(each) for each in placement_set.registrations}

    def group_ids(self) -> frozenset[str]:
        return frozenset(key for places in self.places.values() for key in places.bundles)


def _is_settled(answer: Answer | None) -> bool:
    return isinstance(answer, GroupNodes) and answer.is_settled


def _is_removed(answer: Answer | None) -> bool:
    return isinstance(answer, GroupNodes) and answer.is_removed
