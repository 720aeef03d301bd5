# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The fields: one frozen tree, each with its meaning, unit, default and limits.

`docs/configuration.md` is generated from this tree, and error messages quote it.
"""

from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

HIDDEN: Final = "<hidden>"

Seconds: TypeAlias = Annotated[float, Meta(gt=0, le=86400, extra={"unit": "seconds"})]
Count: TypeAlias = Annotated[int, Meta(ge=1, le=10**12)]
Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=255)]
Path: TypeAlias = Annotated[str, Meta(min_length=1, max_length=4096)]

_POINTS = Meta(extra={"unit": "data points"})
_SERIES = Meta(extra={"unit": "series"})
_BYTES = Meta(extra={"unit": "bytes"})
_FILES = Meta(extra={"unit": "files"})


class _Block(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    pass


class OtlpConfig(_Block, frozen=True):
    """One OTLP receiver. Its text forms never show a header's value."""

    endpoint: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=2048,
            description="Where to send. For `grpc` `host:port` or `http(s)://host:port`; without a "
            "scheme the connection is TLS unless `insecure` is true. For `http/protobuf` the "
            "whole URL; without a path it gets `/v1/metrics`. Credentials belong in `headers`. An "
            "entry without endpoint takes it from the environment.",
        ),
    ]
    protocol: Annotated[
        Literal["grpc", "http/protobuf"], Meta(description="How OTLP is carried.")
    ] = "grpc"
    headers: Annotated[
        dict[str, str],
        Meta(
            description="Sent with every request, for example `authorization`. Names are "
            "lower-cased. Values are secrets: they appear in no log, page or error.",
        ),
    ] = {}
    timeout_s: Annotated[
        Seconds, Meta(description="How long one request may take, before it counts as failed.")
    ] = 10.0
    compression: Annotated[
        Literal["none", "gzip"], Meta(description="Compression of request bodies.")
    ] = "none"
    certificate: Annotated[
        Path | None,
        Meta(
            description="PEM file of the authorities to trust; `null` trusts the system's. Must "
            "exist where the configuration is loaded, and at the same path on the actor's node.",
        ),
    ] = None
    client_certificate: Annotated[
        Path | None,
        Meta(description="PEM file with our certificate, for mutual TLS; needs `client_key`."),
    ] = None
    client_key: Annotated[
        Path | None,
        Meta(description="PEM file with the key of `client_certificate`."),
    ] = None
    insecure: Annotated[
        bool | None,
        Meta(
            description="Whether a `grpc` endpoint without a scheme is reached in plain text; "
            "`null` means no. A scheme in the endpoint decides by itself.",
        ),
    ] = None
    max_points: Annotated[
        Count, _POINTS, Meta(description="Most data points in one request; more are split.")
    ] = 8192

    def __rich_repr__(self) -> list[tuple[str, object]]:
        """Pair each field with its value, header values hidden (also what `repr` shows)."""
        shown = {name: getattr(self, name) for name in self.__struct_fields__}
        shown["headers"] = dict.fromkeys(self.headers, HIDDEN)
        return list(shown.items())

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"{type(self).__name__}({fields})"


class PrometheusConfig(_Block, frozen=True):
    """The pull endpoint `/metrics`."""

    resource_labels: Annotated[
        tuple[Name, ...],
        Meta(
            description="Resource attributes that become labels of every series; the rest is on "
            "`target_info` only.",
        ),
    ] = ("nemo.run.id", "service.instance.id", "rl.worker_group", "nv.dl.rank")


class FileConfig(_Block, frozen=True):
    """A rotating file of JSON lines in OTLP-JSON form."""

    path: Annotated[
        Path | None,
        Meta(description="The file to append to; `null` leaves the place to the actor."),
    ] = None
    max_bytes: Annotated[
        int,
        Meta(ge=4096, le=2**50, description="Size at which a new file is begun."),
        _BYTES,
    ] = 64 * 2**20
    max_files: Annotated[
        Count, _FILES, Meta(description="How many files are kept, the current one included.")
    ] = 5


class ConsoleConfig(_Block, frozen=True):
    """One line a data point on the actor's standard output (Ray forwards it to the driver)."""


class ExportConfig(_Block, frozen=True):
    """Where values go; any number of these at once."""

    interval_s: Annotated[
        Seconds, Meta(description="Time between two exports to each push exporter.")
    ] = 10.0
    otlp: Annotated[
        tuple[OtlpConfig, ...],
        Meta(
            description="OTLP receivers: one mapping or a list of them. Left out, one receiver is "
            "made of the `OTEL_*` variables when they name an endpoint; `null` or `[]` is off.",
        ),
    ] = ()
    prometheus: Annotated[
        PrometheusConfig | None,
        Meta(description="The pull endpoint. `null` or `false` is off, `true` or `{}` on."),
    ] = PrometheusConfig()
    file: Annotated[
        FileConfig | None,
        Meta(description="The JSON-lines file. `null` or `false` is off, `true` or `{}` on."),
    ] = FileConfig()
    console: Annotated[
        ConsoleConfig | None,
        Meta(description="Lines on the console. `null` or `false` is off, `true` or `{}` on."),
    ] = None


class HttpConfig(_Block, frozen=True):
    """The actor's HTTP server: `/metrics`, `/api/state`, `/healthz`."""

    host: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=255,
            description="Name or address to listen on. Other than loopback it wants `token_file` "
            "or `allow_unauthenticated`.",
        ),
    ] = "127.0.0.1"
    port: Annotated[
        int, Meta(ge=0, le=65535, description="TCP port; 0 lets the system choose a free one.")
    ] = 9464
    token_file: Annotated[
        Path | None,
        Meta(
            description="File whose content every request must carry as a bearer token. Must "
            "exist where the configuration is loaded, and at the same path on the actor's node.",
        ),
    ] = None
    allow_unauthenticated: Annotated[
        bool,
        Meta(description="Serve anyone who can reach `host`, without a token."),
    ] = False


class HostsConfig(_Block, frozen=True):
    """Memory of every host of the cluster, read from its raylets."""

    interval_s: Annotated[
        Seconds, Meta(description="Time between two sweeps over all hosts; the first is at once.")
    ] = 10.0
    timeout_s: Annotated[
        float,
        Meta(
            ge=0.1,
            le=300,
            extra={"unit": "seconds"},
            description="What one node may take to answer; a node that takes longer is a gap.",
        ),
    ] = 5.0
    source: Annotated[
        Literal["node", "host"],
        Meta(
            description="Whose memory: `node` is the container's where Ray runs in one, `host` "
            "prefers the whole machine's (Ray 2.57 and newer) and falls back to `node`.",
        ),
    ] = "node"
    via: Annotated[
        Literal["auto", "raylet", "dashboard"],
        Meta(
            description="Where it is read: each raylet's metrics page, or the dashboard's node "
            "summary. `auto` takes the dashboard on Ray 2.52 to 2.56, where reading a page "
            "empties it for your own Prometheus, and the pages elsewhere.",
        ),
    ] = "auto"
    components: Annotated[
        bool,
        Meta(
            description="Also report memory by Ray component, `rl.host.memory.component`; only "
            "from raylet pages.",
        ),
    ] = False


class StateConfig(_Block, frozen=True):
    """The actor's state on disk, so that a restart of the actor loses and doubles nothing."""

    path: Annotated[
        Path | None,
        Meta(
            description="The SQLite file, on the actor's node, readable by its owner alone. `null` "
            "puts it into Ray's session directory.",
        ),
    ] = None


class ClientConfig(_Block, frozen=True):
    """What every reporting process does."""

    flush_interval_s: Annotated[
        float,
        Meta(
            ge=0.05,
            le=20,
            extra={"unit": "seconds"},
            description="Time between two sends to the actor; what a killed process can lose.",
        ),
    ] = 1.0
    observe_interval_s: Annotated[
        Seconds, Meta(description="Time between two calls of each observable instrument.")
    ] = 10.0
    buffer_points: Annotated[
        int,
        Meta(
            ge=1024,
            le=100_000_000,
            description="Most values that wait in a process while the actor is unreachable. Beyond "
            "it the oldest gauge values are dropped and counted.",
        ),
        _POINTS,
    ] = 65536


class LimitsConfig(_Block, frozen=True):
    """Bounds of what the actor keeps."""

    series_per_metric: Annotated[
        Count,
        _SERIES,
        Meta(description="Most series of one metric; further ones share one overflow series."),
    ] = 2000
    series: Annotated[Count, _SERIES, Meta(description="Most series of all metrics together.")] = (
        1_000_000
    )
    backlog_points: Annotated[
        Count,
        _POINTS,
        Meta(
            description="Most gauge values kept for a backend that does not answer. Beyond it the "
            "oldest are dropped and counted.",
        ),
    ] = 1_000_000
    backlog_bytes: Annotated[
        int,
        Meta(
            ge=65536,
            le=2**40,
            extra={"unit": "bytes"},
            description="Most memory that these values take. Beyond it the oldest are dropped and "
            "counted.",
        ),
    ] = 256 * 2**20
    backlog_age_s: Annotated[
        float,
        Meta(
            ge=60,
            le=31_536_000,
            extra={"unit": "seconds"},
            description="How long a value waits for a backend before it is dropped and counted.",
        ),
    ] = 172_800.0
    lease_s: Annotated[
        float,
        Meta(
            ge=3,
            le=86400,
            extra={"unit": "seconds"},
            description="How long a silent process counts as alive; at least three times "
            "`client.flush_interval_s`.",
        ),
    ] = 90.0


class TelemetryConfig(_Block, frozen=True):
    """Everything that a configuration file may set."""

    service_name: Annotated[
        Name, Meta(description="The resource attribute `service.name` of every series.")
    ] = "nemo-rl"
    export: Annotated[ExportConfig, Meta(description="Where values go.")] = ExportConfig()
    http: Annotated[HttpConfig, Meta(description="The actor's HTTP server.")] = HttpConfig()
    hosts: Annotated[
        HostsConfig | None,
        Meta(description="Host memory. `null` or `false` is off, `true` or `{}` the defaults."),
    ] = HostsConfig()
    state: Annotated[
        StateConfig | None,
        Meta(description="State on disk. `null` or `false` keeps it in memory alone."),
    ] = StateConfig()
    client: Annotated[ClientConfig, Meta(description="What every reporting process does.")] = (
        ClientConfig()
    )
    limits: Annotated[LimitsConfig, Meta(description="Bounds of what the actor keeps.")] = (
        LimitsConfig()
    )
