# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""`nemo-telemetry status`: is everything well, and if not, what to do?"""

from typing import TYPE_CHECKING

import click

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
from nemo_telemetry_actor.cli.watching import print_json, print_page, watch_option, watch_page
from nemo_telemetry_actor.errors import ActorUnavailableError

if TYPE_CHECKING:
    from rich.console import RenderableType

_ANSWER_TIMEOUT_S = 10.0


@click.command("status")
@address_option
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
@watch_option
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
                print_json(report, indent=2)
            elif report.actor is not None:
                print_page(report, _page)
        else:
            report = watch_page(lambda: read_report(joined), _page, every_s, is_json=is_json)
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


def _page(report: StatusReport, width: int, height: int | None) -> "RenderableType":
    from nemo_telemetry_actor.cli.status_view import status_page

    del height
    return status_page(report, width)
