# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""`nemo-telemetry check-config`: is a configuration valid, and what is in effect?"""

import os

import click
import msgspec

from nemo_telemetry_actor.config import TelemetryConfig
from nemo_telemetry_actor.config.load import load_config
from nemo_telemetry_actor.config.transfer import redacted, rows
from nemo_telemetry_actor.errors import ConfigError


@click.command("check-config")
@click.argument("path", required=False)
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
def command(path: str | None, is_json: bool) -> None:
    """Check a configuration and show what is in effect.

    PATH is a YAML file; without it the defaults are shown. The OTEL_* variables of this shell are
    applied as start() would. Header values are hidden.
    """
    try:
        config = load_config(path, os.environ)
    except ConfigError as error:
        if is_json:
            _print_json({"source": path, "valid": False, "error": str(error)})
        raise
    if is_json:
        _print_json({"source": path, "valid": True, "config": redacted(config)})
    else:
        _print_table(path, config)


def _print_json(report: dict[str, object]) -> None:
    click.echo(msgspec.json.format(msgspec.json.encode(report), indent=2))


def _print_table(path: str | None, config: TelemetryConfig) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("key", no_wrap=True)
    table.add_column("value", overflow="fold")
    table.add_column("default", overflow="fold")
    defaults = rows(TelemetryConfig())
    for key, value in rows(config).items():
        default = defaults.get(key, "")
        is_default = value == default
        # Text, because rich would read brackets in a value as markup.
        table.add_row(
            Text(key),
            Text(value, style="" if is_default else "bold"),
            Text("" if is_default else default),
        )
    console = Console()
    console.print(Text(f"{path or 'defaults and environment'}: valid. In effect:"))
    console.print(table)
