# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""From a decoder's complaint to a sentence with path, value, limit and remedy."""

import difflib
import re

from nemo_telemetry_actor.config.schema import KeyInfo, keys

_COMPLAINT = re.compile(r"(?P<body>.*?)(?: - at `(?:key` in `)?\$(?P<path>[^`]*)`)?", re.DOTALL)
_FIELD = re.compile(
    r"Object (?P<what>missing required|contains unknown) field `(?P<key>.*)`", re.DOTALL
)
_LONGEST_SHOWN = 80
# Where people paste the secret itself instead of the file that holds it.
_MAY_BE_SECRET = ("headers", "token_file", "client_key")


def explain(complaint: str, data: object) -> str:
    """Rewrite what msgspec says about `data` for the person who wrote it.

    Values of headers, and texts where a secret may stand by mistake, are never quoted; others are,
    shortened.
    """
    match = _COMPLAINT.fullmatch(complaint)
    path = ((match and match["path"]) or "").removeprefix(".")
    field = _FIELD.fullmatch(match["body"] if match else complaint)
    if field and field["what"] == "contains unknown":
        return unknown_key(path, field["key"])
    if field:
        missing = f"{path}.{field['key']}"
        return (
            f"{missing} is missing; it must be {_info(missing).limit}; set it, or "
            "OTEL_EXPORTER_OTLP_ENDPOINT in the environment"
        )
    if path.endswith("[...]"):
        return _bad_header(path.removesuffix("[...]"), _lookup(data, path.removesuffix("[...]")))
    return _bad_value(path, _lookup(data, path))


def unknown_key(path: str, key: str) -> str:
    """Say that `key` below `path` does not exist, and which one was probably meant."""
    here = f"{path}." if path else ""
    near = _nearest(path, key)
    hint = f"did you mean {near}? " if near else ""
    valid = ", ".join(_info(path).children) or "none"
    shown = key if key.isidentifier() and len(key) <= _LONGEST_SHOWN else shown_text(key)
    return f"{here}{shown} is not a key; {hint}valid here: {valid}; correct or remove it"


def _nearest(path: str, key: str) -> str:
    siblings = _info(path).children
    if close := difflib.get_close_matches(key, siblings, n=1):
        return f"{path}.{close[0]}" if path else close[0]
    # The right key in the wrong block is the other common slip.
    return next((known for known in keys() if known.split(".")[-1] == key), "")


def _bad_value(path: str, value: object) -> str:
    info = _info(path)
    name = path or "the top level"
    if info.default and not info.children:
        remedy = f"correct it, or remove the key for the default {info.default}"
    else:
        remedy = "correct it, or remove the key" if path else "write keys such as export:"
    shown = kind_of(value) if path.endswith(_MAY_BE_SECRET) else describe(value)
    return f"{name} is {shown}; it must be {info.limit}; {remedy}"


def _bad_header(path: str, headers: object) -> str:
    items = headers.items() if isinstance(headers, dict) else ()
    name, kind = next(
        ((name, kind_of(value)) for name, value in items if not isinstance(value, str)),
        ("…", "no text"),
    )
    return f"{path}.{name} is {kind} (value hidden); it must be a text; put it in quotes"


def _info(path: str) -> KeyInfo:
    generic = re.sub(r"\[\d+\]", "[]", path)
    return keys().get(generic) or keys()[generic.removesuffix("[]")]


def _lookup(data: object, path: str) -> object:
    for step in re.findall(r"\w+", path):
        if isinstance(data, dict):
            data = data.get(step)
        elif isinstance(data, list):
            data = data[int(step)]
    return data


def describe(value: object) -> str:
    """Quote a plain value as YAML would write it, shortened; name the kind of anything else."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int() if value.bit_length() > 128:
            return "a number of more than 38 digits"
        case int() | float():
            return repr(value)
        case str():
            return shown_text(value)
        case _:
            return kind_of(value)


def shown_text(text: str) -> str:
    """Quote a text, shortened to what a message can carry."""
    return repr(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…")


def kind_of(value: object) -> str:
    """Name the kind of a value without showing it."""
    kinds: dict[type, str] = {
        type(None): "null",
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        str: "a text",
        list: "a list",
        dict: "a mapping",
    }
    return kinds.get(type(value), f"of type {type(value).__name__}")
