# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The shell: help without loading commands, exit codes, and advice as an error's last line."""

import subprocess
import sys

import click
import pytest
from click.testing import CliRunner, Result

from nemo_telemetry_actor.cli.failure import CommandFailedError
from nemo_telemetry_actor.cli.main import COMMANDS, main
from nemo_telemetry_actor.errors import ConfigError

NAMES = sorted(COMMANDS)

LOADED_BY_HELP = """
import sys

from nemo_telemetry_actor.cli.main import main

try:
    main(["--help"])
except SystemExit:
    print("LOADED", *sorted(sys.modules))
"""


def _run(*args: str) -> Result:
    return CliRunner().invoke(main, args)


def _last_line(text: str) -> str:
    return text.rstrip("\n").rpartition("\n")[2]


def test_help_names_every_command_and_loads_none() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED_BY_HELP], capture_output=True, text=True, check=True
    )

    help_text, _, loaded = done.stdout.partition("LOADED")
    assert [name for name in NAMES if f"  {name}  " not in help_text] == []
    heavy = {"ray", "rich", "aiohttp", "grpc", "opentelemetry", "yaml"}
    assert set(loaded.split()) & heavy == set()
    commands = {f"nemo_telemetry_actor.cli.{module}" for module, _ in COMMANDS.values()}
    assert set(loaded.split()) & commands == set()


@pytest.mark.parametrize("name", NAMES)
def test_the_line_in_help_is_the_commands_own(name: str) -> None:
    command = main.get_command(click.Context(main), name)

    assert command is not None
    assert command.name == name
    assert command.get_short_help_str(limit=200) == COMMANDS[name][1]


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_help(name: str) -> None:
    result = _run(name, "--help")

    assert result.exit_code == 0
    assert f"Usage: nemo-telemetry {name}" in result.stdout


def test_the_version_is_shown() -> None:
    result = _run("--version")

    assert result.exit_code == 0
    assert result.stdout.startswith("nemo-telemetry ")


@pytest.mark.parametrize(
    ("args", "advice"),
    [
        ((), "Next: nemo-telemetry --help"),
        (("no-such-command",), "Next: nemo-telemetry --help"),
        (("--no-such-option",), "Next: nemo-telemetry --help"),
        (("check-config", "--no-such-option"), "Next: nemo-telemetry check-config --help"),
        (("check-config", "a", "b"), "Next: nemo-telemetry check-config --help"),
    ],
)
def test_wrong_usage_is_2_and_ends_in_advice(args: tuple[str, ...], advice: str) -> None:
    result = _run(*args)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert _last_line(result.stderr) == advice


@pytest.mark.parametrize(
    ("error", "lines"),
    [
        (
            CommandFailedError("nothing answers", next_step="nemo-telemetry start"),
            "Error: nothing answers\nNext: nemo-telemetry start\n",
        ),
        (
            ConfigError("http.port is 0"),
            "Error: http.port is 0\nNext: correct it, then run nemo-telemetry check-config\n",
        ),
        (click.Abort(), "Next: it was interrupted; run it again\n"),
    ],
)
def test_a_failure_is_1_and_ends_in_advice(error: Exception, lines: str) -> None:
    @click.command()
    def command() -> None:
        raise error

    group = type(main)("nemo-telemetry", commands={"fail": command})

    result = CliRunner().invoke(group, ["fail"])

    assert (result.exit_code, result.stdout, result.stderr) == (1, "", lines)
