# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""From a logger dict to values of the catalogue's group, declared when first needed."""

from collections.abc import Iterator, Mapping
from typing import Any

from nemo_telemetry_actor.catalogue.vocabulary import GROUP_NAME, Vocabulary, group_specs
from nemo_telemetry_actor.client.groups import BoundGroup, GroupRegistry
from nemo_telemetry_actor.client.guard import Guard
from nemo_telemetry_actor.tee.rules import TeeRules


class Teeing:
    """Declares the vocabulary's group, once, and applies its rules to logger dicts.

    When the group cannot be declared the tee is off for good: what it collides with does not go
    away, and a try at every step would cost the training thread.

    Args:
        groups: Where the group is declared.
        vocabulary: What is looked for.
        guard: Counts and logs a family that fails.
    """

    def __init__(self, groups: GroupRegistry, vocabulary: Vocabulary, guard: Guard) -> None:
        self._guard = guard
        self._groups = groups
        self._vocabulary = vocabulary
        self._rules: TeeRules | None = None
        self._is_off = False

    def rows(
        self, metrics: Mapping[str, Any], prefix: str
    ) -> Iterator[tuple[BoundGroup, dict[str, float], Mapping[str, str] | None]]:
        """Yield what `record` would be given; a family that fails costs only itself.

        Raises:
            ValueError: The group cannot be declared; only the first time.
        """
        if self._is_off:
            return
        rules = self._rules or self._declare()
        bound = self._groups.groups[GROUP_NAME]
        for family in rules.families(prefix):
            try:
                rows = family(metrics)
            except Exception as error:
                if self._guard.strict:
                    raise
                self._guard.drop("bad_value")
                self._guard.failed(f"tee of {family.name}", error)
                continue
            for numbers, attributes in rows:
                yield bound, numbers, attributes

    def _declare(self) -> TeeRules:
        if GROUP_NAME not in self._groups.groups:
            try:
                specs = group_specs(self._vocabulary)
                self._groups.register(GROUP_NAME, specs, allow_override=True)
            except ValueError:
                self._is_off = True
                raise
            self._vocabulary.freeze()
        self._rules = TeeRules(self._vocabulary)
        return self._rules
