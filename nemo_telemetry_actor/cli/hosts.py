# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""`nemo-telemetry hosts`: how full is each host, and which worker groups sit there?"""

from functools import partial
from typing import TYPE_CHECKING

import click

from nemo_telemetry_actor.cli.cluster import address_option, ask, cluster
from nemo_telemetry_actor.cli.failure import CommandFailedError
from nemo_telemetry_actor.cli.hosts_report import HostsReport, build_hosts_report, unknown_hosts
from nemo_telemetry_actor.cli.progress import working
from nemo_telemetry_actor.cli.watching import print_json, print_page, watch_option, watch_page
from nemo_telemetry_actor.errors import ActorUnavailableError

if TYPE_CHECKING:
    from rich.console import RenderableType

_ANSWER_TIMEOUT_S = 10.0


@click.command("hosts")
@address_option
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "--components",
    is_flag=True,
    help="Also show what the processes of each host hold; known with hosts.components: true.",
)
@watch_option
def command(address: str | None, is_json: bool, components: bool, every_s: float | None) -> None:
    """Show the memory of every host and the groups there.

    Hosts without a sample come first, then the fullest. Ends with 0 when every host has a sample;
    with 1 when one has none or there is no actor, and then the last line says what to do. With
    --watch it ends with 0 at Ctrl-C.
    """
    page = partial(_page, components=components)
    with cluster(address) as joined:
        if every_s is not None:
            watch_page(lambda: read_hosts(joined), page, every_s, is_json=is_json)
            return
        with working("Asking the telemetry actor …"):
            report = read_hosts(joined)
    if is_json:
        print_json(report, indent=2)
    elif report.source is not None:
        print_page(report, page)
    if not report.healthy:
        raise CommandFailedError("; ".join(report.trouble), next_step=report.next_step)


def read_hosts(address: str) -> HostsReport:
    """Ask the actor of the cluster that this process is a driver of."""
    from nemo_telemetry_actor.actor.lifecycle import find_actor

    try:
        handle = find_actor()
        state, hosts = ask([handle.state.remote(), handle.hosts.remote()], _ANSWER_TIMEOUT_S)
    except ActorUnavailableError:
        return unknown_hosts(
            address, "there is no telemetry actor in this cluster", "nemo-telemetry start"
        )
    except CommandFailedError as error:
        return unknown_hosts(address, str(error), error.next_step)
    return build_hosts_report(address, state, hosts)


def _page(
    report: HostsReport, width: int, height: int | None, *, components: bool
) -> "RenderableType":
    from nemo_telemetry_actor.cli.hosts_view import hosts_page

    return hosts_page(report, width, height, components=components)
