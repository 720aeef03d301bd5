# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers and times as people read them."""

from collections.abc import Sequence

_MINUTE_S = 60
_HOUR_S = 3600
_DAY_S = 86_400
_MIB = 2**20
_GIB = 2**30


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


def size(bytes_: float) -> str:
    """Return bytes as `3.2 GiB`, and as `310 MiB` below one; binary units throughout."""
    if bytes_ < _GIB:
        return f"{bytes_ / _MIB:,.0f} MiB"
    return f"{bytes_ / _GIB:,.1f} GiB"


def listed(items: Sequence[str], most: int = 3, between: str = "; ") -> str:
    """Return the first `most` items, and how many more there are."""
    shown = between.join(items[:most])
    more = len(items) - most
    return f"{shown}{between}and {more:,} more" if more > 0 else shown
