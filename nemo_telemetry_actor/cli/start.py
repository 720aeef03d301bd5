# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""`nemo-telemetry start`: bring the actor up before any job, or see which one is there."""

import os

import click
import msgspec

from nemo_telemetry_actor.cli.cluster import address_option, ask, cluster
from nemo_telemetry_actor.cli.failure import CommandFailedError
from nemo_telemetry_actor.cli.progress import working
from nemo_telemetry_actor.config.fields import TelemetryConfig
from nemo_telemetry_actor.config.load import load_config
from nemo_telemetry_actor.errors import ActorUnavailableError, ConfigError

_ANSWER_TIMEOUT_S = 10.0


class ConfigRefusedError(CommandFailedError):
    """The configuration is wrong; the process ends with 2, before it touches the cluster."""

    exit_code = 2


class StartReport(msgspec.Struct, frozen=True):
    """The actor that runs now.

    Args:
        made: Whether this command made it; else it ran already and was joined.
        address: The Ray cluster's.
        http_url: Start page of its HTTP server; None when that is off.
        version: Its version of this package.
        host: Where it runs.
        pid: Its process there.
        differences: Where its configuration is not the one asked for.
        problems: What it says is wrong.
    """

    made: bool
    address: str
    http_url: str | None
    version: str
    host: str
    pid: int
    differences: list[str]
    problems: list[str]


@click.command("start")
@click.option(
    "--config",
    "path",
    type=click.Path(exists=True, dir_okay=False),
    help="YAML file; the embedded default when left out. The OTEL_* variables of this shell are "
    "applied either way.",
)
@address_option
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=0.1),
    default=60.0,
    show_default=True,
    help="Seconds to wait for the actor.",
)
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
def command(path: str | None, address: str | None, timeout_s: float, is_json: bool) -> None:
    """Bring the telemetry actor up in a Ray cluster.

    Joins the actor that runs already, if there is one, and says how its configuration differs.
    Opens no run: that is the training job's to do. The actor stays until nemo-telemetry stop.
    """
    try:
        config = load_config(path, os.environ)
    except ConfigError as error:
        raise ConfigRefusedError(
            str(error), next_step=f"correct it, then run nemo-telemetry check-config {path or ''}"
        ) from error
    with cluster(address) as joined:
        report = _brought_up(config, joined, timeout_s)
    if is_json:
        click.echo(msgspec.json.encode(report).decode())
    else:
        _print(report)


def _brought_up(config: TelemetryConfig, address: str, timeout_s: float) -> StartReport:
    import ray

    from nemo_telemetry_actor.actor.lifecycle import ensure_actor

    try:
        with working("Waiting for the telemetry actor …"):
            handle, differences = ensure_actor(config, timeout_s)
            state = ask(handle.state.remote(), _ANSWER_TIMEOUT_S)
    except ActorUnavailableError as error:
        raise CommandFailedError(str(error), next_step="nemo-telemetry start") from error
    # An actor's id holds the job that made it, and this process is a job of its own.
    made = handle._actor_id.job_id.hex() == ray.get_runtime_context().get_job_id()
    return StartReport(
        made=made,
        address=address,
        http_url=state["http_url"],
        version=state["version"],
        host=state["host"],
        pid=state["pid"],
        differences=differences,
        problems=state["problems"],
    )


def _print(report: StartReport) -> None:
    click.echo("telemetry actor made" if report.made else "telemetry actor joined, it ran already")
    click.echo(f"  url      {report.http_url or 'none, its HTTP server is off'}")
    click.echo(f"  process  {report.pid} on {report.host}, version {report.version}")
    click.echo(f"  cluster  {report.address}")
    for problem in report.problems:
        click.echo(f"  problem  {problem}")
    if report.differences:
        click.echo("It keeps its own configuration, which is not the one asked for:")
        for difference in report.differences:
            click.echo(f"  {difference}")
        click.echo("To change it, run nemo-telemetry stop, then nemo-telemetry start again.")
    click.echo("See what arrives: nemo-telemetry status")
