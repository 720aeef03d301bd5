# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What the command line sets; imports nothing, so that `--help` stays fast."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

DEFAULT_STEPS: Final = 600
"""Enough for over 95 % of the held-out digits."""


@dataclass(frozen=True)
class DemoOptions:
    """How the demo runs.

    Args:
        steps: Optimizer steps, at least 1.
        seed: Of the data's order, the weights and the sampling; at least 0.
        config: Configuration file of the telemetry actor; the embedded default when None.
        hold: Whether everything stays up at the end until Ctrl-C.
        stop: Whether the actor is stopped at the end on a cluster that was joined.
    """

    steps: int = DEFAULT_STEPS
    seed: int = 0
    config: Path | None = None
    hold: bool = False
    stop: bool = False
