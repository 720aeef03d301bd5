# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Showing a report once, or again and again: on a screen in place, in a pipe one after another."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import click
import msgspec

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_PIPE_COLUMNS: Final = 1000
_EVERY_S: Final = 2.0

_R = TypeVar("_R", bound=msgspec.Struct)
Page: TypeAlias = "Callable[[_R, int, int | None], RenderableType]"
"""Report, columns and, where it must fit a screen, lines → what is shown."""

watch_option: Final[Callable[[Any], Any]] = click.option(
    "--watch",
    "every_s",
    type=click.FloatRange(min=0.5),
    is_flag=False,
    flag_value=_EVERY_S,
    metavar="[SECONDS]",
    help=f"Show it again every so many seconds ({_EVERY_S:g} when left out), until Ctrl-C; with "
    "--json one line each.",
)


def watch(read: Callable[[], _R], show: Callable[[_R], None], wait: Callable[[], None]) -> _R:
    """Read and show until `wait` is interrupted from the keyboard; return the last report."""
    report = read()
    with suppress(KeyboardInterrupt):
        while True:
            show(report)
            wait()
            report = read()
    return report


def watch_page(read: Callable[[], _R], page: "Page[_R]", every_s: float, *, is_json: bool) -> _R:
    """Show reports every `every_s` seconds until Ctrl-C; return the last one.

    On a terminal each replaces the one before, and the last one stays below the command.
    """
    from rich.live import Live

    def wait() -> None:
        time.sleep(every_s)

    if is_json:
        return watch(read, print_json, wait)
    console = _console()
    if not console.is_terminal:
        return watch(read, lambda report: print_page(report, page), wait)
    with Live(console=console, screen=True, auto_refresh=False) as live:

        def show(report: _R) -> None:
            # The size is asked for anew each time: terminals are resized.
            live.update(page(report, console.width, console.height), refresh=True)

        report = watch(read, show, wait)
    print_page(report, page)
    return report


def print_page(report: _R, page: "Page[_R]") -> None:
    """Print a report as long as it is."""
    console = _console()
    console.print(page(report, console.width, None))


def print_json(report: msgspec.Struct, indent: int = 0) -> None:
    """Print a report as one JSON object; on one line unless `indent` is given."""
    text = msgspec.json.encode(report)
    click.echo(msgspec.json.format(text, indent=indent) if indent else text)


def _console() -> "Console":
    """Return standard output; what is piped is as wide as it gets, so that a row is a line."""
    from rich.console import Console

    console = Console()
    is_as_wide_as_shown = console.is_terminal or "COLUMNS" in os.environ
    return console if is_as_wide_as_shown else Console(width=_PIPE_COLUMNS)
