# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What the doctor reads before it joins a cluster."""

import subprocess
import sys
from pathlib import Path

from nemo_telemetry_actor.cli.doctor import read_configuration
from nemo_telemetry_actor.cli.doctor_facts import Configuration
from nemo_telemetry_actor.config.load import load_config

BEFORE_THE_CLUSTER = """
import sys

from nemo_telemetry_actor.cli.doctor import read_configuration

read_configuration(None, {})
print("ray" in sys.modules)
"""


def test_ray_is_not_loaded_before_its_settings_are_made() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BEFORE_THE_CLUSTER], capture_output=True, text=True, check=True
    )

    assert done.stdout == "False\n"


def test_a_configuration_is_read_with_the_endpoints_of_the_environment() -> None:
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4317"}

    configuration, config = read_configuration(None, environ)

    name = "otlp/grpc http://collector:4317"
    assert configuration == Configuration(None, targets={name: ("collector", 4317)})
    assert config == load_config(None, environ)


def test_a_wrong_configuration_is_a_problem_and_no_error(tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text("http: {port: -1}")

    configuration, config = read_configuration(str(path), {})

    assert config is None
    assert "http.port is -1" in configuration.problem
