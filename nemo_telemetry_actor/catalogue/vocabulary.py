# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Which series there are: rows that owners declare until the registry has taken them."""

import threading
from collections.abc import Iterable
from typing import Final

from nemo_telemetry_actor.catalogue import efficiency, setup, sft_v2, training, vllm
from nemo_telemetry_actor.catalogue.rows import RecordedMetric, TeedMetric, registry_key
from nemo_telemetry_actor.model.instrument import MetricSpec

__all__ = [
    "GROUP_NAME",
    "RecordedMetric",
    "TeedMetric",
    "Vocabulary",
    "default_vocabulary",
    "group_specs",
    "registry_key",
]

GROUP_NAME: Final = "rl"
"""The metric group under which every series of the catalogue is registered."""

_DIMENSIONED: Final = (efficiency.SECONDS, efficiency.PCT, setup.DURATION)


class Vocabulary:
    """The declared rows, in the order of their declaration.

    A repeat of an identical row is accepted, so that a module may be imported twice; a row that
    contradicts an earlier one is refused, and then none of the same call is kept. After `freeze`
    nothing can be declared. Safe to call from any thread.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Guarded by _lock; the dicts are replaced, never changed.
        self._teed: dict[str, TeedMetric] = {}
        self._recorded: dict[str, RecordedMetric] = {}
        self._frozen = False

    def declare_teed(self, *rows: TeedMetric) -> None:
        """Declare series that a logger dict feeds.

        Raises:
            ValueError: Another row has the logger key, the name or the registry key.
            RuntimeError: The vocabulary is frozen.
        """
        with self._lock:
            self._check_open_locked(rows)
            teed = dict(self._teed)
            for row in rows:
                _check_same(f"logger key {row.logger_key!r}", teed.get(row.logger_key), row)
                teed[row.logger_key] = row
            _check_names(teed.values(), self._recorded.values())
            self._teed = teed

    def declare_recorded(self, *rows: RecordedMetric) -> None:
        """Declare series that code records directly.

        Raises:
            ValueError: Another row has the name or the registry key.
            RuntimeError: The vocabulary is frozen.
        """
        with self._lock:
            self._check_open_locked(rows)
            recorded = dict(self._recorded)
            for row in rows:
                _check_same(f"series {row.name!r}", recorded.get(row.name), row)
                recorded[row.name] = row
            _check_names(self._teed.values(), recorded.values())
            self._recorded = recorded

    def teed(self) -> tuple[TeedMetric, ...]:
        """Return the teed rows, in declaration order."""
        return tuple(self._teed.values())

    def recorded(self) -> tuple[RecordedMetric, ...]:
        """Return the recorded rows, in declaration order."""
        return tuple(self._recorded.values())

    def freeze(self) -> None:
        """Refuse every later declaration; for when the registry has accepted the specs."""
        with self._lock:
            self._frozen = True

    def _check_open_locked(self, rows: Iterable[TeedMetric | RecordedMetric]) -> None:
        if self._frozen:
            names = ", ".join(repr(row.name) for row in rows)
            raise RuntimeError(
                f"{names} declared after the vocabulary was frozen; declare before the first "
                "value is recorded"
            )


def _check_same(
    what: str, earlier: TeedMetric | RecordedMetric | None, row: TeedMetric | RecordedMetric
) -> None:
    if earlier is not None and earlier != row:
        raise ValueError(f"{what} is declared twice: as {earlier} and as {row}")


def _check_names(teed: Iterable[TeedMetric], recorded: Iterable[RecordedMetric]) -> None:
    """Refuse two rows of one registry key, which two rows of one name have as well."""
    owners: dict[str, str] = {spec.key: f"{spec.name!r} of the package" for spec in _DIMENSIONED}
    keys = [(row.registry_key, f"{row.name!r} teed from {row.logger_key!r}") for row in teed]
    keys += [(row.registry_key, f"{row.name!r}, recorded") for row in recorded]
    for key, text in keys:
        owner = owners.setdefault(key, text)
        if owner is not text:
            raise ValueError(
                f"registry key {key!r} is declared twice: for {owner} and for {text}; "
                "give one of them another name"
            )


def default_vocabulary() -> Vocabulary:
    """Return a new, open vocabulary with every row of the package declared."""
    vocabulary = Vocabulary()
    vocabulary.declare_teed(*training.TEED, *sft_v2.TEED, *vllm.TEED)
    vocabulary.declare_recorded(*vllm.RECORDED)
    return vocabulary


def group_specs(vocabulary: Vocabulary) -> tuple[MetricSpec, ...]:
    """Return the specs of the group: the series with attributes, the teed, then the recorded."""
    teed = (row.spec() for row in vocabulary.teed())
    recorded = (row.spec() for row in vocabulary.recorded())
    return (*_DIMENSIONED, *teed, *recorded)
