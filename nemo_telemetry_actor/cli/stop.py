# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""`nemo-telemetry stop`: deliver what the actor holds, then end it."""

from typing import Any

import click
import msgspec

from nemo_telemetry_actor.cli.cluster import address_option, cluster
from nemo_telemetry_actor.cli.failure import CommandFailedError
from nemo_telemetry_actor.cli.progress import working
from nemo_telemetry_actor.cli.wording import counted
from nemo_telemetry_actor.errors import ActorUnavailableError


@click.command("stop")
@address_option
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=0.1),
    default=30.0,
    show_default=True,
    help="Seconds to try to deliver what waits; then the actor ends all the same.",
)
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
def command(address: str | None, timeout_s: float, is_json: bool) -> None:
    """Deliver what the telemetry actor holds, and end it.

    Every run ends with it. Processes that still report keep what they record in their buffers
    until an actor is there again. Ends with 0 when every exporter took everything.
    """
    with cluster(address):
        from nemo_telemetry_actor.actor.lifecycle import stop_actor

        try:
            with working(f"Delivering what waits, for {timeout_s:g} s at most …"):
                report = stop_actor(timeout_s)
        except ActorUnavailableError as error:
            if is_json:
                click.echo('{"stopped":false}')
            raise CommandFailedError(
                "there is no telemetry actor in this cluster, nothing to stop",
                next_step="nemo-telemetry start",
            ) from error
    if is_json:
        click.echo(msgspec.json.encode({"stopped": True, **msgspec.structs.asdict(report)}))
    else:
        click.echo("telemetry actor stopped")
        for exporter in report.exporters:
            click.echo(f"  {exporter_line(exporter)}")
        if report.clients:
            click.echo(
                f"  {counted(report.clients, 'client')} still there: what they record waits in "
                "their buffers until nemo-telemetry start"
            )
    if not report.answered:
        raise CommandFailedError(
            "the telemetry actor could not finish and was ended as it was; what it had not "
            "delivered is lost",
            next_step="nemo-telemetry start, with a longer nemo-telemetry stop --timeout next time",
        )
    if not report.delivered:
        names = ", ".join(each["name"] for each in report.exporters if not each["delivered"])
        raise CommandFailedError(
            f"not everything was delivered to {names}; what was left is lost",
            next_step="see that the backend answers, then nemo-telemetry start",
        )


def exporter_line(exporter: dict[str, Any]) -> str:
    """Say what became of one exporter's points."""
    parts = [f"{counted(exporter['sent'], 'point')} sent"]
    if exporter["rejected"]:
        parts.append(f"{counted(exporter['rejected'], 'point')} rejected by the backend")
    if dropped := sum(exporter["dropped"].values()):
        parts.append(f"{counted(dropped, 'point')} dropped")
    if exporter["delivered"]:
        parts.append("nothing left")
    else:
        left = exporter["backlog_points"]
        parts.append(f"left: {counted(left, 'point')}" if left else "left: the last totals")
        if exporter["last_error"]:
            parts.append(f"last error: {exporter['last_error']}")
    return f"{exporter['name']}: {', '.join(parts)}"
