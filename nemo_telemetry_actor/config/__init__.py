# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The configuration: its fields, and how a file and the environment become one.

Importing this package loads the fields alone (a worker needs no more). The rest, one module a job:
`load` (file and environment → configuration), `transfer` (to the actor and back, and what differs),
`environment` (the `OTEL_*` variables), `check` (rules over several fields), `yaml_text` (strict
YAML), `explain` (error messages), `schema` (the fields as a table), `document` (the docs page).
"""

from nemo_telemetry_actor.config.fields import (
    HIDDEN,
    ClientConfig,
    ConsoleConfig,
    ExportConfig,
    FileConfig,
    HostsConfig,
    HttpConfig,
    LimitsConfig,
    OtlpConfig,
    PrometheusConfig,
    StateConfig,
    TelemetryConfig,
)

__all__ = [
    "HIDDEN",
    "ClientConfig",
    "ConsoleConfig",
    "ExportConfig",
    "FileConfig",
    "HostsConfig",
    "HttpConfig",
    "LimitsConfig",
    "OtlpConfig",
    "PrometheusConfig",
    "StateConfig",
    "TelemetryConfig",
]
