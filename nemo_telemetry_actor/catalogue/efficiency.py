# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Where an asynchronous run's time went: one series a category, and one percentage.

The logger dict carries more keys of the same form (`efficiency/thread_seconds_total_s`, per-category
percentages) that are sums and shares of these. Only the exact keys below are read.
"""

from collections.abc import Mapping
from typing import Any, Final

from nemo_telemetry_actor.model.instrument import MetricSpec
from nemo_telemetry_actor.model.scalar import to_float

SECONDS: Final = MetricSpec(
    "efficiency_seconds",
    "rl.efficiency.seconds",
    unit="s",
    description="Time spent in one efficiency category, over the step or over the run so far.",
)
PCT: Final = MetricSpec(
    "efficiency_pct",
    "rl.efficiency.pct",
    unit="%",
    description="Share of wall-clock time that was not idle, 0 to 100.",
)

CATEGORY: Final = "rl.efficiency.category"
MEASUREMENT: Final = "rl.efficiency.measurement"
WINDOW: Final = "rl.efficiency.window"
BUCKET: Final = "rl.bucket"

CATEGORIES: Final[Mapping[str, str]] = {
    "init/total": "wall_clock",
    "idle/buffer_starvation": "wall_clock",
    "idle/refit_bubble": "wall_clock",
    "idle/validation": "wall_clock",
    "idle/refit_event_wait": "collector_wall_clock",
    "idle/generation_limit_pause": "collector_wall_clock",
    "idle/buffer_full_backoff": "thread_seconds",
    "wasted/failed_trajectory": "thread_seconds",
}
"""Category to how its seconds were measured. Only those of one measurement may be added up."""

BUCKETS: Final[Mapping[str, str]] = {
    "init/total": "overhead",
    "idle/buffer_starvation": "idle",
    "idle/refit_bubble": "idle",
    "idle/validation": "idle",
    "idle/refit_event_wait": "idle",
    "idle/generation_limit_pause": "idle",
    "idle/buffer_full_backoff": "idle",
    "wasted/failed_trajectory": "wasted",
}

PCT_KEY: Final = "efficiency/efficiency_pct"
PCT_IS_PER_STEP_KEY: Final = "efficiency/efficiency_pct_is_per_step"


def seconds_attributes(category: str, measurement: str) -> dict[str, str]:
    """Return the attributes of a category's seconds; no bucket for one that is in none."""
    per_step = measurement == "wall_clock" and category != "init/total"
    attributes = {
        CATEGORY: category,
        MEASUREMENT: measurement,
        WINDOW: "step" if per_step else "run",
    }
    bucket = BUCKETS.get(category)
    if bucket is not None:
        attributes[BUCKET] = bucket
    return attributes


_SECONDS_KEYS: Final = tuple(
    (f"efficiency/{category}_s", seconds_attributes(category, measurement))
    for category, measurement in CATEGORIES.items()
)
_PCT_ATTRIBUTES: Final = {
    window: {MEASUREMENT: "wall_clock", WINDOW: window} for window in ("step", "run")
}


def efficiency_points(
    metrics: Mapping[str, Any],
) -> list[tuple[dict[str, float], dict[str, str] | None]]:
    """Return the points of a logger dict: the categories it has, in table order, then the share.

    Categories and share do not need each other. A category whose value is no number is left out.
    The attribute dicts are shared between calls: do not change them.
    """
    points: list[tuple[dict[str, float], dict[str, str] | None]] = []
    get = metrics.get
    for logger_key, attributes in _SECONDS_KEYS:
        value = get(logger_key)
        # Most dicts have none of these keys, and this runs at every step.
        if value is not None and (seconds := to_float(value)) is not None:
            points.append(({SECONDS.key: seconds}, attributes))
    value = get(PCT_KEY)
    if value is not None and (pct := to_float(value)) is not None:
        window = pct_window(get(PCT_IS_PER_STEP_KEY))
        points.append(({PCT.key: pct}, _PCT_ATTRIBUTES[window]))
    return points


def pct_window(flag: object) -> str:
    """Return the window of the share: `step` only for a flag that is a number above 0.

    A flag that is absent, NaN or no number cannot vouch for the step, so the window is `run`.
    """
    number = to_float(flag)
    return "step" if number is not None and number > 0 else "run"
