# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Fields: secrets stay hidden in every text form, and every key is documented."""

import io

import pytest
from rich.console import Console

from nemo_telemetry_actor.config import ExportConfig, OtlpConfig, TelemetryConfig
from nemo_telemetry_actor.config.schema import KeyInfo, keys

SECRET = "Bearer-3f9c"
RECEIVER = OtlpConfig(endpoint="h:4317", headers={"authorization": SECRET})
WHOLE = TelemetryConfig(export=ExportConfig(otlp=(RECEIVER,)))


@pytest.mark.parametrize("value", [RECEIVER, WHOLE.export, WHOLE])
@pytest.mark.parametrize("form", [repr, str, "{}".format, "{!r}".format, "%s".__mod__])
def test_a_header_value_is_in_no_text_form(value: object, form: object) -> None:
    assert callable(form)

    text = form(value)

    assert SECRET not in text
    assert "'authorization': '<hidden>'" in text


def test_a_header_value_is_not_in_what_rich_prints() -> None:
    console = Console(file=io.StringIO(), width=200)

    console.print(WHOLE)

    assert isinstance(console.file, io.StringIO)
    printed = console.file.getvalue()
    assert SECRET not in printed
    assert "<hidden>" in printed


def test_the_text_form_names_every_field() -> None:
    assert repr(OtlpConfig(endpoint="h:4317")) == (
        "OtlpConfig(endpoint='h:4317', protocol='grpc', headers={}, timeout_s=10.0, "
        "compression='none', certificate=None, client_certificate=None, client_key=None, "
        "insecure=None, max_points=8192)"
    )


def test_every_key_has_a_meaning() -> None:
    assert [path for path, info in keys().items() if path and not info.description] == []


def test_every_key_named_for_a_unit_says_the_unit() -> None:
    units = {"_s": "seconds", "_bytes": "bytes", "_points": "data points"}

    wrong = [
        path
        for path, info in keys().items()
        for ending, unit in units.items()
        if path.endswith(ending) and info.unit != unit
    ]

    assert wrong == []


def test_a_key_is_described_as_a_row() -> None:
    assert keys()["client.flush_interval_s"] == KeyInfo(
        path="client.flush_interval_s",
        limit="a number from 0.05 to 20 (seconds)",
        unit="seconds",
        default="1.0",
        description="Time between two sends to the actor; what a killed process can lose.",
    )
