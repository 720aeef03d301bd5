# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""check-config: 0 and what is in effect, or 1 and what is wrong; secrets never."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nemo_telemetry_actor.cli.main import main
from nemo_telemetry_actor.config import TelemetryConfig
from nemo_telemetry_actor.config.transfer import redacted
from nemo_telemetry_actor.config.variables import VARIABLES

SECRET = "Bearer-3f9c"


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in VARIABLES:
        for name in variable.names:
            monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "160")


def _check(*args: str | Path, environ: Mapping[str, str] | None = None) -> Result:
    return CliRunner().invoke(main, ["check-config", *map(str, args)], env=environ)


def _file(folder: Path, text: str) -> Path:
    file = folder / "x.yaml"
    file.write_text(text)
    return file


def test_without_a_file_the_defaults_are_shown() -> None:
    result = _check()

    assert (result.exit_code, result.stderr) == (0, "")
    assert "defaults and environment: valid. In effect:" in result.stdout
    assert "export.interval_s" in result.stdout


def test_what_differs_from_the_default_is_shown_beside_it(tmp_path: Path) -> None:
    result = _check(_file(tmp_path, "export: {interval_s: 5}"))

    (line,) = [line for line in result.stdout.splitlines() if "export.interval_s" in line]
    assert line.split() == ["export.interval_s", "5.0", "10.0"]


def test_json_is_the_configuration_in_effect() -> None:
    result = _check("--json")

    assert json.loads(result.stdout) == {
        "source": None,
        "valid": True,
        "config": json.loads(json.dumps(redacted(TelemetryConfig()))),
    }


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_the_environment_is_applied_and_header_values_are_hidden(options: tuple[str, ...]) -> None:
    environ = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://h:4317",
        "OTEL_EXPORTER_OTLP_HEADERS": f"authorization={SECRET}",
    }

    result = _check(*options, environ=environ)

    assert result.exit_code == 0
    assert "http://h:4317" in result.stdout
    assert "<hidden>" in result.stdout
    assert SECRET not in result.output


def test_an_invalid_file_is_1_and_told_on_standard_error(tmp_path: Path) -> None:
    file = _file(tmp_path, "http: {port: -1}")

    result = _check(file)

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"Error: {file}: http.port is -1; it must be a whole number from 0 to 65535; correct it, "
        "or remove the key for the default 9464\n"
        "Next: correct it, then run nemo-telemetry check-config\n"
    )


def test_an_invalid_file_is_json_too(tmp_path: Path) -> None:
    file = _file(tmp_path, "htp: {}")

    result = _check(file, "--json")

    report = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (report["source"], report["valid"]) == (str(file), False)
    assert "htp is not a key; did you mean http?" in report["error"]


def test_a_missing_file_is_1(tmp_path: Path) -> None:
    result = _check(tmp_path / "missing.yaml")

    assert result.exit_code == 1
    assert "cannot be read (No such file or directory)" in result.stderr
