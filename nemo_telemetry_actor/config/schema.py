# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The configuration tree as a flat table: one row a key, for error messages and for the docs."""

from collections.abc import Iterator
from functools import cache

import msgspec
from msgspec import inspect

from nemo_telemetry_actor.config import TelemetryConfig


class KeyInfo(msgspec.Struct, frozen=True):
    """What is known about one key.

    Args:
        path: Dotted path from the top; an item of a list is `[]`, as in `export.otlp[].endpoint`.
        limit: What a value must be, as the end of "it must be …", unit included.
        unit: Unit in words; empty where there is none.
        default: The default as YAML; empty for a key that has none.
        description: The meaning, in Markdown.
        children: The keys below it; empty for a plain value.
    """

    path: str
    limit: str
    unit: str
    default: str
    description: str
    children: tuple[str, ...] = ()


@cache
def keys() -> dict[str, KeyInfo]:
    """Return every key by path, in the order of the tree; the top itself is the path ``""``."""
    root = inspect.type_info(TelemetryConfig)
    top = KeyInfo("", "a mapping of keys to values", "", "", "", _children(root))
    return {info.path: info for info in (top, *_walk(root, ""))}


def _walk(block: inspect.Type, prefix: str) -> Iterator[KeyInfo]:
    struct = _struct_of(block)
    for field in struct.fields if struct else ():
        described = field.type
        inner = described.type if isinstance(described, inspect.Metadata) else described
        extra = (described.extra or {}) if isinstance(described, inspect.Metadata) else {}
        schema = (
            (described.extra_json_schema or {}) if isinstance(described, inspect.Metadata) else {}
        )
        unit = str(extra.get("unit", ""))
        path = f"{prefix}{field.name}"
        yield KeyInfo(
            path=path,
            limit=f"{_limit(inner)} ({unit})" if unit else _limit(inner),
            unit=unit,
            default=_default(field),
            description=str(schema.get("description", "")),
            children=_children(inner),
        )
        item = "[]" if isinstance(inner, inspect.VarTupleType) else ""
        yield from _walk(inner, f"{path}{item}.")


def _struct_of(node: inspect.Type) -> inspect.StructType | None:
    """Find the block behind `node`: itself, the items of a list, or one that may be null."""
    if isinstance(node, inspect.StructType):
        return node
    if isinstance(node, inspect.Metadata):
        return _struct_of(node.type)
    if isinstance(node, inspect.VarTupleType):
        return _struct_of(node.item_type)
    if isinstance(node, inspect.UnionType):
        return next((found for kind in node.types if (found := _struct_of(kind))), None)
    return None


def _children(node: inspect.Type) -> tuple[str, ...]:
    struct = _struct_of(node)
    return tuple(field.name for field in struct.fields) if struct else ()


def _default(field: inspect.Field) -> str:
    if field.required:
        return ""
    value = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
    if value is not None and _struct_of(field.type) and value != ():
        return "on" if isinstance(_bare(field.type), inspect.UnionType) else "see below"
    return msgspec.json.encode(value).decode()


def _bare(node: inspect.Type) -> inspect.Type:
    return node.type if isinstance(node, inspect.Metadata) else node


def _limit(node: inspect.Type) -> str:
    match _bare(node):
        case inspect.UnionType(types=types):
            kinds = [_limit(kind) for kind in types if not isinstance(kind, inspect.NoneType)]
            return " or ".join([*kinds, "null"])
        case inspect.VarTupleType(item_type=item) if _struct_of(item):
            return "a mapping, or a list of mappings"
        case inspect.VarTupleType(item_type=item):
            return f"a list, each item {_limit(item)}"
        case inspect.DictType():
            return "a mapping of texts to texts"
        case inspect.StructType():
            return "a mapping of keys to values"
        case scalar:
            return _scalar_limit(scalar)


def _scalar_limit(node: inspect.Type) -> str:
    match node:
        case inspect.IntType(ge=low, le=high):
            return f"a whole number from {low} to {high}"
        case inspect.FloatType(gt=None, ge=low, le=high):
            return f"a number from {low} to {high}"
        case inspect.FloatType(gt=low, le=high):
            return f"a number greater than {low} and at most {high}"
        case inspect.StrType(min_length=low, max_length=high):
            return f"a text of {low} to {high} characters"
        case inspect.LiteralType(values=values):
            return " or ".join(msgspec.json.encode(value).decode() for value in values)
        case inspect.BoolType():
            return "true or false"
        case _:
            raise TypeError(f"a configuration field has the unexpected type {node!r}")
