# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Strict YAML: what is read as what, and what is refused at which place."""

import pytest

from nemo_telemetry_actor.config.yaml_text import MAX_CHARACTERS, parse_yaml
from nemo_telemetry_actor.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("# nothing but a comment", None),
        ("12", 12),
        ("-3", -3),
        ("1_000", 1000),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        (".inf", float("inf")),
        ("on", "on"),
        ("no", "no"),
        ("22:30", "22:30"),
        ("2026-01-31", "2026-01-31"),
        ("2026-99-99", "2026-99-99"),
        ("007", "007"),
        ("localhost:4317", "localhost:4317"),
    ],
)
def test_a_plain_value_is_what_it_looks_like(text: str, value: object) -> None:
    assert parse_yaml(text, "x.yaml") == value


def test_a_merged_mapping_may_be_overridden() -> None:
    text = "base: &base {a: 1, b: 2}\nmore: {<<: *base, b: 3}"

    assert parse_yaml(text, "x.yaml") == {"base": {"a": 1, "b": 2}, "more": {"a": 1, "b": 3}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n",
            (
                "x.yaml, line 5, column 3: the key 'c' is here again (first on line 3); "
                "each key must be given once; remove one of them"
            ),
        ),
        (
            "a: [1\nb: 2",
            "x.yaml, line 2, column 2: expected ',' or ']', but got ':'; correct the YAML there",
        ),
        (
            "a: 1\n b: 2",
            "x.yaml, line 2, column 3: mapping values are not allowed here; correct the YAML there",
        ),
        (
            "a: !python/name:os.system x",
            (
                "x.yaml, line 1, column 4: could not determine a constructor for the tag (hidden); "
                "correct the YAML there"
            ),
        ),
        ("a: \x07", "x.yaml: character 3 is not allowed in YAML; remove it"),
        (
            "[" * 1000,
            "x.yaml is nested too deeply; it must have the few levels of a configuration",
        ),
        ("9" * 5000, "x.yaml has a value that cannot be read (ValueError); put it in quotes"),
        (
            "#" * (MAX_CHARACTERS + 1),
            "x.yaml has 1048577 characters; it must be at most 1048576; is it the right file?",
        ),
    ],
)
def test_what_is_refused_is_told_with_its_place(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_yaml(text, "x.yaml")

    assert str(refused.value) == message


@pytest.mark.parametrize(
    "text",
    [
        "headers: {authorization: 3f9csecret, : [",
        "headers:\n  authorization: *3f9csecret",
        "headers:\n  authorization: !3f9csecret x",
        "headers:\n  authorization: &3f9csecret a\n  b: &3f9csecret",
        'headers:\n  authorization: "3f9csecret \\q"',
        "headers:\n  authorization: '3f9csecret\n",
        "headers:\n  authorization: %3f9csecret\n",
        "a: 1\na: 3f9csecret",
    ],
)
def test_an_error_never_quotes_the_file(text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_yaml(text, "x.yaml")

    assert "3f9csecret" not in str(refused.value)
    assert refused.value.__context__ is None
