# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""`nemo-telemetry doctor`: is the installation sound, seen from the inside?"""

import asyncio
import os
from collections.abc import Mapping

import click

from nemo_telemetry_actor.cli.cluster import address_option, cluster
from nemo_telemetry_actor.cli.doctor_check import DoctorReport, report
from nemo_telemetry_actor.cli.doctor_facts import Configuration, Facts, Unknown
from nemo_telemetry_actor.cli.failure import CommandFailedError
from nemo_telemetry_actor.cli.progress import working
from nemo_telemetry_actor.cli.watching import print_json, print_page
from nemo_telemetry_actor.config.fields import TelemetryConfig
from nemo_telemetry_actor.config.load import load_config
from nemo_telemetry_actor.errors import ConfigError


@click.command("doctor")
@address_option
@click.option(
    "--config",
    "path",
    type=click.Path(exists=True, dir_okay=False),
    help="YAML file that you want to be in force: it is checked, and compared with the actor's.",
)
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=1.0),
    default=20.0,
    show_default=True,
    help="Seconds for all checks together, which are made at once.",
)
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
def command(address: str | None, path: str | None, timeout_s: float, is_json: bool) -> None:
    """Check an installation from the inside, and say what to do.

    Versions, configuration, the actor, every raylet's metrics page, the dashboard, OTLP endpoints,
    the HTTP server, disk and clocks. Without an actor, what needs none is checked. Starts one tiny
    task on up to 64 nodes to read their clocks. Ends with 0 when no check failed.
    """
    result = examine(address, path, timeout_s)
    if is_json:
        print_json(result, indent=2)
    else:
        from nemo_telemetry_actor.cli.doctor_view import doctor_page

        print_page(result, doctor_page)
    failed = [check for check in result.checks if check.level == "failed"]
    if failed:
        names = ", ".join(dict.fromkeys(check.name for check in failed))
        raise CommandFailedError(
            f"failed: {names}", next_step=failed[0].next_step or "nemo-telemetry status"
        )


def examine(address: str | None, path: str | None, timeout_s: float) -> DoctorReport:
    """Find the facts out and judge them."""
    from nemo_telemetry_actor.cli.doctor_checks import all_checks

    joined, facts = _facts(address, path, timeout_s)
    return report(joined, all_checks(facts))


def read_configuration(
    path: str | None, environ: Mapping[str, str]
) -> tuple[Configuration, TelemetryConfig | None]:
    """Load the configuration that is wanted; None when it cannot be used."""
    from nemo_telemetry_actor.cli.doctor_probe import targets_of

    try:
        config = load_config(path, environ)
        return Configuration(path, targets=targets_of(config)), config
    except ConfigError as error:
        return Configuration(path, str(error)), None


def _facts(address: str | None, path: str | None, timeout_s: float) -> tuple[str | None, Facts]:
    configuration, config = read_configuration(path, os.environ)
    try:
        with cluster(address) as joined, working("Examining …"):
            # Late, because it loads Ray, whose settings `cluster` has to make first.
            from nemo_telemetry_actor.cli.doctor_gather import gather

            compared = config if path else None
            return joined, asyncio.run(gather(joined, configuration, compared, timeout_s))
    except CommandFailedError as error:
        why = Unknown(error.message, error.next_step)
    from nemo_telemetry_actor.cli.doctor_gather import gather_without_cluster

    return None, asyncio.run(gather_without_cluster(configuration, why))
