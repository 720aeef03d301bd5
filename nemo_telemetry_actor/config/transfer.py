# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A configuration as bytes for the actor, as data to show, and what differs between two."""

from collections.abc import Iterator

import msgspec

from nemo_telemetry_actor.config.fields import HIDDEN, TelemetryConfig
from nemo_telemetry_actor.config.plain import SWITCHED
from nemo_telemetry_actor.errors import ConfigError


def encode_config(config: TelemetryConfig) -> bytes:
    """Encode a configuration for the actor. The bytes hold the header values: do not log them."""
    return msgspec.msgpack.encode(config)


def decode_config(data: bytes) -> TelemetryConfig:
    """Decode what `encode_config` made, of this or a compatible version.

    Fields are checked for type and range; rules over several fields and the existence of files are
    not, because they were checked where the configuration was loaded.

    Raises:
        ConfigError: The bytes are something else. The message shows no value.
    """
    complaint = ""
    try:
        return msgspec.msgpack.decode(data, type=TelemetryConfig)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        complaint = type(error).__name__
        if isinstance(error, msgspec.ValidationError):
            complaint = str(error)
    raise ConfigError(
        f"encoded configuration of {len(data)} bytes cannot be read ({complaint}); it must come "
        "from encode_config of the same version; use one version of nemo_telemetry_actor everywhere"
    )


def redacted(config: TelemetryConfig) -> dict[str, object]:
    """Return the configuration as plain data that may be shown: header values are hidden."""
    data: dict[str, object] = msgspec.to_builtins(config)
    export = msgspec.to_builtins(config.export)
    for receiver in export["otlp"]:
        receiver["headers"] = dict.fromkeys(receiver["headers"], HIDDEN)
    return {**data, "export": export}


def rows(config: TelemetryConfig) -> dict[str, str]:
    """Return each key's dotted path and its value as JSON, header values hidden.

    An exporter that can be switched has a row of its own, `on` or `off`.
    """
    return dict(_rows(redacted(config), ""))


def _rows(value: object, path: str) -> Iterator[tuple[str, str]]:
    if path in SWITCHED:
        yield path, "off" if value is None else "on"
    if isinstance(value, dict) and not path.endswith(".headers"):
        for key, item in value.items():
            yield from _rows(item, f"{path}.{key}" if path else key)
    elif path == "export.otlp" and isinstance(value, list | tuple) and value:
        for index, item in enumerate(value):
            yield from _rows(item, f"{path}[{index}]")
    elif path not in SWITCHED:
        yield path, msgspec.json.encode(value).decode()


def differences(running: TelemetryConfig, wanted: TelemetryConfig) -> tuple[str, ...]:
    """Name each key in which two configurations differ, in the order of the tree.

    Each item reads `export.interval_s: running 10.0, wanted 5.0`; of headers it says only that they
    differ. Receivers are compared by their place in the list.
    """
    here, there = rows(running), rows(wanted)
    secrets = {
        f"export.otlp[{index}].headers"
        for index, (left, right) in enumerate(
            zip(running.export.otlp, wanted.export.otlp, strict=False)
        )
        if left.headers != right.headers
    }
    found = []
    for path in [*here, *(path for path in there if path not in here)]:
        if path in secrets:
            found.append(f"{path} differs")
        elif here.get(path) != there.get(path):
            left, right = here.get(path, "nothing"), there.get(path, "nothing")
            found.append(f"{path}: running {left}, wanted {right}")
    return tuple(found)
