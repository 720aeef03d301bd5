# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The configuration page and the example files say what the code does."""

import re
from pathlib import Path

import pytest
import yaml

from nemo_telemetry_actor.config import TelemetryConfig
from nemo_telemetry_actor.config.document import configuration_page
from nemo_telemetry_actor.config.load import load_config
from nemo_telemetry_actor.config.schema import keys
from nemo_telemetry_actor.config.transfer import differences

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "configs").glob("*.yaml"))
ENVIRON = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4317"}


def test_the_configuration_page_is_fresh() -> None:
    written = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")

    assert written == configuration_page(), (
        "run: python -m nemo_telemetry_actor.config.document > docs/configuration.md"
    )


def test_every_row_of_the_page_has_as_many_cells_as_its_head() -> None:
    rows = [line for line in configuration_page().splitlines() if line.startswith("|")]

    cells = {len(re.findall(r"(?<!\\)\|", row)) - 1 for row in rows}

    assert cells == {3, 4}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_file_loads(path: Path) -> None:
    load_config(path, ENVIRON)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_file_but_the_default_changes_something(path: Path) -> None:
    loaded = load_config(path, ENVIRON)

    assert bool(differences(TelemetryConfig(), loaded)) == (path.name != "default.yaml")


def test_the_default_file_is_the_default() -> None:
    assert load_config(ROOT / "configs/default.yaml", {}) == TelemetryConfig()


def test_the_default_file_has_every_key() -> None:
    data = yaml.safe_load((ROOT / "configs/default.yaml").read_text(encoding="utf-8"))

    def _paths(block: object, prefix: str) -> set[str]:
        if not isinstance(block, dict):
            return set()
        found = {f"{prefix}{key}" for key in block}
        return found.union(*(_paths(value, f"{prefix}{key}.") for key, value in block.items()))

    assert _paths(data, "") == {path for path in keys() if path and "[]" not in path}
