# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What one cycle brought of one host, whichever way it came."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

from nemo_telemetry_actor.scrape.failures import FetchFailure
from nemo_telemetry_actor.scrape.families import Memory
from nemo_telemetry_actor.scrape.nodes import HostTarget

Outcome: TypeAlias = Literal["fresh", "no_family", "failed"]
"""`no_family`: somebody answered, and the answer holds no memory of this host."""


class HostReading(msgspec.Struct, frozen=True):
    """One host in one cycle.

    Args:
        host: Whose memory it is.
        outcome: What the cycle brought.
        time_unix_nano: When the answer was there, by the clock of the one who reads.
        node: Memory as Ray counts it: the container's where there is one.
        machine: Memory of the whole machine; empty before Ray 2.57.
        components: Bytes by component; empty unless asked for, or while a page is missing.
        failures: What went wrong on the way, also when the outcome is fresh.
        bad_lines: Wanted lines that could not be read.
    """

    host: HostTarget
    outcome: Outcome
    time_unix_nano: int
    node: Memory = Memory()
    machine: Memory = Memory()
    components: Mapping[str, float] = msgspec.field(default_factory=dict)
    failures: tuple[FetchFailure, ...] = ()
    bad_lines: int = 0


class Sweep(msgspec.Struct, frozen=True):
    """All hosts in one cycle; hosts that are not in it are no longer there."""

    readings: tuple[HostReading, ...]
