# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""From a file, a mapping or nothing, and the environment, to one checked configuration.

What a file says beats the `OTEL_*` variables; they fill what it leaves unset, and the defaults fill
the rest. Two variables are switches and beat the file: see `environment.otlp_switch`.
"""

import logging
import os
from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from nemo_telemetry_actor.config import environment
from nemo_telemetry_actor.config.check import config_problem
from nemo_telemetry_actor.config.explain import explain, kind_of
from nemo_telemetry_actor.config.fields import TelemetryConfig
from nemo_telemetry_actor.config.plain import normalised, plain
from nemo_telemetry_actor.config.yaml_text import MAX_CHARACTERS, parse_yaml
from nemo_telemetry_actor.errors import ConfigError

_logger = logging.getLogger(__name__)

ConfigSource: TypeAlias = str | os.PathLike[str] | Mapping[str, object] | TelemetryConfig | None


def load_config(source: ConfigSource, environ: Mapping[str, str]) -> TelemetryConfig:
    """Make the configuration that `source` and the environment describe.

    Args:
        source: Path of a YAML file, or what such a file would hold, or `None` for the defaults. A
            `TelemetryConfig` is complete: it is checked, and no variable changes it.
        environ: The environment, mostly `os.environ`.

    Relative paths of certificates, tokens and the file exporter become absolute, because the actor
    has another working directory.

    Raises:
        ConfigError: With path, value, limit and remedy of the first thing that is wrong. It never
            shows a header's value.
    """
    if isinstance(source, TelemetryConfig):
        return _decode(_builtins(source), "configuration")
    label, data = _read(source)
    return _decode(_with_environment(normalised(data, label), label, environ), label)


def _read(source: object) -> tuple[str, dict[str, object]]:
    """Return what errors call the source, and its mapping in plain types."""
    if source is None:
        return "environment", {}
    if isinstance(source, Mapping):
        label, data = "configuration", plain(source, "configuration")
    elif isinstance(source, str | os.PathLike):
        label = os.fsdecode(source)
        data = plain(parse_yaml(_text_of(label), label), label)
    else:
        raise ConfigError(
            f"configuration is {kind_of(source)}; it must be the path of a YAML file, a mapping, a "
            "TelemetryConfig or None; pass one of these"
        )
    if data is None:
        return label, {}
    if not isinstance(data, dict):
        raise ConfigError(f"{label}: {explain('Expected `object`', data)}")
    return label, data


def _text_of(path: str) -> str:
    try:
        with open(path, "rb") as file:
            content = file.read(4 * MAX_CHARACTERS + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no such name is possible"
        raise ConfigError(
            f"configuration file {path!r} cannot be read ({reason}); give the path of a YAML file, "
            "or none for the defaults"
        ) from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        position = error.start
    # Outside the handler: the decoder's own error carries the content.
    raise ConfigError(f"{path}: byte {position} is no UTF-8; save the file as UTF-8")


def _builtins(config: TelemetryConfig) -> dict[str, object]:
    try:
        data = msgspec.to_builtins(config)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(
            f"configuration holds a value that no field takes ({type(error).__name__}); build it "
            "from plain values"
        ) from error
    return normalised(_read(data)[1], "configuration")


def _with_environment(
    data: dict[str, object], label: str, environ: Mapping[str, str]
) -> dict[str, object]:
    """Fill what `data` leaves unset; malformed parts pass through, for the decoder to name."""
    export = data.get("export", {})
    if not isinstance(export, dict):
        return data
    if "service_name" not in data and (name := environment.service_name(environ)):
        data = {**data, "service_name": name}
    if "interval_s" not in export and (interval_s := environment.export_interval_s(environ)):
        export = {**export, "interval_s": interval_s}
    return {**data, "export": {**export, "otlp": _receivers(export, label, environ)}}


def _receivers(export: Mapping[str, object], label: str, environ: Mapping[str, str]) -> object:
    listed = export.get("otlp")
    if switch := environment.otlp_switch(environ):
        if listed:
            _logger.warning("%s: OTLP receivers are listed, but %s turns them off", label, switch)
        return []
    if listed is None:
        listed = [{}] if environment.makes_receiver(environ) else []
    if not isinstance(listed, list):
        return listed
    return [
        environment.complete_receiver(entry, environ) if isinstance(entry, dict) else entry
        for entry in listed
    ]


def _decode(data: dict[str, object], label: str) -> TelemetryConfig:
    complaint = ""
    try:
        config = msgspec.convert(data, TelemetryConfig)
    except msgspec.ValidationError as error:
        complaint = explain(str(error), data)
    else:
        complaint = config_problem(config) or ""
        if not complaint:
            return config
    raise ConfigError(f"{label}: {complaint}")
