# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""`nemo-telemetry status`: is everything well, and if not, what to do?"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import click
import msgspec

from nemo_telemetry_actor.cli.cluster import address_option, ask, cluster
from nemo_telemetry_actor.cli.failure import CommandFailedError
from nemo_telemetry_actor.cli.progress import working
from nemo_telemetry_actor.cli.status_report import (
    CLIENT_DROPPED,
    NONFINITE,
    StatusReport,
    build_report,
    silent_report,
)
from nemo_telemetry_actor.errors import ActorUnavailableError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_ANSWER_TIMEOUT_S = 10.0
_PIPE_COLUMNS = 1000


@click.command("status")
@address_option
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "--watch",
    "every_s",
    type=click.FloatRange(min=0.5),
    metavar="SECONDS",
    help="Show it again every so many seconds, until Ctrl-C; with --json one line each.",
)
def command(address: str | None, is_json: bool, every_s: float | None) -> None:
    """Show runs, clients, exporters and losses.

    Ends with 0 when all is well; with 1 when there is no actor, an exporter is down, or the actor
    has problems, and then the last line says what to do.
    """
    with cluster(address) as joined:
        if every_s is None:
            with working("Asking the telemetry actor …"):
                report = read_report(joined)
            if is_json:
                _print_json(report, indent=2)
            elif report.actor is not None:
                _print(report)
        else:
            report = _watch(joined, every_s, is_json=is_json)
    if not report.healthy:
        raise CommandFailedError("; ".join(report.trouble), next_step=report.next_step)


def read_report(address: str) -> StatusReport:
    """Ask the actor of the cluster that this process is a driver of."""
    from nemo_telemetry_actor.actor.lifecycle import find_actor

    try:
        handle = find_actor()
        answers = [
            handle.state.remote(),
            handle.series.remote(names=[CLIENT_DROPPED, NONFINITE]),
        ]
        state, own_series = ask(answers, _ANSWER_TIMEOUT_S)
    except ActorUnavailableError:
        return silent_report(
            address, "there is no telemetry actor in this cluster", "nemo-telemetry start"
        )
    except CommandFailedError as error:
        return silent_report(address, str(error), error.next_step)
    return build_report(address, state, own_series)


def watch(
    read: Callable[[], StatusReport],
    show: Callable[[StatusReport], None],
    wait: Callable[[], None],
) -> StatusReport:
    """Read and show until `wait` is interrupted from the keyboard; return the last report."""
    report = read()
    with suppress(KeyboardInterrupt):
        while True:
            show(report)
            wait()
            report = read()
    return report


def _watch(address: str, every_s: float, *, is_json: bool) -> StatusReport:
    from rich.live import Live

    def read() -> StatusReport:
        return read_report(address)

    def wait() -> None:
        time.sleep(every_s)

    if is_json:
        return watch(read, _print_json, wait)
    console = _console()
    if not console.is_terminal:
        return watch(read, _print, wait)
    with Live(console=console, screen=True, auto_refresh=False) as live:

        def show(report: StatusReport) -> None:
            live.update(_page(report, console), refresh=True)

        report = watch(read, show, wait)
    _print(report)
    return report


def _console() -> "Console":
    """Return standard output; what is piped is as wide as it gets, so that a row is a line."""
    from rich.console import Console

    console = Console()
    is_as_wide_as_shown = console.is_terminal or "COLUMNS" in os.environ
    return console if is_as_wide_as_shown else Console(width=_PIPE_COLUMNS)


def _page(report: StatusReport, console: "Console") -> "RenderableType":
    from nemo_telemetry_actor.cli.status_view import status_page

    return status_page(report, console.width)


def _print(report: StatusReport) -> None:
    console = _console()
    console.print(_page(report, console))


def _print_json(report: StatusReport, indent: int = 0) -> None:
    text = msgspec.json.encode(report)
    click.echo(msgspec.json.format(text, indent=indent) if indent else text)
