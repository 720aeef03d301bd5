# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The checks for a terminal. Pure: a report in, renderables out."""

from collections import Counter
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from nemo_telemetry_actor.cli.doctor_check import Check, DoctorReport, Level

_STYLES: Final[dict[Level, str]] = {
    "ok": "green",
    "warning": "bold yellow",
    "failed": "bold red",
    "skipped": "dim",
}
_LEVEL_CELLS: Final = 9
_MAX_NAME_CELLS: Final = 24
_MIN_COLUMNS_OF_TEXT: Final = 40


def doctor_page(report: DoctorReport, width: int, height: int | None = None) -> RenderableType:
    """Return one entry a check and the counts, for a terminal of `width` columns."""
    del height
    names = [len(check.name) for check in report.checks if not _is_long(check, width)]
    name_cells = max(names, default=0)
    parts: list[RenderableType] = [_entry(check, width, name_cells) for check in report.checks]
    counts = Counter(check.level for check in report.checks)
    summary = ", ".join(f"{counts[level]} {level}" for level in _STYLES if counts[level])
    return Group(*parts, Text(""), Text(summary))


def _is_long(check: Check, width: int) -> bool:
    """Whether the name leaves too little room for the text beside it."""
    room = width - _LEVEL_CELLS - 1 - _MIN_COLUMNS_OF_TEXT
    return len(check.name) > min(room, _MAX_NAME_CELLS)


def _entry(check: Check, width: int, name_cells: int) -> RenderableType:
    level = Text(f"{check.level:<{_LEVEL_CELLS}}", style=_STYLES[check.level])
    text = Text(check.found, overflow="fold")
    if check.next_step:
        text.append(f"\nnext: {check.next_step}", style="bold")
    if _is_long(check, width):
        return Group(level + Text(check.name), Padding(text, (0, 0, 0, 2), expand=False))
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=_LEVEL_CELLS)
    grid.add_column(width=name_cells)
    grid.add_column()
    grid.add_row(level, Text(check.name), text)
    return grid
