# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A table that stays readable however narrow the terminal is. Pure: cells in, renderables out."""

from typing import Final

import msgspec
from rich import box
from rich.cells import cell_len
from rich.console import Group, JustifyMethod, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_COLUMN_GAP: Final = 2
_STYLES: Final = {
    "down": "bold red",
    "lost": "bold red",
    "up": "green",
    "live": "green",
    "open": "green",
    "closed": "dim",
    "ended": "dim",
    "fresh": "green",
    "kept": "yellow",
    "no sample": "bold red",
    "ok": "green",
    "warning": "bold yellow",
    "failed": "bold red",
    "skipped": "dim",
}


class Sheet(msgspec.Struct, frozen=True):
    """One table.

    Args:
        title: What the rows are.
        columns: Name of each column; one that ends in `#` holds numbers and is right-aligned, one
            that ends in `~` may take several lines, broken between words.
        rows: Cells; the first of a row says what the row is about.
        note: A line below the rows.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def render(sheet: Sheet, width: int) -> RenderableType:
    """Return a table where it fits `width`, else a paragraph a row."""
    parts: list[RenderableType] = [Text(sheet.title, style="bold")]
    if sheet.rows:
        parts.append(_table(sheet) if fits(sheet, width) else _paragraphs(sheet))
    if sheet.note:
        parts.append(Text(sheet.note, style="dim"))
    return Group(*parts, Text(""))


def cell(value: object) -> str:
    """Return a value as a cell: numbers grouped by thousands, nothing as a dash."""
    if value is None or value == "":
        return "-"
    return f"{value:,}" if isinstance(value, int) else str(value)


def fits(sheet: Sheet, width: int) -> bool:
    """Whether the sheet is a table in `width` columns."""
    widths = [
        max(len(_name(column)), *(_cell_width(row[place], column) for row in sheet.rows))
        for place, column in enumerate(sheet.columns)
        if sheet.rows
    ]
    return sum(widths) + _COLUMN_GAP * (len(widths) - 1) <= width


def _cell_width(text: str, column: str) -> int:
    if column.endswith("~"):
        return max(map(cell_len, text.split()), default=0)
    return cell_len(text)


def _name(column: str) -> str:
    return column.rstrip("#~")


def _table(sheet: Sheet) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for column in sheet.columns:
        justify: JustifyMethod = "right" if column.endswith("#") else "left"
        table.add_column(_name(column), justify=justify, no_wrap=not column.endswith("~"))
    for row in sheet.rows:
        table.add_row(*(_styled(text) for text in row))
    return table


def _paragraphs(sheet: Sheet) -> Group:
    """Return each row as its first cell, and below it the others with their names."""
    paragraphs: list[RenderableType] = []
    for row in sheet.rows:
        rest = Text(", ").join(
            Text.assemble((f"{_name(name)} ", "dim"), _styled(text))
            for name, text in zip(sheet.columns[1:], row[1:], strict=True)
            if text != "-"
        )
        paragraphs += [Text(row[0], overflow="fold"), Padding(rest, (0, 0, 0, 2), expand=False)]
    return Group(*paragraphs)


def _styled(text: str) -> Text:
    # Text, because rich would read brackets in a value as markup.
    return Text(text, style=_STYLES.get(text, ""), overflow="fold")
