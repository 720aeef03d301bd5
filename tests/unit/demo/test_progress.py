# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import io

import pytest
from rich.console import Console

from nemo_telemetry_actor.demo.driver import StepReport
from nemo_telemetry_actor.demo.progress import TrainingProgress, sparkline


def test_a_curve_spans_the_lowest_and_the_highest_bar() -> None:
    assert sparkline([0.0, 0.5, 1.0]) == "▁▅█"


@pytest.mark.parametrize("count", [1, 2, 40, 41, 1000])
def test_a_curve_is_never_wider_than_asked_and_ends_with_the_last_value(count: int) -> None:
    curve = sparkline([0.0] * (count - 1) + [1.0], width=40)

    assert len(curve) == min(count, 40)
    assert curve[-1] == "█"


def test_without_a_terminal_ten_plain_lines_are_printed() -> None:
    output = io.StringIO()
    progress = TrainingProgress(Console(file=output, width=120), steps=50)

    with progress:
        for step in range(1, 51):
            progress.update(StepReport(step, reward=0.5, kl=0.25, accuracy=0.75, idle_pct=10.0))

    lines = output.getvalue().splitlines()
    assert len(lines) == 10
    assert lines[-1] == "step 50/50  reward 0.500  accuracy  75.0%  KL 0.250  idle 10 %"
