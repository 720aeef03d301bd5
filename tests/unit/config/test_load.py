# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Loading: sources, short forms, and errors that name path, value, limit and remedy."""

import enum
from collections.abc import Mapping
from pathlib import Path

import pytest

from nemo_telemetry_actor.config import (
    ConsoleConfig,
    ExportConfig,
    FileConfig,
    OtlpConfig,
    PrometheusConfig,
    TelemetryConfig,
)
from nemo_telemetry_actor.config.load import load_config
from nemo_telemetry_actor.errors import ConfigError

RECEIVER = {"endpoint": "h:4317"}


def _refusal(source: object, environ: Mapping[str, str] | None = None) -> str:
    with pytest.raises(ConfigError) as refused:
        load_config(source, environ or {})  # type: ignore[arg-type]
    return str(refused.value)


def _otlp(**fields: object) -> dict[str, object]:
    return {"export": {"otlp": {**RECEIVER, **fields}}}


def test_without_a_file_the_defaults_are_in_effect() -> None:
    assert load_config(None, {}) == TelemetryConfig()


@pytest.mark.parametrize("text", ["", "# nothing", "export:\nhttp:\nclient:\nlimits:\n"])
def test_an_empty_file_or_block_means_the_defaults(text: str, tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(text)

    assert load_config(file, {}) == TelemetryConfig()


def test_a_file_that_sets_one_key_keeps_the_defaults_of_the_rest(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text("export:\n  interval_s: 5\n")

    loaded = load_config(str(file), {})

    assert loaded == TelemetryConfig(export=ExportConfig(interval_s=5.0))


def test_one_receiver_may_stand_without_a_list() -> None:
    one = load_config({"export": {"otlp": RECEIVER}}, {})
    listed = load_config({"export": {"otlp": [RECEIVER]}}, {})

    assert one == listed
    assert one.export.otlp == (OtlpConfig(endpoint="h:4317"),)


@pytest.mark.parametrize("off", [None, False])
def test_null_and_false_turn_an_exporter_off(off: object) -> None:
    data = {"export": {"prometheus": off, "file": off, "console": off, "otlp": off}}

    loaded = load_config(data, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h:4317"})

    assert loaded.export == ExportConfig(prometheus=None, file=None, console=None)


@pytest.mark.parametrize("on", [True, {}])
def test_true_and_an_empty_mapping_turn_an_exporter_on(on: object) -> None:
    loaded = load_config({"export": {"prometheus": on, "file": on, "console": on}}, {})

    assert loaded.export == ExportConfig(
        prometheus=PrometheusConfig(), file=FileConfig(), console=ConsoleConfig()
    )


def test_header_names_become_lower_case() -> None:
    loaded = load_config(_otlp(headers={"X-Scope": "a"}), {})

    assert loaded.export.otlp[0].headers == {"x-scope": "a"}


@pytest.mark.parametrize("endpoint", ["http://h:4318", "http://h:4318/"])
def test_an_http_endpoint_without_a_path_gets_otlps_own(endpoint: str) -> None:
    loaded = load_config(_otlp(endpoint=endpoint, protocol="http/protobuf"), {})

    assert loaded.export.otlp[0].endpoint == "http://h:4318/v1/metrics"


def test_relative_paths_become_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("ca.pem", "own.pem", "own.key", "token"):
        (tmp_path / name).write_text("x")
    source = {
        "export": {
            "otlp": {
                **RECEIVER,
                "certificate": "ca.pem",
                "client_certificate": "own.pem",
                "client_key": "own.key",
            },
            "file": {"path": "out/metrics.jsonl"},
        },
        "http": {"token_file": "token"},
    }

    loaded = load_config(source, {})

    (receiver,) = loaded.export.otlp
    assert receiver.certificate == str(tmp_path / "ca.pem")
    assert receiver.client_certificate == str(tmp_path / "own.pem")
    assert receiver.client_key == str(tmp_path / "own.key")
    assert loaded.export.file == FileConfig(path=str(tmp_path / "out/metrics.jsonl"))
    assert loaded.http.token_file == str(tmp_path / "token")


def test_subclasses_of_plain_types_are_taken_as_plain() -> None:
    class Port(enum.IntEnum):
        METRICS = 9999

    assert load_config({"http": {"port": Port.METRICS}}, {}).http.port == 9999


def test_a_finished_configuration_is_checked_and_nothing_else() -> None:
    config = TelemetryConfig(export=ExportConfig(otlp=(OtlpConfig(endpoint="h:4317"),)))

    loaded = load_config(config, {"OTEL_SERVICE_NAME": "other"})

    assert loaded == config


def test_a_finished_configuration_with_a_bad_value_is_refused() -> None:
    assert _refusal(TelemetryConfig(export=ExportConfig(interval_s=-1))) == (
        "configuration: export.interval_s is -1; it must be a number greater than 0 and at most "
        "86400 (seconds); correct it, or remove the key for the default 10.0"
    )
    assert "holds a value that no field takes" in _refusal(TelemetryConfig(export=object()))  # type: ignore[arg-type]


def test_an_error_begins_with_the_file_and_names_path_value_limit_and_remedy(
    tmp_path: Path,
) -> None:
    file = tmp_path / "x.yaml"
    file.write_text("export:\n  otlp:\n    endpoint: h:4317\n    timeout_s: -1\n")

    assert _refusal(file) == (
        f"{file}: export.otlp[0].timeout_s is -1; it must be a number greater than 0 and at most "
        "86400 (seconds); correct it, or remove the key for the default 10.0"
    )


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            {"export": {"intervall_s": 5}},
            "export.intervall_s is not a key; did you mean export.int",
        ),
        ({"interval_s": 5}, "interval_s is not a key; did you mean export.interval_s?"),
        (
            {"zzz": 5},
            "zzz is not a key; valid here: service_name, export, http, hosts, state, client, limits;",
        ),
        (
            {"export": {"console": {"a b": 1}}},
            "export.console.'a b' is not a key; valid here: none",
        ),
        (
            _otlp(timout_s=5),
            "export.otlp[0].timout_s is not a key; did you mean export.otlp[0].tim",
        ),
        (
            {"http": {"port": 70000}},
            "http.port is 70000; it must be a whole number from 0 to 65535;",
        ),
        ({"http": {"port": "9464"}}, "http.port is '9464'; it must be a whole number from 0 to"),
        ({"http": {"port": True}}, "http.port is true; it must be a whole number"),
        ({"http": {"port": 10**50}}, "http.port is a number of more than 38 digits;"),
        ({"http": []}, "http is a list; it must be a mapping of keys to values;"),
        ({"export": {"interval_s": float("nan")}}, "export.interval_s is nan; it must be a number"),
        (
            {"export": {"prometheus": "on"}},
            "export.prometheus is 'on'; it must be a mapping of keys",
        ),
        ({"export": {"otlp": True}}, "export.otlp is true; it must be a mapping, or a list of map"),
        ({"export": {"otlp": [3]}}, "export.otlp[0] is 3; it must be a mapping, or a list of map"),
        ({"export": {"otlp": {}}}, "export.otlp[0].endpoint is missing; it must be a text"),
        (_otlp(protocol="http"), """protocol is 'http'; it must be "grpc" or "http/protobuf";"""),
        (
            {"export": {"prometheus": {"resource_labels": ["a", ""]}}},
            "export.prometheus.resource_labels[1] is ''; it must be a list, each item a text of 1",
        ),
        ({"service_name": "x" * 300}, "service_name is 'xxx"),
        (_otlp(headers={"A": "x", "a": "y"}), "headers has one name twice in different case;"),
        ({1: 2}, "configuration has a key that is a whole number; keys must be texts;"),
        ({"http": {"port": b"1"}}, "configuration: http.port is of type bytes; it must be plain"),
        ({"service_name": "\ud800"}, "configuration: service_name is no valid Unicode;"),
        (5, "configuration is a whole number; it must be the path of a YAML file, a mapping"),
    ],
)
def test_a_wrong_value_is_explained(source: object, words: str) -> None:
    assert words in _refusal(source)


def test_a_top_level_that_is_no_mapping_is_explained(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text("- 1\n")

    assert _refusal(file) == (
        f"{file}: the top level is a list; it must be a mapping of keys to values; "
        "write keys such as export:"
    )


def test_aliases_cannot_make_much_of_little(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    lines = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 15))]
    file.write_text("\n".join(lines))

    assert "has more than 20000 values" in _refusal(file)


def test_a_value_that_holds_itself_is_refused() -> None:
    loop: dict[str, object] = {}
    loop["export"] = loop

    assert "is nested deeper than 20 levels" in _refusal(loop)


def test_a_malformed_block_is_named_whatever_the_variables_say() -> None:
    environ = {"OTEL_SERVICE_NAME": "a", "OTEL_METRIC_EXPORT_INTERVAL": "nonsense"}

    assert "export is 3; it must be a mapping of keys" in _refusal({"export": 3}, environ)


@pytest.mark.parametrize(
    ("name", "words"),
    [("missing.yaml", "No such file"), (".", "Is a directory"), ("a\0b", "no such name")],
)
def test_a_file_that_cannot_be_read_is_explained(name: str, words: str, tmp_path: Path) -> None:
    assert words in _refusal(f"{tmp_path}/{name}")


def test_a_file_that_is_no_utf_8_is_explained(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_bytes(b"service_name: \xff")

    assert _refusal(file) == f"{file}: byte 14 is no UTF-8; save the file as UTF-8"


@pytest.mark.parametrize(
    "source",
    [
        _otlp(headers="3f9csecret"),
        _otlp(headers=["3f9csecret"]),
        _otlp(headers={"authorization": ["3f9csecret"]}),
        _otlp(headers={"authorization": "3f9csecret\n"}),
        _otlp(headers={"authorization": "3f9csecret é"}),
        _otlp(headers={"authorization ": "3f9csecret"}),
        _otlp(headers={"authorization-bin": "3f9csecret"}),
        _otlp(header={"authorization": "3f9csecret"}),
        _otlp(endpoint="http://user:3f9csecret@h:4317"),
        _otlp(endpoint="http://h:4317?key=3f9csecret"),
        _otlp(endpoint="https://h:4318/#3f9csecret", protocol="http/protobuf"),
        _otlp(endpoint="http://user:3f9csecret @h:4317"),
        _otlp(client_key="3f9csecret", client_certificate=__file__),
        _otlp(client_key="3f9csecret" * 1000),
        {"http": {"token_file": "3f9csecret"}},
        {"http": {"token_file": "3f9csecret" * 1000}},
    ],
)
def test_no_error_shows_a_secret(source: object) -> None:
    assert "3f9csecret" not in _refusal(source)
