# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Attribute sets in one canonical form of bytes, so that equal sets are one series.

The bytes are msgpack of `[key, value, key, value, …]` sorted by key. They tell `True`, `1` and
`1.0` apart, as OpenTelemetry does and a Python dict key would not.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import msgspec

AttributeValue: TypeAlias = (
    str
    | bool
    | int
    | float
    | tuple[str, ...]
    | tuple[bool, ...]
    | tuple[int, ...]
    | tuple[float, ...]
)

MAX_VALUE_CHARS: Final = 4096
"""Longest text kept of one attribute value; a longer one is cut, so that memory stays bounded."""

NO_ATTRIBUTES: Final = b"\x90"
"""The canonical form of the empty set."""

_INT64_MIN: Final = -(2**63)
_INT64_MAX: Final = 2**63 - 1

_encode = msgspec.msgpack.Encoder().encode

OVERFLOW_ATTRIBUTES: Final = _encode(["otel.metric.overflow", True])
"""The series that takes what exceeds the cardinality limit (OpenTelemetry metrics SDK)."""

_decode = msgspec.msgpack.Decoder(list[Any]).decode


class BadAttributeError(ValueError):
    """An attribute's key or value has no OpenTelemetry form."""


def encode_attributes(attributes: Mapping[str, Any]) -> bytes:
    """Return the canonical bytes of an attribute set.

    Raises:
        BadAttributeError: A key is not a non-empty string, or a value is neither a string, a
            boolean, a number, nor a sequence of one of these.
    """
    try:
        # Two keys may be one after cleaning; the later one stands, as in any mapping.
        cleaned = {_key(key): value for key, value in attributes.items()}
        flat: list[Any] = []
        for key, value in sorted(cleaned.items(), key=_first):
            flat.append(key)
            flat.append(_value(key, value))
        return _encode(flat)
    except BadAttributeError:
        raise
    except Exception as error:  # foreign code ran: of a key, a value or the mapping itself
        raise BadAttributeError(f"an attribute cannot be read: {type(error).__name__}") from error


def decode_attributes(encoded: bytes) -> dict[str, AttributeValue]:
    """Return the attribute set of canonical bytes, keys in sorted order.

    Raises:
        BadAttributeError: The bytes are not of `encode_attributes`: unreadable, or the set's keys
            repeated or not in order, so that one set would be two series.
    """
    try:
        flat = _decode(encoded)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadAttributeError(f"attribute bytes cannot be read: {error}") from error
    if len(flat) % 2:
        raise BadAttributeError("attribute bytes hold a key without a value")
    pairs = zip(flat[::2], flat[1::2], strict=True)
    attributes = {_key(key): _value(key, value) for key, value in pairs}
    if encode_attributes(attributes) != encoded:
        raise BadAttributeError("attribute bytes are not in their canonical form")
    return attributes


def _first(pair: tuple[str, Any]) -> str:
    return pair[0]


def _key(key: object) -> str:
    if not isinstance(key, str) or not key:
        raise BadAttributeError(f"attribute key must be a non-empty string, got {key!r}")
    return clean_text(key)


def _value(key: str, value: Any) -> AttributeValue:
    if isinstance(value, (list, tuple)):
        items = tuple(_scalar(key, item) for item in value)
        if len({type(item) for item in items}) > 1:
            raise BadAttributeError(f"attribute {key!r} mixes types in a sequence: {value!r}")
        return items  # type: ignore[return-value]  # homogeneous, as just checked
    return _scalar(key, value)


def _scalar(key: str, value: Any) -> str | bool | int | float:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        # OTLP has 64 bits; text keeps what a larger number says.
        return int(value) if _INT64_MIN <= value <= _INT64_MAX else str(value)
    if isinstance(value, float):
        return float(value)
    if hasattr(value, "dtype") and getattr(value, "ndim", None) == 0:  # a numpy scalar
        return _scalar(key, value.item())
    raise BadAttributeError(
        f"attribute {key!r} has a {type(value).__name__}; use a string, boolean, number, "
        "or a sequence of one of these"
    )


def clean_text(text: str) -> str:
    """Return text that UTF-8 can carry (a lone surrogate becomes `?`), cut to the bound."""
    if len(text) > MAX_VALUE_CHARS:
        text = text[:MAX_VALUE_CHARS]
    if type(text) is str and text.isascii():
        return text
    return str.__str__(text).encode("utf-8", "replace").decode("utf-8")
