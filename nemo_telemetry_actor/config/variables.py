# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The table of `OTEL_*` variables, and how one is read: stripped, empty as unset, typed.

Where two variables mean the same, the one of the metrics signal beats the general one.
"""

import math
from collections.abc import Mapping
from typing import Final

import msgspec

from nemo_telemetry_actor.errors import ConfigError

# A request that takes longer holds up delivery; a larger number is milliseconds by mistake.
LONGEST_TIMEOUT_S = 600
LONGEST_INTERVAL_MS = 86_400_000


class Variable(msgspec.Struct, frozen=True):
    """One row of the documentation: variables, the key they fill, and how they are read."""

    names: tuple[str, ...]
    key: str
    meaning: str


def pair(ending: str) -> tuple[str, str]:
    """Return the two OTLP variables with this ending, the one that wins first."""
    return f"OTEL_EXPORTER_OTLP_METRICS_{ending}", f"OTEL_EXPORTER_OTLP_{ending}"


VARIABLES: Final = (
    Variable(
        pair("ENDPOINT"),
        "export.otlp[].endpoint",
        "For `http/protobuf` the general one gets `/v1/metrics` appended; the metrics one is used "
        "as it is when it has a path.",
    ),
    Variable(pair("PROTOCOL"), "export.otlp[].protocol", "`grpc` (default) or `http/protobuf`."),
    Variable(pair("HEADERS"), "export.otlp[].headers", "`name=value,…`, values percent-encoded."),
    Variable(
        pair("TIMEOUT"),
        "export.otlp[].timeout_s",
        "Seconds, as OpenTelemetry's Python SDK reads it (its specification says milliseconds); "
        f"at most {LONGEST_TIMEOUT_S}, so that milliseconds are noticed.",
    ),
    Variable(pair("COMPRESSION"), "export.otlp[].compression", "`none` or `gzip`."),
    Variable(pair("CERTIFICATE"), "export.otlp[].certificate", "Ignored for plain text."),
    Variable(
        pair("CLIENT_CERTIFICATE"), "export.otlp[].client_certificate", "Ignored for plain text."
    ),
    Variable(pair("CLIENT_KEY"), "export.otlp[].client_key", "Ignored for plain text."),
    Variable(
        pair("INSECURE"),
        "export.otlp[].insecure",
        "`true` or `false`; read only for a `grpc` endpoint without a scheme.",
    ),
    Variable(("OTEL_METRIC_EXPORT_INTERVAL",), "export.interval_s", "Milliseconds."),
    Variable(("OTEL_SERVICE_NAME",), "service_name", "As it is."),
    Variable(
        ("OTEL_RESOURCE_ATTRIBUTES",),
        "service_name",
        "Its `service.name`, when `OTEL_SERVICE_NAME` is unset.",
    ),
    Variable(
        ("OTEL_METRICS_EXPORTER",),
        "export.otlp",
        "`none` turns OTLP off, that of the file too. A list without `otlp` only keeps the "
        "variables from making a receiver.",
    ),
    Variable(("OTEL_SDK_DISABLED",), "export.otlp", "`true` turns OTLP off, that of the file too."),
)


def read_text(environ: Mapping[str, str], *names: str) -> tuple[str | None, str | None]:
    """Return the first variable of `names` that is set and not empty, with its stripped value.

    Raises:
        ConfigError: Its value is no text.
    """
    for name in names:
        if value := environ.get(name, "").strip():
            try:
                value.encode()
            except UnicodeEncodeError:
                bad = name
                break
            return name, value
    else:
        return None, None
    raise ConfigError(f"{bad} holds bytes that are no UTF-8; set it to plain text")


def read_number(environ: Mapping[str, str], *names: str, most: float, unit: str) -> float | None:
    """Return a number greater than 0 and at most `most`, or `None` where none is set.

    Raises:
        ConfigError: It is something else.
    """
    variable, text = read_text(environ, *names)
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value <= most:
        raise ConfigError(
            f"{variable} is {text[:80]!r}; it must be a number of {unit} greater than 0 and at most "
            f"{most:g}; correct or unset it"
        )
    return value


def read_boolean(environ: Mapping[str, str], *names: str) -> bool | None:
    """Return true or false, in any case of letters, or `None` where none is set.

    Raises:
        ConfigError: It is something else.
    """
    variable, text = read_text(environ, *names)
    if text is None:
        return None
    if text.lower() not in {"true", "false"}:
        raise ConfigError(
            f"{variable} is {text[:80]!r}; it must be true or false; correct or unset it"
        )
    return text.lower() == "true"


def read_choice(
    environ: Mapping[str, str], names: tuple[str, ...], choices: tuple[str, ...]
) -> str | None:
    """Return one of `choices`, lower-cased, or `None` where none is set.

    Raises:
        ConfigError: It is something else.
    """
    variable, text = read_text(environ, *names)
    if text is None or text.lower() in choices:
        return text.lower() if text else None
    raise ConfigError(
        f"{variable} is {text[:80]!r}; it must be {' or '.join(choices)}; correct or unset it"
    )


def read_names(environ: Mapping[str, str], name: str) -> frozenset[str]:
    """Return the lower-cased items of a comma-separated list; empty where it is unset."""
    _, text = read_text(environ, name)
    return frozenset(item.strip().lower() for item in (text or "").split(",") if item.strip())
