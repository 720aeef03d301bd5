# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The two kinds of rows that a vocabulary holds, and the registry key that both derive."""

import msgspec

from nemo_telemetry_actor.model.instrument import InstrumentKind, MetricSpec


def registry_key(name: str) -> str:
    """Return what `record` calls a series: its name without `rl.`, dots as underscores.

    Raises:
        ValueError: The result is no Python identifier, so it could not be a keyword of `record`.
    """
    key = name.removeprefix("rl.").replace(".", "_")
    if not key.isidentifier():
        raise ValueError(
            f"series {name!r} gives the registry key {key!r}, which is no Python identifier; "
            "after an optional 'rl.' start with a letter and use letters, digits, '_' and '.' only"
        )
    return key


class TeedMetric(msgspec.Struct, frozen=True):
    """A series whose values are taken from a logger dict.

    Args:
        logger_key: The exact key in the dict, slashes included.
        name: Name of the series.
        kind: A synchronous instrument kind. A counter is fed deltas.
        unit: UCUM unit or annotation; empty for none.
        description: One sentence for people.

    Raises:
        ValueError: A field breaks a rule of `MetricSpec` or `registry_key`, or `logger_key` is
            no non-empty string.
    """

    logger_key: str
    name: str
    kind: InstrumentKind = "gauge"
    unit: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        key: object = self.logger_key
        if not isinstance(key, str) or not key:
            raise ValueError(f"TeedMetric.logger_key must be a non-empty string, got {key!r}")
        self.spec()

    @property
    def registry_key(self) -> str:
        """What `record` calls it."""
        return registry_key(self.name)

    def spec(self) -> MetricSpec:
        """Return the metric that the row declares."""
        return MetricSpec(self.registry_key, self.name, self.kind, self.unit, self.description)


class RecordedMetric(msgspec.Struct, frozen=True):
    """A series whose values are recorded directly, by the code that has them.

    Args:
        name: Name of the series.
        kind: A synchronous instrument kind.
        unit: UCUM unit or annotation; empty for none.
        description: One sentence for people.
        boundaries: Upper bounds of the buckets, for a histogram; the specification's default
            when left out.

    Raises:
        ValueError: A field breaks a rule of `MetricSpec` or `registry_key`.
    """

    name: str
    kind: InstrumentKind = "gauge"
    unit: str = ""
    description: str = ""
    boundaries: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        self.spec()

    @property
    def registry_key(self) -> str:
        """What `record` calls it."""
        return registry_key(self.name)

    def spec(self) -> MetricSpec:
        """Return the metric that the row declares."""
        return MetricSpec(
            self.registry_key,
            self.name,
            self.kind,
            self.unit,
            self.description,
            boundaries=self.boundaries,
        )
