# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""From the configuration's `export` block to exporters with unique names."""

import sys
from pathlib import Path

from nemo_telemetry_actor.config import ExportConfig, OtlpConfig
from nemo_telemetry_actor.export.console import ConsoleExporter
from nemo_telemetry_actor.export.endpoint import parse_endpoint
from nemo_telemetry_actor.export.exporter import PushExporter
from nemo_telemetry_actor.export.file import FileExporter


def build_exporters(config: ExportConfig, *, default_file: Path) -> tuple[PushExporter, ...]:
    """Return the push exporters that a configuration asks for; nothing is opened yet.

    Args:
        config: The `export` block.
        default_file: The JSON-lines file when `export.file.path` is not set.

    Raises:
        ConfigError: An OTLP endpoint or header cannot be used.
    """
    taken: set[str] = set()
    exporters = [_otlp(otlp, taken) for otlp in config.otlp]
    if config.file is not None:
        path = default_file if config.file.path is None else Path(config.file.path).expanduser()
        exporters.append(FileExporter(config.file, path))
    if config.console is not None:
        exporters.append(ConsoleExporter(sys.stdout))
    return tuple(exporters)


def _otlp(config: OtlpConfig, taken: set[str]) -> PushExporter:
    """Make one OTLP exporter; its client library is loaded only when a configuration wants it."""
    public = parse_endpoint(config.endpoint).public
    if config.protocol == "grpc":
        from nemo_telemetry_actor.export.otlp_grpc import OtlpGrpcExporter

        return OtlpGrpcExporter(config, name=_unique(f"otlp/grpc {public}", taken))
    from nemo_telemetry_actor.export.otlp_http import OtlpHttpExporter

    return OtlpHttpExporter(config, name=_unique(f"otlp/http {public}", taken))


def _unique(name: str, taken: set[str]) -> str:
    """Return the name, with ` #2`, ` #3`, … when it is taken already, and take it."""
    unique, count = name, 1
    while unique in taken:
        count += 1
        unique = f"{name} #{count}"
    taken.add(unique)
    return unique
