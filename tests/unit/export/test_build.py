# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from nemo_telemetry_actor.config import ConsoleConfig, ExportConfig, FileConfig, OtlpConfig
from nemo_telemetry_actor.errors import ConfigError
from nemo_telemetry_actor.export.build import build_exporters


def test_every_exporter_asked_for_has_a_unique_name_without_secrets() -> None:
    grpc = OtlpConfig(endpoint="http://u:geheim@one:4317", headers={"k": "geheim"})
    http = OtlpConfig(endpoint="http://two/otlp?k=geheim", protocol="http/protobuf")
    config = ExportConfig(otlp=(grpc, http, grpc), console=ConsoleConfig())

    exporters = build_exporters(config, default_file=Path("/default.jsonl"))

    assert [exporter.name for exporter in exporters] == [
        "otlp/grpc http://one:4317",
        "otlp/http http://two/otlp",
        "otlp/grpc http://one:4317 #2",
        "file /default.jsonl",
        "console",
    ]
    assert "geheim" not in repr(exporters)


def test_nothing_asked_for_makes_nothing() -> None:
    assert build_exporters(ExportConfig(file=None), default_file=Path("/x")) == ()


def test_a_path_of_the_configuration_beats_the_default() -> None:
    config = ExportConfig(file=FileConfig(path="/own.jsonl"))

    (exporter,) = build_exporters(config, default_file=Path("/default.jsonl"))

    assert exporter.name == "file /own.jsonl"


def test_an_endpoint_that_cannot_be_used_is_a_configuration_error() -> None:
    config = ExportConfig(otlp=(OtlpConfig(endpoint="ftp://x"),))

    with pytest.raises(ConfigError, match="endpoint"):
        build_exporters(config, default_file=Path("/x"))
