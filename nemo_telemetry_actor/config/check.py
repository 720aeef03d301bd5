# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Rules that a single field's type and range cannot say: syntax, files, and fields together.

Each rule returns what is wrong as one sentence without any secret, or `None`. An endpoint's text
is shown only once it is known to hold no credentials.
"""

import ipaddress
import os
import re
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import SplitResult, urlsplit

from nemo_telemetry_actor.config import HttpConfig, OtlpConfig, TelemetryConfig

METRICS_PATH: Final = "/v1/metrics"

_HEADER_NAME = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?")
_HOST = re.compile(r"[A-Za-z0-9_.:%-]+")
_MIN_FLUSHES_A_LEASE = 3


def config_problem(config: TelemetryConfig) -> str | None:
    """Return the first broken rule of `config`, or `None`. Reads only whether files exist."""
    return next(_problems(config), None)


def _problems(config: TelemetryConfig) -> Iterator[str]:
    for index, otlp in enumerate(config.export.otlp):
        yield from _otlp_problems(f"export.otlp[{index}]", otlp)
    yield from _twin_problems(config.export.otlp)
    yield from _http_problems(config.http)
    shortest = _MIN_FLUSHES_A_LEASE * config.client.flush_interval_s
    if config.limits.lease_s < shortest:
        yield (
            f"limits.lease_s is {config.limits.lease_s}; it must be at least {shortest:g} (seconds: "
            f"{_MIN_FLUSHES_A_LEASE} x client.flush_interval_s), or one late flush ends a live "
            "process; raise limits.lease_s or lower client.flush_interval_s"
        )
    if config.limits.series_per_metric > config.limits.series:
        yield (
            f"limits.series_per_metric is {config.limits.series_per_metric}; it must be at most "
            f"limits.series, {config.limits.series} (series); lower it or raise limits.series"
        )


def _otlp_problems(path: str, otlp: OtlpConfig) -> Iterator[str]:
    if problem := endpoint_problem(otlp.endpoint, otlp.protocol):
        yield f"{path}.endpoint {problem}"
    if problem := headers_problem(otlp.headers, otlp.protocol):
        yield f"{path}.headers {problem}"
    if (otlp.client_certificate is None) != (otlp.client_key is None):
        given, wanted = "client_certificate", "client_key"
        if otlp.client_key is not None:
            given, wanted = wanted, given
        yield f"{path}.{given} is set; {wanted} must be set too; set both, or remove {given}"
    for name in ("certificate", "client_certificate", "client_key"):
        if problem := file_problem(getattr(otlp, name), is_shown=name != "client_key"):
            yield f"{path}.{name} {problem}"
    yield from _encryption_problems(path, otlp)


def _encryption_problems(path: str, otlp: OtlpConfig) -> Iterator[str]:
    scheme = endpoint_scheme(otlp.endpoint)
    if otlp.insecure is not None and scheme and otlp.insecure != (scheme == "http"):
        yield (
            f"{path}.insecure is {str(otlp.insecure).lower()}; it must agree with the scheme of "
            f"endpoint, {scheme}://; remove insecure, the scheme is enough"
        )
    if otlp.certificate and (scheme == "http" or otlp.insecure):
        yield (
            f"{path}.certificate is set; the endpoint must then be reached with TLS, and it is "
            "plain text; use https:// or remove certificate"
        )


def endpoint_scheme(endpoint: str) -> str:
    """Return `http`, `https`, or an empty text for an endpoint without either."""
    scheme, separator, _ = endpoint.partition("://")
    return scheme.lower() if separator and scheme.lower() in {"http", "https"} else ""


def endpoint_problem(endpoint: str, protocol: str) -> str | None:
    """Return what is wrong with an endpoint, as the rest of a sentence that begins with its name.

    The endpoint itself is quoted only where it cannot hold credentials.
    """
    if not re.fullmatch(r"[\x21-\x7e]+", endpoint):
        return "has spaces or characters outside ASCII; it must be one plain URL; remove them"
    if any(mark in endpoint for mark in "@?#"):
        return (
            "has a user, a query or a fragment; it must be without (they show in logs and pages); "
            "send credentials in headers"
        )
    grpc = protocol == "grpc"
    has_scheme = "://" in endpoint
    try:
        url = urlsplit(endpoint if has_scheme else f"//{endpoint}")
        port = url.port
    except ValueError:
        return f"is {endpoint!r}; it must have a valid host and a port from 1 to 65535; correct it"
    if port == 0 or not url.hostname or not _HOST.fullmatch(url.hostname):
        return f"is {endpoint!r}; it must have a valid host and a port from 1 to 65535; correct it"
    if url.scheme not in ({"", "http", "https"} if grpc else {"http", "https"}):
        wanted = "host:port or http(s)://host:port" if grpc else "an http:// or https:// URL"
        return f"is {endpoint!r}; for protocol {protocol} it must be {wanted}; write that form"
    return _grpc_problem(endpoint, url, port) if grpc else None


def _grpc_problem(endpoint: str, url: SplitResult, port: int | None) -> str | None:
    if url.path not in {"", "/"}:
        return (
            f"is {endpoint!r}; for protocol grpc it must be host:port or http(s)://host:port; "
            "remove the path, or set the protocol to http/protobuf"
        )
    if port is None:
        return (
            f"is {endpoint!r}; for protocol grpc it must name a port; add it (collectors listen "
            "on :4317, hosted receivers mostly on :443)"
        )
    return None


def full_endpoint(endpoint: str, protocol: str) -> str:
    """Return the endpoint as it is used: for `http/protobuf` one without a path gets OTLP's own."""
    if protocol == "grpc" or not endpoint_scheme(endpoint):
        return endpoint
    has_path = endpoint.partition("://")[2].partition("/")[2]
    return endpoint if has_path else endpoint.rstrip("/") + METRICS_PATH


def headers_problem(headers: Mapping[str, str], protocol: str) -> str | None:
    """Return what is wrong with lower-cased headers, as the rest of a sentence; never a value."""
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            return (
                "has a name that is no HTTP header name; it must be of letters, digits and "
                "!#$%&'*+.^_`|~-; correct the name"
            )
        if not _HEADER_VALUE.fullmatch(value):
            return (
                f"has a value for {name!r} that cannot be sent; it must be printable ASCII without "
                "spaces at its ends; encode it (line ends from a token file are the usual cause)"
            )
        if protocol == "grpc" and (name.endswith("-bin") or name.startswith("grpc-")):
            return f"has the name {name!r}, which gRPC keeps for itself; choose another"
    return None


def file_problem(path: str | None, *, is_shown: bool) -> str | None:
    """Return what is wrong with a file to be read, as the rest of a sentence.

    `is_shown` is false where people put the secret itself in place of the path.
    """
    if path is None or os.path.isfile(path):
        return None
    shown = repr(path) if is_shown else "hidden, in case it is the secret itself"
    return f"names no file ({shown}); it must be the path of one; create it, or remove the key"


def _twin_problems(receivers: tuple[OtlpConfig, ...]) -> Iterator[str]:
    first_with: dict[tuple[str, str], int] = {}
    for index, otlp in enumerate(receivers):
        first = first_with.setdefault((otlp.protocol, otlp.endpoint.rstrip("/")), index)
        if first != index:
            yield (
                f"export.otlp[{index}].endpoint is the same as that of export.otlp[{first}]; each "
                "receiver must be listed once, or every value arrives twice; remove one"
            )


def _http_problems(http: HttpConfig) -> Iterator[str]:
    if not _HOST.fullmatch(http.host):
        yield (
            f"http.host is {http.host!r}; it must be a host name or an IP address alone; put the "
            "port into http.port"
        )
    if problem := file_problem(http.token_file, is_shown=False):
        yield f"http.token_file {problem}"
    if http.token_file is not None and http.allow_unauthenticated:
        yield (
            "http.allow_unauthenticated is true; it must be false when http.token_file is set; "
            "remove one of the two"
        )
    if not (_is_loopback(http.host) or http.token_file or http.allow_unauthenticated):
        yield (
            f"http.host is {http.host!r}; other than loopback it must have a token; set "
            "http.token_file (or http.allow_unauthenticated: true on a network you trust)"
        )


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
