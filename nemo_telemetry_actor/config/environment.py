# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What the `OTEL_*` variables say about the keys that a configuration leaves unset.

A variable is read only where its value would be used; then a bad one is an error that names it.
"""

from collections.abc import Mapping
from urllib.parse import unquote

from nemo_telemetry_actor.config.check import (
    METRICS_PATH,
    endpoint_problem,
    endpoint_scheme,
    file_problem,
    full_endpoint,
    headers_problem,
)
from nemo_telemetry_actor.config.variables import (
    LONGEST_INTERVAL_MS,
    LONGEST_TIMEOUT_S,
    pair,
    read_boolean,
    read_choice,
    read_names,
    read_number,
    read_text,
)
from nemo_telemetry_actor.errors import ConfigError


def service_name(environ: Mapping[str, str]) -> str | None:
    """Return the service name that the environment gives, or `None`.

    Raises:
        ConfigError: It is no text of at most 255 characters.
    """
    variable, name = read_text(environ, "OTEL_SERVICE_NAME")
    if name is None:
        variable, attributes = read_text(environ, "OTEL_RESOURCE_ATTRIBUTES")
        pairs = (item.partition("=") for item in (attributes or "").split(","))
        name = next(
            (unquote(value.strip()) for key, _, value in pairs if key.strip() == "service.name"), ""
        )
    if len(name) > 255 or not name.isprintable():
        raise ConfigError(
            f"{variable} gives a service name that is no printable text of at most 255 characters; "
            "shorten it or remove what cannot be shown"
        )
    return name or None


def export_interval_s(environ: Mapping[str, str]) -> float | None:
    """Return the export interval in seconds, or `None`.

    Raises:
        ConfigError: It is no number of milliseconds up to a day.
    """
    milliseconds = read_number(
        environ, "OTEL_METRIC_EXPORT_INTERVAL", most=LONGEST_INTERVAL_MS, unit="milliseconds"
    )
    return None if milliseconds is None else milliseconds / 1000


def otlp_switch(environ: Mapping[str, str]) -> str | None:
    """Return the variable, with its value, that turns OTLP off, or `None`.

    Raises:
        ConfigError: `OTEL_SDK_DISABLED` is neither true nor false.
    """
    if read_boolean(environ, "OTEL_SDK_DISABLED"):
        return "OTEL_SDK_DISABLED=true"
    if "none" in read_names(environ, "OTEL_METRICS_EXPORTER"):
        return "OTEL_METRICS_EXPORTER=none"
    return None


def makes_receiver(environ: Mapping[str, str]) -> bool:
    """Tell whether the variables alone ask for an OTLP receiver."""
    _, endpoint = read_text(environ, *pair("ENDPOINT"))
    chosen = read_names(environ, "OTEL_METRICS_EXPORTER")
    return endpoint is not None and (not chosen or "otlp" in chosen)


def complete_receiver(entry: Mapping[str, object], environ: Mapping[str, str]) -> dict[str, object]:
    """Fill what `entry` leaves unset, if it names no endpoint of its own.

    An entry with an endpoint takes nothing: headers and keys of the environment belong to the
    environment's endpoint and are never sent to another one.

    Raises:
        ConfigError: A variable that is used is malformed.
    """
    variable, _ = read_text(environ, *pair("ENDPOINT"))
    if entry.get("endpoint") is not None or variable is None:
        return dict(entry)
    found: dict[str, object] = {
        "protocol": read_choice(environ, pair("PROTOCOL"), ("grpc", "http/protobuf")),
        "compression": read_choice(environ, pair("COMPRESSION"), ("none", "gzip")),
        "timeout_s": read_number(
            environ, *pair("TIMEOUT"), most=LONGEST_TIMEOUT_S, unit="seconds (not milliseconds)"
        ),
    }
    protocol = str(entry.get("protocol") or found["protocol"] or "grpc")
    endpoint = _endpoint(environ, protocol)
    found |= {"endpoint": endpoint, "headers": _headers(environ, protocol)}
    found |= _security(entry, environ, endpoint, protocol)
    filled = {key: value for key, value in found.items() if value is not None}
    return filled | {key: value for key, value in entry.items() if key != "endpoint"}


def _endpoint(environ: Mapping[str, str], protocol: str) -> str:
    variable, endpoint = read_text(environ, *pair("ENDPOINT"))
    endpoint = endpoint or ""
    if problem := endpoint_problem(endpoint, protocol):
        raise ConfigError(f"{variable} {problem}")
    if protocol == "http/protobuf" and variable == pair("ENDPOINT")[1]:
        return endpoint.rstrip("/") + METRICS_PATH
    return full_endpoint(endpoint, protocol)


def _headers(environ: Mapping[str, str], protocol: str) -> dict[str, str] | None:
    variable, text = read_text(environ, *pair("HEADERS"))
    if text is None:
        return None
    headers: dict[str, str] = {}
    for position, item in enumerate(text.split(","), start=1):
        name, separator, value = item.partition("=")
        name = unquote(name).strip().lower()
        if not item.strip():
            continue
        if not separator or not name:
            raise ConfigError(
                f"{variable}: item {position} (value hidden) is no header; it must be name=value; "
                "write a comma inside a value as %2C"
            )
        headers[name] = unquote(value).strip()
    if problem := headers_problem(headers, protocol):
        raise ConfigError(f"{variable} {problem}")
    return headers


def _security(
    entry: Mapping[str, object], environ: Mapping[str, str], endpoint: str, protocol: str
) -> dict[str, object]:
    """Return what the variables say about TLS, as far as it applies to `endpoint`."""
    scheme = endpoint_scheme(endpoint)
    insecure = entry.get("insecure")
    if insecure is None and protocol == "grpc" and not scheme:
        insecure = read_boolean(environ, *pair("INSECURE"))
    if insecure or scheme == "http":
        return {"insecure": insecure}
    return {
        "insecure": insecure,
        "certificate": _file(environ, "CERTIFICATE"),
        "client_certificate": _file(environ, "CLIENT_CERTIFICATE"),
        "client_key": _file(environ, "CLIENT_KEY"),
    }


def _file(environ: Mapping[str, str], ending: str) -> str | None:
    variable, path = read_text(environ, *pair(ending))
    if problem := file_problem(path, is_shown=ending != "CLIENT_KEY"):
        raise ConfigError(f"{variable} {problem}")
    return path
