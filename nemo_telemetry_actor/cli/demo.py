# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""`nemo-telemetry demo`: a real training job whose metrics arrive while you watch."""

import importlib.util
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from nemo_telemetry_actor.cli.cluster import cluster
from nemo_telemetry_actor.cli.failure import CommandFailedError
from nemo_telemetry_actor.cli.progress import working
from nemo_telemetry_actor.config.load import load_config
from nemo_telemetry_actor.demo.errors import DemoError
from nemo_telemetry_actor.demo.options import DEFAULT_STEPS, DemoOptions
from nemo_telemetry_actor.errors import ActorUnavailableError

if TYPE_CHECKING:
    from nemo_telemetry_actor.demo.ray_session import RaySession

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
    metavar="HOST:PORT",
    help="Ray cluster to join, or auto for the one on this machine; RAY_ADDRESS when left out, and "
    "a local Ray of the demo's own when that is not set either.",
)
@click.option("--hold", is_flag=True, help="Keep everything up at the end, until Ctrl-C.")
@click.option(
    "--stop/--keep",
    default=False,
    help="Whether to stop the actor at the end on a Ray that was joined (kept when left out).",
)
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object instead of text.")
def command(address: str | None, is_json: bool, **options: Any) -> None:
    """Train a small policy on Ray and watch its metrics arrive.

    Real reinforcement learning on handwritten digits: worker groups, a reward model inside an
    environment actor, asynchronous rollouts. Needs the extra: pip install
    'nemo_telemetry_actor[demo]'.
    """
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise CommandFailedError(
            f"the demo needs {' and '.join(missing)}, not installed here",
            next_step="pip install 'nemo_telemetry_actor[demo]'",
        )
    from rich.console import Console

    from nemo_telemetry_actor.demo.run import run_demo

    load_config(options["config"], os.environ)  # what is wrong is told before Ray is started
    try:
        with _ray(address) as session:
            result = run_demo(DemoOptions(**options), session, console=Console(stderr=is_json))
    except (ActorUnavailableError, DemoError) as error:
        raise CommandFailedError(str(error), next_step="nemo-telemetry demo") from error
    if is_json:
        click.echo(msgspec.json.encode(result).decode())
    if not result.is_delivered:
        raise CommandFailedError(
            "not everything that the job recorded reached the telemetry actor in time",
            next_step="run nemo-telemetry demo --hold, and nemo-telemetry status beside it",
        )


@contextmanager
def _ray(address: str | None) -> "Iterator[RaySession]":
    """Join the cluster that is named, or start one that ends with the demo."""
    from nemo_telemetry_actor.demo.ray_session import RaySession, local_ray

    if address or os.environ.get("RAY_ADDRESS"):
        with cluster(address) as joined:
            yield RaySession(joined, is_own=False)
    else:
        with ExitStack() as stack:
            with working("Starting a local Ray …"):
                session = stack.enter_context(local_ray())
            yield session
