# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""From a logger dict and its prefix to the values that are recorded; no I/O, no state.

A prefix names the families that are tried. Each family is a call of its own, so that whoever
records can keep one family's failure from the others.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import msgspec

from nemo_telemetry_actor.catalogue.efficiency import efficiency_points
from nemo_telemetry_actor.catalogue.setup import setup_points
from nemo_telemetry_actor.catalogue.vocabulary import TeedMetric, Vocabulary
from nemo_telemetry_actor.model.scalar import to_float

Rows: TypeAlias = list[tuple[dict[str, float], dict[str, str] | None]]
"""Pairs of values by registry key and the attributes they share, as `record` takes them."""


class Family(msgspec.Struct, frozen=True):
    """One group of series with one rule.

    Calling it with a logger dict returns its rows; anything but a mapping has none. No value of
    the dict makes it raise. Only a mapping whose own methods raise does, or a key that has the
    hash of a declared one and raises when it is compared.
    """

    name: str
    rule: Callable[[Mapping[str, Any]], Rows]

    def __call__(self, metrics: Mapping[str, Any]) -> Rows:
        """Return the rows of a logger dict, which is not changed."""
        if type(metrics) is dict or issubclass(type(metrics), Mapping):
            return self.rule(metrics)
        return []


class TeeRules:
    """Which families a prefix has, with the vocabulary's rows of now worked into tables.

    Rows that are declared later are not seen: make it when the vocabulary is frozen.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        step = (
            Family("efficiency", efficiency_points),
            Family("scalars", _ScalarRule(vocabulary.teed())),
        )
        self._by_prefix = {
            "": step,
            "train": step,
            "timing/setup": (Family("setup", setup_points),),
        }

    def families(self, prefix: object) -> tuple[Family, ...]:
        """Return the families of a prefix, in the order in which they are tried.

        None, a prefix that has no family and an object that is no text all give none.
        """
        if not issubclass(type(prefix), str):
            return ()
        return self._by_prefix.get(str.__str__(prefix), ())


class _ScalarRule:
    """Declared logger keys to one row of values; runs on the training thread at every step."""

    def __init__(self, rows: tuple[TeedMetric, ...]) -> None:
        self._key_of = {row.logger_key: row.registry_key for row in rows}
        self._pairs = tuple(self._key_of.items())
        self._counters = tuple(row.registry_key for row in rows if row.kind == "counter")

    def __call__(self, metrics: Mapping[str, Any]) -> Rows:
        if len(metrics) < len(self._pairs):
            values = self._walk_metrics(metrics)
        else:
            values = self._walk_rows(metrics)
        for key in self._counters:
            # A delta that fell, or is none, says nothing about the total.
            if key in values and not 0.0 <= values[key] < math.inf:
                del values[key]
        return [(values, None)] if values else []

    # Both walks test for the exact type in place: a call a value would double their cost.

    def _walk_metrics(self, metrics: Mapping[str, Any]) -> dict[str, float]:
        values: dict[str, float] = {}
        key_of = self._key_of.get
        for logger_key, value in metrics.items():
            if not (type(logger_key) is str or issubclass(type(logger_key), str)):
                continue
            if (key := key_of(logger_key)) is not None:
                if type(value) is float:
                    values[key] = value
                elif (number := to_float(value)) is not None:
                    values[key] = number
        return values

    def _walk_rows(self, metrics: Mapping[str, Any]) -> dict[str, float]:
        values: dict[str, float] = {}
        get = metrics.get
        for logger_key, key in self._pairs:
            value = get(logger_key)
            if type(value) is float:
                values[key] = value
            elif value is not None and (number := to_float(value)) is not None:
                values[key] = number
        return values
