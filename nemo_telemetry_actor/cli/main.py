# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""`nemo-telemetry`: the shell around the commands, each of which is a file of its own.

A command is loaded when it is called, so that `--help` stays fast and needs no Ray. To add one,
write `cli/<name>.py` with a `click.Command` called `command`, and give it a line in `COMMANDS`.

Exit codes: 0 fine, 1 something is wrong, 2 wrong usage. Results go to standard output; errors go to
standard error, and their last line says what to do next.
"""

import importlib
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any, Final

import click

from nemo_telemetry_actor.cli.failure import CommandFailedError
from nemo_telemetry_actor.errors import ConfigError

PROGRAM: Final = "nemo-telemetry"

COMMANDS: Final[dict[str, tuple[str, str]]] = {
    # name: (module, the line in --help; the command's own short help must be the same)
    "demo": ("demo", "Train a small policy on Ray and watch its metrics arrive."),
    "start": ("start", "Bring the telemetry actor up in a Ray cluster."),
    "status": ("status", "Show runs, clients, exporters and losses."),
    "hosts": ("hosts", "Show the memory of every host and the groups there."),
    "doctor": ("doctor", "Check an installation from the inside, and say what to do."),
    "stop": ("stop", "Deliver what the telemetry actor holds, and end it."),
    "check-config": ("check_config", "Check a configuration and show what is in effect."),
}


class _LazyGroup(click.Group):
    """Loads a command's module only when that command is called; ends every error with advice."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        module = importlib.import_module(f"nemo_telemetry_actor.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command; in standalone mode end the process with its exit code."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, False, **extra)
        sys.exit(self._exit_code(args, complete_var, extra))

    def _exit_code(
        self, args: Sequence[str] | None, complete_var: str | None, extra: Mapping[str, Any]
    ) -> int:
        try:
            result = super().main(args, PROGRAM, complete_var, False, **extra)
        except click.UsageError as error:
            error.show()
            path = error.ctx.command_path if error.ctx else PROGRAM
            return _failed(f"{path} --help", error.exit_code)
        except CommandFailedError as error:
            error.show()
            return _failed(error.next_step, error.exit_code)
        except ConfigError as error:
            click.echo(f"Error: {error}", err=True)
            return _failed(f"correct it, then run {PROGRAM} check-config", 1)
        except click.Abort:
            return _failed("it was interrupted; run it again", 1)
        # `ctx.exit(code)` arrives as a result, and a command without one returns nothing.
        return result if isinstance(result, int) else 0


def _failed(next_step: str, exit_code: int) -> int:
    click.echo(f"Next: {next_step}", err=True)
    return exit_code


def _print_version(ctx: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if not is_asked:
        return
    try:
        version = metadata.version("nemo_telemetry_actor")
    except metadata.PackageNotFoundError:
        version = "(source tree, not installed)"
    click.echo(f"{PROGRAM} {version}")
    ctx.exit()


@click.group(
    cls=_LazyGroup,
    # Stand-ins, so that who asks which commands there are need not load them.
    commands={name: click.Command(name, short_help=text) for name, (_, text) in COMMANDS.items()},
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
def main() -> None:
    """Metrics of a reinforcement-learning job on Ray, through one named actor."""


if __name__ == "__main__":
    main()
