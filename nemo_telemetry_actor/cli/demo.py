# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""`nemo-telemetry demo`: a real training job whose metrics arrive while you watch."""

import importlib.util
from pathlib import Path
from typing import Any

import click
import msgspec

from nemo_telemetry_actor.cli.failure import CommandFailedError
from nemo_telemetry_actor.demo.errors import DemoError
from nemo_telemetry_actor.demo.options import DEFAULT_STEPS, DemoOptions
from nemo_telemetry_actor.errors import ActorUnavailableError

_NEEDED = ("numpy", "sklearn")


@click.command("demo")
@click.option(
    "--steps",
    type=click.IntRange(1, 100_000),
    default=DEFAULT_STEPS,
    show_default=True,
    help="Optimizer steps.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of all chance.")
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Configuration file of the telemetry actor; the embedded default when left out.",
)
@click.option(
    "--address",
    help="Ray cluster to join (host:port or auto); RAY_ADDRESS when left out, and a local Ray of "
    "the demo's own when that is not set either.",
)
@click.option("--hold", is_flag=True, help="Keep everything up at the end, until Ctrl-C.")
@click.option(
    "--stop/--keep",
    default=False,
    help="Whether to stop the actor at the end on a Ray that was joined (kept when left out).",
)
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object instead of text.")
def command(is_json: bool, **options: Any) -> None:
    """Train a small policy on Ray and watch its metrics arrive.

    Real reinforcement learning on handwritten digits: worker groups, a reward model inside an
    environment actor, asynchronous rollouts. Needs the extra: pip install
    'nemo_telemetry_actor[demo]'.
    """
    from rich.console import Console

    console = Console(stderr=is_json)
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise CommandFailedError(
            f"the demo needs {' and '.join(missing)}, not installed here",
            next_step="pip install 'nemo_telemetry_actor[demo]'",
        )
    from nemo_telemetry_actor.demo.run import run_demo

    try:
        result = run_demo(DemoOptions(**options), console=console)
    except (ActorUnavailableError, DemoError) as error:
        raise CommandFailedError(str(error), next_step="nemo-telemetry demo") from error
    if is_json:
        click.echo(msgspec.json.encode(result).decode())
    if not result.is_delivered:
        raise CommandFailedError(
            "not everything that the job recorded reached the telemetry actor in time",
            next_step="run nemo-telemetry demo --hold, and nemo-telemetry status beside it",
        )
