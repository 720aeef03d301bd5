# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""One check of `nemo-telemetry doctor`: how it came out, what was found, what to do."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from nemo_telemetry_actor.cli.doctor_facts import Unknown

Level: TypeAlias = Literal["ok", "warning", "failed", "skipped"]


class Check(msgspec.Struct, frozen=True):
    """How one check came out.

    Args:
        name: What was checked.
        level: `warning`: works, and something should be looked at. `failed`: does not work.
            `skipped`: could not be checked, or there is nothing to check.
        found: What was found, in words.
        next_step: What to do about it; empty when nothing is to be done.
    """

    name: str
    level: Level
    found: str
    next_step: str = ""


class DoctorReport(msgspec.Struct, frozen=True):
    """What `nemo-telemetry doctor` prints with `--json`; healthy when no check failed."""

    healthy: bool
    address: str | None
    checks: list[Check]


def unknown(name: str, fact: Unknown | None, missing: str) -> Check:
    """Return the check of what is not known: failed when asking failed, skipped when not asked."""
    if fact is None:
        return Check(name, "skipped", missing)
    return Check(name, "failed", fact.why, fact.next_step)


def report(address: str | None, checks: Sequence[Check]) -> DoctorReport:
    """Judge all checks together."""
    return DoctorReport(all(each.level != "failed" for each in checks), address, list(checks))
