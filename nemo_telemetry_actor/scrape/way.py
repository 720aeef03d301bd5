# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Which way to ask for the memory of the hosts: their raylets' pages, or Ray's dashboard.

From Ray 2.52 to 2.56 reading a raylet's page empties its gauges until they are reported anew, so
a second reader starves the first: there the dashboard's summary of the nodes does no harm.
"""

import re
from typing import Final, Literal, TypeAlias

import msgspec

Via: TypeAlias = Literal["auto", "raylet", "dashboard"]
Source: TypeAlias = Literal["raylet", "dashboard"]

_VERSION: Final = re.compile(r"\s*v?(\d{1,6})\.(\d{1,6})")
_FIRST_THAT_EMPTIES: Final = (2, 52)
_LAST_THAT_EMPTIES: Final = (2, 56)


class Way(msgspec.Struct, frozen=True):
    """Where the values come from.

    Args:
        source: Who is asked.
        reason: Why, for people.
        may_fall_back: Whether the pages may be read when there is no dashboard.
    """

    source: Source
    reason: str
    may_fall_back: bool = False


def choose(via: Via, ray_version: str) -> Way:
    """Choose the way for a configuration and a version of Ray; any text is taken as a version."""
    if via != "auto":
        return Way(via, f"hosts.via is {via}")
    match = _VERSION.match(ray_version)
    if match is None:
        return Way("raylet", f"Ray's version is {ray_version!r}, which says nothing of its pages")
    version = (int(match[1]), int(match[2]))
    if _FIRST_THAT_EMPTIES <= version <= _LAST_THAT_EMPTIES:
        reason = (
            f"on Ray {ray_version} reading a raylet's page takes its gauges from other readers, "
            "such as your Prometheus"
        )
        return Way("dashboard", reason, may_fall_back=True)
    return Way("raylet", f"on Ray {ray_version} a raylet's page may be read by many")


def fallen_back(way: Way, problem: str) -> Way:
    """Return the way through the pages, for want of a dashboard."""
    return Way(
        "raylet",
        f"there is no dashboard to ask ({problem}), although {way.reason}",
        may_fall_back=True,
    )
