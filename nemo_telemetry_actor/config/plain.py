# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""From whatever nesting a caller has to bounded plain data, and its short forms to long ones."""

import os
from collections.abc import Mapping, Sequence
from typing import Final

from nemo_telemetry_actor.config.check import full_endpoint
from nemo_telemetry_actor.config.explain import kind_of
from nemo_telemetry_actor.errors import ConfigError

_MAX_VALUES = 20_000
_MAX_DEPTH = 20
_BLOCKS = ("export", "http", "client", "limits")
SWITCHED: Final = ("export.prometheus", "export.file", "export.console", "hosts", "state")
_PATHS = ("certificate", "client_certificate", "client_key")


def plain(value: object, label: str) -> object:
    """Copy `value` as dicts, lists, texts, numbers, booleans and nulls.

    Raises:
        ConfigError: It holds something else, a key that is no text, or more than a configuration
            ever does (YAML's aliases can make much of little).
    """
    return _Copy(label).copy(value, "", 0)


class _Copy:
    """One walk over a value, counting what it meets."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._values = 0

    def copy(self, value: object, path: str, depth: int) -> object:
        self._values += 1
        if depth > _MAX_DEPTH or self._values > _MAX_VALUES:
            raise self._error(
                "",
                f"is nested deeper than {_MAX_DEPTH} levels or has more than {_MAX_VALUES} values; "
                "it must be smaller; remove what is no configuration",
            )
        if value is None or isinstance(value, bool | int | float | str):
            return self._scalar(value, path)
        if isinstance(value, Mapping):
            return {
                self._key(key, path): self.copy(item, _join(path, key), depth + 1)
                for key, item in value.items()
            }
        if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
            return [
                self.copy(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)
            ]
        raise self._error(path, f"is {kind_of(value)}; it must be plain data; write it as text")

    def _scalar(self, value: bool | int | float | str | None, path: str) -> object:
        # Subclasses (numpy's, enumerations) become the plain type.
        match value:
            case None | bool():
                return value
            case int():
                return int.__int__(value)
            case float():
                return float.__float__(value)
            case str():
                if not _is_unicode(value):
                    raise self._error(path, "is no valid Unicode; it must be text; retype it")
                return str.__str__(value)

    def _key(self, key: object, path: str) -> str:
        if isinstance(key, str) and _is_unicode(key):
            return str.__str__(key)
        raise self._error(path, f"has a key that is {kind_of(key)}; keys must be texts; quote it")

    def _error(self, path: str, problem: str) -> ConfigError:
        where = f"{self._label}: {path}" if path else self._label
        return ConfigError(f"{where} {problem}")


def _join(path: str, key: object) -> str:
    return f"{path}.{key}" if path else str(key)


def _is_unicode(text: str) -> bool:
    # A surrogate: from bytes of the system that were no UTF-8, or an escape in YAML.
    return not any("\ud800" <= character <= "\udfff" for character in text)


def normalised(data: dict[str, object], label: str) -> dict[str, object]:
    """Write the short forms of a configuration out; anything malformed passes through as it is.

    An empty block means its defaults, `true` and `false` switch what can be off, one OTLP receiver
    may stand without a list, header names become lower-case and paths absolute.

    Raises:
        ConfigError: Two headers of one receiver differ only in case.
    """
    data = {key: value for key, value in data.items() if not (key in _BLOCKS and value is None)}
    http, export = data.get("http"), data.get("export")
    if isinstance(http, dict):
        data["http"] = _with_absolute(http, ("token_file",))
    if isinstance(export, dict):
        data["export"] = {key: _exporter(key, value, label) for key, value in export.items()}
    for key in ("hosts", "state"):
        if key in data:
            data[key] = _switched(key, data[key])
    state = data.get("state")
    if isinstance(state, dict):
        data["state"] = _with_absolute(state, ("path",))
    return data


def _exporter(key: str, value: object, label: str) -> object:
    value = _receivers(value) if key == "otlp" else _switched(f"export.{key}", value)
    if key == "file" and isinstance(value, dict):
        return _with_absolute(value, ("path",))
    if key == "otlp" and isinstance(value, list):
        return [
            _receiver(entry, f"{label}: export.otlp[{index}].headers")
            for index, entry in enumerate(value)
        ]
    return value


def _receivers(value: object) -> object:
    if isinstance(value, dict):
        return [value]
    return [] if value is None or value is False else value


def _switched(path: str, value: object) -> object:
    if path in SWITCHED and isinstance(value, bool):
        return {} if value else None
    return value


def _receiver(entry: object, label: str) -> object:
    if not isinstance(entry, dict):
        return entry
    # A key without a value is the usual rest of a line that was commented out.
    receiver = {
        key: value
        for key, value in _with_absolute(entry, _PATHS).items()
        if not (key in {"endpoint", "headers"} and value is None)
    }
    endpoint, headers = receiver.get("endpoint"), receiver.get("headers")
    if isinstance(endpoint, str):
        receiver["endpoint"] = full_endpoint(endpoint, str(receiver.get("protocol", "grpc")))
    if isinstance(headers, dict):
        lowered = {name.lower(): value for name, value in headers.items()}
        if len(lowered) < len(headers):
            raise ConfigError(
                f"{label} has one name twice in different case; each must be given once; remove one"
            )
        receiver["headers"] = lowered
    return receiver


def _with_absolute(block: Mapping[str, object], names: tuple[str, ...]) -> dict[str, object]:
    return {
        key: os.path.abspath(value) if key in names and isinstance(value, str) and value else value
        for key, value in block.items()
    }
