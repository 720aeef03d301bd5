# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever a file, a mapping or the environment holds: a configuration, or one ConfigError."""

import contextlib
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from nemo_telemetry_actor.config import TelemetryConfig
from nemo_telemetry_actor.config.load import load_config
from nemo_telemetry_actor.config.plain import normalised, plain
from nemo_telemetry_actor.config.schema import keys
from nemo_telemetry_actor.config.transfer import decode_config, differences, encode_config, redacted
from nemo_telemetry_actor.config.variables import VARIABLES
from nemo_telemetry_actor.config.yaml_text import parse_yaml
from nemo_telemetry_actor.errors import ConfigError

KEYS = sorted({path.split(".")[-1] for path in keys()} | {"authorization", "endpont", ""})
VARIABLE_NAMES = sorted({name for variable in VARIABLES for name in variable.names})
# Small, and close to what is right, so that many draws pass one rule and meet the next.
WORDS = st.sampled_from(
    [
        "h:4317",
        "http://h:4318/a",
        "https://u:p@h:1",
        "grpc",
        "http/protobuf",
        "gzip",
        "none",
        "true",
        "-1",
        "0.5",
        "1e400",
        "a=b,c=d%20",
        "service.name=x",
        "::1",
        "0.0.0.0",
        "a�",
    ]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 5000),
    st.integers(),
    st.floats(),
    WORDS,
    st.text(max_size=8),
    st.binary(max_size=2),
)
NESTED = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(st.sampled_from(KEYS), SCALARS), inner, max_size=4),
    ),
    max_leaves=12,
)


def _below(path: str) -> st.SearchStrategy[dict[str, Any]]:
    """Draw the block at `path` with its own keys, a few of them holding nonsense."""
    known = keys()
    prefix = {"": "", "export.otlp": "export.otlp[]."}.get(path, f"{path}.")
    fields: dict[str, st.SearchStrategy[Any]] = {
        name: st.one_of(_below(f"{prefix}{name}"), NESTED)
        if known[f"{prefix}{name}"].children
        else st.one_of(SCALARS, NESTED)
        for name in known[path].children
    }
    return st.fixed_dictionaries({}, optional=fields)


ENVIRONMENTS = st.dictionaries(
    st.sampled_from(VARIABLE_NAMES), st.one_of(WORDS, st.text(max_size=12)), max_size=6
)


def _loaded(source: object, environ: dict[str, str]) -> TelemetryConfig | None:
    try:
        config = load_config(source, environ)  # type: ignore[arg-type]
    except ConfigError:
        event("refused")
        return None
    event("loaded")
    return config


@given(source=st.one_of(NESTED.filter(lambda value: not isinstance(value, str)), _below("")))
def test_any_data_is_a_configuration_or_one_error(source: object) -> None:
    config = _loaded(source, {})

    if config is not None:
        assert decode_config(encode_config(config)) == config
        assert load_config(config, {}) == config
        assert load_config(redacted(config), {}).http == config.http
        assert differences(config, config) == ()


@given(environ=ENVIRONMENTS)
def test_any_environment_is_a_configuration_or_one_error(environ: dict[str, str]) -> None:
    config = _loaded(None, environ)

    if config is not None:
        assert decode_config(encode_config(config)) == config
        assert load_config(config, {}) == config


@given(text=st.text(alphabet="ab:-[]{}&*!|>'\"#%@`,?\n \t\\01.e~<", max_size=40))
def test_any_text_is_plain_data_or_one_error(text: str) -> None:
    with contextlib.suppress(ConfigError):
        plain(parse_yaml(text, "x.yaml"), "x.yaml")


@given(source=_below(""))
def test_writing_short_forms_out_twice_changes_nothing(source: dict[str, Any]) -> None:
    try:
        data = plain(source, "x")
        assert isinstance(data, dict)
        once = normalised(data, "x")
    except ConfigError:
        return

    # NaN is not equal to itself, its text is.
    assert repr(normalised(once, "x")) == repr(once)


def test_a_secret_in_any_bad_place_is_in_no_error() -> None:
    secret = "3f9c-secret"
    for name in keys()["export.otlp"].children:
        for value in ([secret], {"authorization": [secret]}):
            with pytest.raises(ConfigError) as refused:
                load_config({"export": {"otlp": {"endpoint": "h:1", name: value}}}, {})
            assert secret not in str(refused.value)
