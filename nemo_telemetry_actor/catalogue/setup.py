# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""How long each phase of a job's setup took, logged once under `timing/setup`.

The set of phases is open: a phase is whatever key has a duration's ending.
"""

from collections.abc import Mapping
from typing import Any, Final

from nemo_telemetry_actor.model.instrument import MetricSpec
from nemo_telemetry_actor.model.scalar import to_float

DURATION: Final = MetricSpec(
    "setup_duration",
    "rl.setup.duration",
    unit="s",
    description="Time of one setup phase; phases contain each other, total_setup contains all.",
)

PHASE: Final = "rl.setup.phase"

_LONG_SUFFIX = "_time_s"
_SHORT_SUFFIX = "_s"


def setup_phase(logger_key: str) -> str | None:
    """Return the phase that a key names, or None when it names none.

    The longer suffix is tried first, and what is left must not be empty.
    """
    if logger_key.endswith(_LONG_SUFFIX):
        return logger_key[: -len(_LONG_SUFFIX)] or None
    if logger_key.endswith(_SHORT_SUFFIX):
        return logger_key[: -len(_SHORT_SUFFIX)] or None
    return None


def setup_points(
    metrics: Mapping[str, Any],
) -> list[tuple[dict[str, float], dict[str, str] | None]]:
    """Return one point a phase, in the dict's order.

    Where `foo_time_s` and `foo_s` both hold a number, `foo_time_s` is the phase's, whichever
    comes first: it is the form of the phases that NeMo-RL itself times.
    """
    seconds_of: dict[str, float] = {}
    settled: set[str] = set()
    for key, value in metrics.items():
        if not issubclass(type(key), str):
            continue
        text = str.__str__(key)
        phase = setup_phase(text)
        if phase is None or phase in settled or (seconds := to_float(value)) is None:
            continue
        seconds_of[phase] = seconds
        if text.endswith(_LONG_SUFFIX):
            settled.add(phase)
    return [({DURATION.key: seconds}, {PHASE: phase}) for phase, seconds in seconds_of.items()]
