# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The worker groups that this process vouches for, and whether the actor must hear of them."""

import threading
from collections.abc import Iterable
from typing import Any, cast

from nemo_telemetry_actor.model.placement import bundle_refs, check_group_name
from nemo_telemetry_actor.wire.messages import PlacementSet, Registration


class Placements:
    """What one client vouches for at present. Safe to call from any thread; asks nobody.

    The actor gets all of it whenever something changed, so that no message depends on another.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Guarded by _lock:
        self._registrations: dict[str, Registration] = {}
        self._sequence = 0
        self._is_news = False

    def register_bundles(self, name_prefix: str, bundles: Iterable[tuple[Any, int]]) -> None:
        """Vouch for a group on bundles of placement groups; replaces what was said of it.

        Raises:
            ValueError: See `check_group_name` and `bundle_refs`.
        """
        name = check_group_name(name_prefix)
        self._put(Registration(name, bundles=list(bundle_refs(bundles))))

    def register_nodes(self, name_prefix: str, node_ids: Iterable[str]) -> None:
        """Vouch for a group on nodes; replaces what was said of it.

        Raises:
            ValueError: See `check_group_name`; or a node id is no non-empty string.
        """
        name = check_group_name(name_prefix)
        nodes = list(dict.fromkeys(node_ids))
        if not all(isinstance(node, str) and node for node in cast("list[object]", nodes)):
            raise ValueError(f"node ids of {name!r} must be non-empty strings, as Ray has them")
        self._put(Registration(name, node_ids=nodes))

    def forget(self, name_prefix: str) -> None:
        """Vouch for a group no more; one that was never registered is fine."""
        with self._lock:
            if self._registrations.pop(name_prefix, None) is not None:
                self._note_news_locked()

    def take(self) -> PlacementSet | None:
        """Return the whole set if the actor must hear of it, else None."""
        with self._lock:
            if not self._is_news:
                return None
            self._is_news = False
            return PlacementSet(self._sequence, list(self._registrations.values()))

    def announce_again(self) -> None:
        """Let the set be taken again: what the actor knew of it went with the lease."""
        with self._lock:
            if self._registrations:
                self._note_news_locked()

    def _put(self, registration: Registration) -> None:
        with self._lock:
            self._registrations[registration.prefix] = registration
            self._note_news_locked()

    def _note_news_locked(self) -> None:
        self._sequence += 1
        self._is_news = True
