# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The configuration: one frozen tree of fields, each with its meaning, unit, default and limits."""

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

Seconds: TypeAlias = Annotated[float, Meta(gt=0, le=86400)]
Port: TypeAlias = Annotated[int, Meta(ge=0, le=65535)]
Count: TypeAlias = Annotated[int, Meta(ge=1)]


class _Block(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    pass


class OtlpConfig(_Block, frozen=True):
    """One OTLP receiver."""

    endpoint: str
    protocol: Literal["grpc", "http/protobuf"] = "grpc"
    headers: dict[str, str] = {}
    timeout_s: Seconds = 10.0
    compression: Literal["none", "gzip"] = "none"
    certificate: str | None = None
    client_certificate: str | None = None
    client_key: str | None = None
    insecure: bool | None = None
    max_points: Count = 8192


class PrometheusConfig(_Block, frozen=True):
    """The pull endpoint `/metrics`."""

    resource_labels: tuple[str, ...] = (
        "nemo.run.id",
        "service.instance.id",
        "rl.worker_group",
        "nv.dl.rank",
    )


class FileConfig(_Block, frozen=True):
    """A rotating file of JSON lines in OTLP-JSON form."""

    path: str | None = None
    max_bytes: Annotated[int, Meta(ge=4096)] = 64 * 2**20
    max_files: Count = 5


class ConsoleConfig(_Block, frozen=True):
    """One line a data point on the actor's standard output (Ray forwards it to the driver)."""


class ExportConfig(_Block, frozen=True):
    """Where values go; any number of these at once."""

    interval_s: Seconds = 10.0
    otlp: tuple[OtlpConfig, ...] = ()
    prometheus: PrometheusConfig | None = PrometheusConfig()
    file: FileConfig | None = FileConfig()
    console: ConsoleConfig | None = None


class HttpConfig(_Block, frozen=True):
    """The actor's HTTP server: `/metrics`, `/api/state`, `/healthz`."""

    host: str = "127.0.0.1"
    port: Port = 9464
    token_file: str | None = None
    allow_unauthenticated: bool = False


class ClientConfig(_Block, frozen=True):
    """What every reporting process does."""

    flush_interval_s: Annotated[float, Meta(ge=0.05, le=20)] = 1.0
    observe_interval_s: Seconds = 10.0
    buffer_points: Annotated[int, Meta(ge=1024, le=100_000_000)] = 65536


class LimitsConfig(_Block, frozen=True):
    """Bounds of what the actor keeps."""

    series_per_metric: Count = 2000
    series: Count = 1_000_000
    backlog_points: Count = 1_000_000
    lease_s: Annotated[float, Meta(ge=3, le=86400)] = 90.0


class TelemetryConfig(_Block, frozen=True):
    """Everything that a configuration file may set."""

    service_name: str = "nemo-rl"
    export: ExportConfig = ExportConfig()
    http: HttpConfig = HttpConfig()
    client: ClientConfig = ClientConfig()
    limits: LimitsConfig = LimitsConfig()
