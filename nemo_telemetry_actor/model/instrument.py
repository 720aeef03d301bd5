# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What a metric is: the spec a user writes, and the declaration that travels."""

import itertools
import math
import re
from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, TypeAlias, get_args

import msgspec

InstrumentKind: TypeAlias = Literal[
    "gauge",
    "histogram",
    "counter",
    "up_down_counter",
    "observable_gauge",
    "observable_counter",
    "observable_up_down_counter",
]
INSTRUMENT_KINDS: Final[tuple[InstrumentKind, ...]] = get_args(InstrumentKind)

DEFAULT_BOUNDARIES: Final[tuple[float, ...]] = (
    0.0, 5.0, 10.0, 25.0, 50.0, 75.0, 100.0, 250.0, 500.0,
    750.0, 1000.0, 2500.0, 5000.0, 7500.0, 10000.0,
)  # fmt: skip
"""Boundaries of a histogram that names none: the OpenTelemetry SDK specification's default."""

# The instrument name syntax of the OpenTelemetry metrics API specification.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.\-/]{0,254}")
_MAX_UNIT_CHARS = 63


def is_observable(kind: InstrumentKind) -> bool:
    """Tell whether a callback, rather than a call, yields this kind's values."""
    return kind.startswith("observable_")


class Observation(msgspec.Struct, frozen=True):
    """One value that an observable's callback yields, with its attributes."""

    value: float
    attributes: dict[str, Any] | None = None


ObservableCallback: TypeAlias = Callable[[Any], Iterable[Any]]
"""Takes the callback options (unused today, for OpenTelemetry's signature), yields observations.

Anything with `.value` and `.attributes` counts as an observation, OpenTelemetry's own included.
What one call yields is the complete set of points of that collection.
"""


class MetricSpec(msgspec.Struct, frozen=True):
    """A metric as its owner declares it, once.

    Args:
        key: What `record` calls it; unique in its group.
        name: OpenTelemetry instrument name, dotted lower case, without the unit.
        kind: One of `INSTRUMENT_KINDS`.
        unit: UCUM unit or annotation: `s`, `By`, `{token}`, `1`; empty for none.
        description: One sentence for people.
        callback: Yields the values of an observable kind; only for those.
        boundaries: Upper bounds of the buckets of a histogram, ascending; the specification's
            default when left out. Only for a histogram.

    Raises:
        ValueError: A field breaks one of the rules above.
    """

    key: str
    name: str
    kind: InstrumentKind = "gauge"
    unit: str = ""
    description: str = ""
    callback: ObservableCallback | None = None
    boundaries: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        texts: tuple[tuple[str, object], ...] = (("key", self.key), ("name", self.name))
        for field, text in texts:
            if not isinstance(text, str) or not text:
                raise ValueError(f"MetricSpec.{field} must be a non-empty string, got {text!r}")
        if self.kind not in INSTRUMENT_KINDS:
            raise ValueError(
                f"MetricSpec kind {self.kind!r} of {self.name!r} is not one of "
                f"{', '.join(INSTRUMENT_KINDS)}"
            )
        if is_observable(self.kind) and self.callback is None:
            raise ValueError(f"{self.name!r}: kind {self.kind!r} requires a callback")
        if not is_observable(self.kind) and self.callback is not None:
            raise ValueError(
                f"{self.name!r}: a callback is only used by observable kinds, not {self.kind!r}"
            )
        check_name(self.name)
        check_unit(self.name, self.unit)
        check_description(self.name, self.description)
        if self.boundaries is not None:
            if self.kind != "histogram":
                raise ValueError(
                    f"{self.name!r}: boundaries are only used by a histogram, not {self.kind!r}"
                )
            msgspec.structs.force_setattr(
                self, "boundaries", checked_boundaries(self.name, self.boundaries)
            )


def check_name(name: str) -> None:
    """Refuse a name that the OpenTelemetry specification does not allow.

    Raises:
        ValueError: It does not start with a letter, or holds a character outside
            letters, digits and `_ . - /`, or is longer than 255.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"metric name {name!r} is not allowed by OpenTelemetry: start with a letter, then "
            "letters, digits, '_', '.', '-' or '/', at most 255 in all"
        )


def check_unit(name: str, unit: object) -> None:
    """Refuse a unit that the OpenTelemetry specification does not allow.

    Raises:
        ValueError: It is longer than 63 characters or not ASCII.
    """
    if not isinstance(unit, str) or not unit.isascii() or len(unit) > _MAX_UNIT_CHARS:
        raise ValueError(
            f"unit {unit!r} of {name!r} must be ASCII of at most {_MAX_UNIT_CHARS} characters"
        )


def check_description(name: str, description: object) -> None:
    """Refuse a description that cannot travel.

    Raises:
        ValueError: It is no text, or holds a lone surrogate, which UTF-8 cannot carry.
    """
    if not isinstance(description, str) or re.search("[\ud800-\udfff]", description):
        raise ValueError(
            f"description {description!r} of {name!r} must be text that UTF-8 can carry"
        )


def checked_boundaries(name: str, boundaries: Iterable[float]) -> tuple[float, ...]:
    """Return the boundaries as floats, or refuse them.

    Raises:
        ValueError: They are not finite or not strictly ascending.
    """
    bounds = tuple(float(bound) for bound in boundaries)
    if not all(math.isfinite(bound) for bound in bounds):
        raise ValueError(f"boundaries of {name!r} must be finite, got {bounds}")
    if any(low >= high for low, high in itertools.pairwise(bounds)):
        raise ValueError(f"boundaries of {name!r} must ascend strictly, got {bounds}")
    return bounds


class Scope(msgspec.Struct, frozen=True, array_like=True):
    """The instrumentation scope of a metric: who wrote the instrument, not who runs it."""

    name: str = "nemo_telemetry_actor"
    version: str = ""
    schema_url: str = ""


class Declaration(msgspec.Struct, frozen=True, array_like=True):
    """What a series is, as it travels: a spec without its key and callback.

    Fields are sent by position: append new ones at the end, with a default.
    """

    name: str
    kind: InstrumentKind
    unit: str = ""
    description: str = ""
    boundaries: tuple[float, ...] = ()
    scope: Scope = Scope()


def declaration_of(spec: MetricSpec, scope: Scope) -> Declaration:
    """Return what travels of a spec."""
    boundaries: tuple[float, ...] = ()
    if spec.kind == "histogram":
        boundaries = DEFAULT_BOUNDARIES if spec.boundaries is None else spec.boundaries
    return Declaration(spec.name, spec.kind, spec.unit, spec.description, boundaries, scope)
