# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers and times as people read them."""

_MINUTE_S = 60
_HOUR_S = 3600
_DAY_S = 86_400


def counted(number: int, noun: str) -> str:
    """Return `1 point`, `2,000 points`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """Return a span of time in its two largest units; less than nothing is `0 s`."""
    whole = max(0, int(seconds))
    if whole < _MINUTE_S:
        return f"{whole} s"
    if whole < _HOUR_S:
        return f"{whole // _MINUTE_S} min {whole % _MINUTE_S} s"
    if whole < _DAY_S:
        return f"{whole // _HOUR_S} h {whole % _HOUR_S // _MINUTE_S} min"
    return f"{whole // _DAY_S} d {whole % _DAY_S // _HOUR_S} h"


def age(then_unix_nano: int, now_unix_nano: int) -> str:
    """Return how long ago a time was, by the clock that gave both."""
    return duration((now_unix_nano - then_unix_nano) / 1e9)
