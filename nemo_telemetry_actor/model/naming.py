# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""OpenTelemetry names and units → Prometheus names, so that a collision is an error and no merge.

The rules are those of the OpenTelemetry specification "Prometheus and OpenMetrics compatibility".
Where it leaves room: a unit is appended unless the name already *ends* in it (OpenMetrics wants a
suffix), `1` becomes `ratio` for gauges only, a trailing underscore of a metric name goes, and a
leading digit gets an underscore before it.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, Literal, TypeAlias

import msgspec

from nemo_telemetry_actor.model.instrument import Declaration, InstrumentKind

FamilyType: TypeAlias = Literal["counter", "gauge", "histogram"]

RESERVED_NAMES: Final = frozenset({"target", "target_info"})
"""Names that the pull endpoint itself uses, for the resource attributes of the producers."""

_UNIT_WORDS: Final = {
    "d": "days", "h": "hours", "min": "minutes", "s": "seconds",
    "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds",
    "By": "bytes", "KiBy": "kibibytes", "MiBy": "mebibytes", "GiBy": "gibibytes",
    "TiBy": "tibibytes", "KBy": "kilobytes", "kBy": "kilobytes", "MBy": "megabytes",
    "GBy": "gigabytes", "TBy": "terabytes", "bit": "bits",
    "m": "meters", "V": "volts", "A": "amperes", "J": "joules", "W": "watts", "g": "grams",
    "K": "kelvin", "Cel": "celsius", "Hz": "hertz", "%": "percent", "1": "",
}  # fmt: skip
_PER_WORDS: Final = {
    "s": "second", "ms": "millisecond", "us": "microsecond", "ns": "nanosecond",
    "m": "minute", "min": "minute", "h": "hour", "d": "day", "w": "week", "wk": "week",
    "mo": "month", "y": "year", "a": "year", "By": "byte", "1": "",
}  # fmt: skip

_NOT_IN_A_NAME: Final = re.compile(r"[^a-zA-Z0-9]+")
_ANNOTATION: Final = re.compile(r"\{[^}]*\}")


class Family(msgspec.Struct, frozen=True):
    """One Prometheus metric family.

    Args:
        name: As OpenMetrics has it: with the unit, without `_total`.
        type: What `# TYPE` says.
        unit: What `# UNIT` says: the suffix of `name` without its underscore, or empty.
    """

    name: str
    type: FamilyType
    unit: str

    @property
    def exposed_name(self) -> str:
        """The name that a query writes, and the family name of the older text format."""
        return f"{self.name}_total" if self.type == "counter" else self.name

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that this family occupies in either format."""
        if self.type == "counter":
            suffixes: tuple[str, ...] = ("", "_total", "_created")
        elif self.type == "histogram":
            suffixes = ("", "_bucket", "_sum", "_count", "_created")
        else:
            suffixes = ("",)
        return tuple(self.name + suffix for suffix in suffixes)


def metric_name(declaration: Declaration) -> str:
    """Return the name under which Prometheus shows a metric, `_total` of a counter included."""
    return family_of(declaration).exposed_name


def family_names(declaration: Declaration) -> tuple[str, ...]:
    """Return all the names that a metric occupies on the pull endpoint, in either format."""
    return family_of(declaration).names


def family_of(declaration: Declaration) -> Family:
    """Return the Prometheus family that a metric becomes."""
    return _family(declaration.name, declaration.kind, declaration.unit)


def identity_of(declaration: Declaration) -> tuple[str, str, Family]:
    """Return what makes two declarations one metric on the pull endpoint.

    That is the OpenTelemetry name, the kind (observable or not is no difference) and the
    Prometheus unit; scope, description and boundaries are no part of it.
    """
    return declaration.name, instant_kind(declaration.kind), family_of(declaration)


@lru_cache(maxsize=4096)
def label_name(key: str) -> str:
    """Return the label name of an attribute key; several keys may share one."""
    return _sanitise(key)


class ExpositionNames:
    """The names that declared metrics occupy; refuses a metric that wants one of another's.

    Declaring a metric again, from another scope or with another description, is no collision: see
    `identity_of`. Not safe for several threads at once.
    """

    def __init__(self) -> None:
        self._owners: dict[str, Declaration] = {}

    def claim(self, declaration: Declaration) -> None:
        """Occupy the names of a metric, all or none of them.

        Raises:
            ValueError: One of them belongs to another metric, or to the pull endpoint itself.
        """
        names = family_names(declaration)
        for name in names:
            if name in RESERVED_NAMES:
                raise ValueError(
                    f"{_described(declaration)} would be {name!r} in Prometheus, "
                    "which describes the producers there; rename it"
                )
            owner = self._owners.get(name)
            if owner is not None and identity_of(owner) != identity_of(declaration):
                raise ValueError(
                    f"{_described(declaration)} and {_described(owner)} would both be "
                    f"{name!r} in Prometheus; rename one of them"
                )
        for name in names:
            self._owners.setdefault(name, declaration)


def check_unique(declarations: Iterable[Declaration]) -> None:
    """Refuse metrics that Prometheus could not tell apart.

    Raises:
        ValueError: Two of them occupy one name; the message has both.
    """
    names = ExpositionNames()
    for declaration in declarations:
        names.claim(declaration)


def instant_kind(kind: InstrumentKind) -> str:
    """Return the kind without `observable_`: how its values aggregate."""
    return kind.removeprefix("observable_")


def _described(declaration: Declaration) -> str:
    unit = f", unit {declaration.unit!r}" if declaration.unit else ""
    return f"metric {declaration.name!r} ({declaration.kind}{unit})"


@lru_cache(maxsize=4096)
def _family(name: str, kind: InstrumentKind, unit: str) -> Family:
    family_type = _family_type(kind)
    base = _sanitise(name).rstrip("_") or "_"
    if family_type == "counter":
        base = base.removesuffix("_total")
    suffix = "ratio" if unit == "1" and instant_kind(kind) == "gauge" else _unit_suffix(unit)
    if not suffix or base == suffix:
        return Family(base, family_type, "")
    if not base.endswith(f"_{suffix}"):
        base = f"{base}_{suffix}"
    return Family(base, family_type, suffix)


def _family_type(kind: InstrumentKind) -> FamilyType:
    if kind == "histogram":
        return "histogram"
    return "counter" if instant_kind(kind) == "counter" else "gauge"


def _unit_suffix(unit: str) -> str:
    numerator, *denominators = _ANNOTATION.sub("", unit).split("/")
    words = [_unit_word(numerator, _UNIT_WORDS)]
    words += [f"per_{word}" for part in denominators if (word := _unit_word(part, _PER_WORDS))]
    return "_".join(word for word in words if word)


def _unit_word(part: str, words: dict[str, str]) -> str:
    part = part.strip()
    return words.get(part, _NOT_IN_A_NAME.sub("_", part).strip("_"))


def _sanitise(name: str) -> str:
    clean = _NOT_IN_A_NAME.sub("_", name)
    return f"_{clean}" if clean[:1].isdigit() else clean
