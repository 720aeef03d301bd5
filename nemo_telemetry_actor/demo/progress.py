# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What people see while the job trains: a live line in a terminal, ten plain lines elsewhere."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from nemo_telemetry_actor.demo.driver import StepReport

_PLAIN_LINES = 10


class TrainingProgress:
    """Shows step, reward, accuracy, KL and idle share; `update` once a step.

    A context manager: the live line is there between entry and exit.
    """

    def __init__(self, console: Console, steps: int) -> None:
        self._console = console
        self._steps = steps
        self._live = Progress(
            TextColumn("[bold]training"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[summary]}"),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._live.add_task("training", total=steps, summary="")

    def __enter__(self) -> Self:
        # Not left to `disable`: rich before 14.3 ends with an empty line all the same.
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def update(self, report: StepReport) -> None:
        """Show the state after one step."""
        self._live.update(self._task, completed=report.step, summary=summary(report))
        every = max(1, self._steps // _PLAIN_LINES)
        if not self._console.is_terminal and report.step % every == 0:
            self._console.print(f"step {report.step}/{self._steps}  {summary(report)}")


def summary(report: StepReport) -> str:
    """Return one step in one line."""
    return (
        f"reward {report.reward:.3f}  accuracy {report.accuracy:6.1%}  "
        f"KL {report.kl:.3f}  idle {report.idle_pct:2.0f} %"
    )


def sparkline(values: list[float], width: int = 40) -> str:
    """Draw values in [0, 1] as one line of bars, at most `width` of them evenly chosen."""
    bars = "▁▂▃▄▅▆▇█"
    count = min(width, len(values))
    chosen = [values[round(i * (len(values) - 1) / max(1, count - 1))] for i in range(count)]
    return "".join(bars[min(len(bars) - 1, int(value * len(bars)))] for value in chosen)
