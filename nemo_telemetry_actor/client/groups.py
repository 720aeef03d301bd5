# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Metric groups of one client: what may be recorded, and under which key.

The rules are those of NeMo Lens' registry: declaring wrongly raises, recording never does.
"""

import threading
from collections.abc import Iterable, Mapping
from typing import Final

from nemo_telemetry_actor.model.instrument import (
    Declaration,
    MetricSpec,
    Scope,
    declaration_of,
    is_observable,
)
from nemo_telemetry_actor.model.naming import check_unique
from nemo_telemetry_actor.wire.messages import encode

SELF_GROUP: Final = "nemo_telemetry"
"""The group of the client's own metrics; reserved."""

NONFINITE: Final = MetricSpec(
    "nonfinite",
    "nemo_telemetry.nonfinite",
    "counter",
    "{measurement}",
    "Values that were NaN or infinite, by the metric they were recorded for.",
)
CLIENT_DROPPED: Final = MetricSpec(
    "dropped",
    "nemo_telemetry.client.dropped",
    "counter",
    "{measurement}",
    "Measurements that a client lost, by reason.",
)


class BoundMetric:
    """A spec with all that recording needs computed once. Compared by identity."""

    __slots__ = (
        "attribute_sets",
        "boundaries",
        "declaration",
        "encoded",
        "is_counter",
        "is_gauge",
        "is_observable",
        "spec",
    )

    def __init__(self, spec: MetricSpec, scope: Scope) -> None:
        self.spec = spec
        self.declaration: Declaration = declaration_of(spec, scope)
        self.encoded: bytes = encode(self.declaration)
        self.boundaries = self.declaration.boundaries
        self.is_observable = is_observable(spec.kind)
        self.is_gauge = spec.kind == "gauge"
        self.is_counter = spec.kind == "counter"
        # Distinct attribute sets seen, so that their number can be bounded; owned by the fold.
        self.attribute_sets: set[bytes] = set()


class BoundGroup:
    """A registered group; immutable, so that a buffered entry keeps the group it was meant for."""

    __slots__ = ("metrics", "name", "specs")

    def __init__(self, name: str, specs: tuple[MetricSpec, ...], scope: Scope) -> None:
        self.name = name
        self.specs = specs
        self.metrics = {spec.key: BoundMetric(spec, scope) for spec in specs}


class GroupRegistry:
    """The groups of one client. Safe to call from any thread.

    `groups` is replaced, never changed, so that `record` reads it without a lock.
    """

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._lock = threading.Lock()
        self.own = BoundGroup(SELF_GROUP, (NONFINITE, CLIENT_DROPPED), scope)
        self.groups: Mapping[str, BoundGroup] = {SELF_GROUP: self.own}

    def register(
        self, group: str, specs: Iterable[MetricSpec], *, allow_override: bool = False
    ) -> BoundGroup:
        """Declare a group.

        Raises:
            ValueError: The name is empty or reserved; there are no specs; two share a key; the
                group exists and `allow_override` is false; or two specs, here or in another
                group, would share a name without being the same metric.
        """
        specs = tuple(specs)
        self._check_group(group, specs)
        bound = BoundGroup(group, specs, self._scope)
        with self._lock:
            if group in self.groups and not allow_override:
                raise ValueError(
                    f"metric group {group!r} is registered already; pass allow_override=True to "
                    "replace it"
                )
            others = [other for name, other in self.groups.items() if name != group]
            check_unique(
                metric.declaration for each in (*others, bound) for metric in each.metrics.values()
            )
            self.groups = {**self.groups, group: bound}
        return bound

    def unregister(self, group: str) -> None:
        """Forget a group.

        Raises:
            ValueError: There is none of this name.
        """
        with self._lock:
            if group not in self.groups or group == SELF_GROUP:
                raise ValueError(f"metric group {group!r} is not registered")
            self.groups = {name: each for name, each in self.groups.items() if name != group}

    def registered(self) -> dict[str, tuple[MetricSpec, ...]]:
        """Return a copy: group name to its specs, in order of declaration."""
        return {name: each.specs for name, each in self.groups.items() if name != SELF_GROUP}

    def observables(self) -> list[BoundMetric]:
        """Return every metric that a callback feeds."""
        return [
            metric
            for group in self.groups.values()
            for metric in group.metrics.values()
            if metric.is_observable
        ]

    def renew_lock(self) -> None:
        """Replace the lock, which another thread of a parent process may have held at a fork."""
        self._lock = threading.Lock()

    @staticmethod
    def _check_group(group: str, specs: tuple[MetricSpec, ...]) -> None:
        if not group:
            raise ValueError("metric group name must be a non-empty string")
        if group == SELF_GROUP:
            raise ValueError(f"metric group name {group!r} is reserved; choose another")
        if not specs:
            raise ValueError(f"metric group {group!r} has no specs; declare at least one metric")
        keys: set[str] = set()
        for spec in specs:
            if spec.key in keys:
                raise ValueError(f"metric group {group!r} has a duplicate key {spec.key!r}")
            keys.add(spec.key)
