# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The OTEL_* variables: what they fill, what beats them, and what is refused."""

import logging
from pathlib import Path

import pytest

from nemo_telemetry_actor.config import OtlpConfig, TelemetryConfig
from nemo_telemetry_actor.config.load import load_config
from nemo_telemetry_actor.errors import ConfigError

GENERAL = "OTEL_EXPORTER_OTLP_"
METRICS = "OTEL_EXPORTER_OTLP_METRICS_"
ENDPOINT = {f"{GENERAL}ENDPOINT": "http://h:4317"}


def _receivers(source: object = None, **environ: str) -> tuple[OtlpConfig, ...]:
    return load_config(source, environ).export.otlp  # type: ignore[arg-type]


def _refusal(**environ: str) -> str:
    with pytest.raises(ConfigError) as refused:
        load_config(None, environ)
    return str(refused.value)


def test_without_an_endpoint_the_variables_make_no_receiver() -> None:
    assert _receivers(**{f"{GENERAL}HEADERS": "a=b", f"{GENERAL}PROTOCOL": "nonsense"}) == ()


def test_an_endpoint_makes_one_receiver_of_all_the_variables(tmp_path: Path) -> None:
    for name in ("ca", "own", "key"):
        (tmp_path / name).write_text("x")

    receivers = _receivers(
        **{
            f"{GENERAL}ENDPOINT": "https://h:4317",
            f"{GENERAL}PROTOCOL": "grpc",
            f"{GENERAL}HEADERS": "Authorization=Basic%20dTpw%3D, x-scope = a=b ,",
            f"{GENERAL}TIMEOUT": "2.5",
            f"{GENERAL}COMPRESSION": "gzip",
            f"{GENERAL}CERTIFICATE": str(tmp_path / "ca"),
            f"{GENERAL}CLIENT_CERTIFICATE": str(tmp_path / "own"),
            f"{GENERAL}CLIENT_KEY": str(tmp_path / "key"),
        }
    )

    assert receivers == (
        OtlpConfig(
            endpoint="https://h:4317",
            protocol="grpc",
            headers={"authorization": "Basic dTpw=", "x-scope": "a=b"},
            timeout_s=2.5,
            compression="gzip",
            certificate=str(tmp_path / "ca"),
            client_certificate=str(tmp_path / "own"),
            client_key=str(tmp_path / "key"),
        ),
    )


def test_a_variable_of_the_metrics_signal_beats_the_general_one() -> None:
    receivers = _receivers(
        **{
            f"{GENERAL}ENDPOINT": "http://general:1",
            f"{METRICS}ENDPOINT": "http://metrics:2",
            f"{GENERAL}HEADERS": "a=general",
            f"{METRICS}HEADERS": "b=metrics",
            f"{GENERAL}TIMEOUT": "1",
            f"{METRICS}TIMEOUT": "2",
            f"{GENERAL}COMPRESSION": "gzip",
            f"{METRICS}COMPRESSION": "none",
        }
    )

    assert receivers == (
        OtlpConfig(endpoint="http://metrics:2", headers={"b": "metrics"}, timeout_s=2.0),
    )


@pytest.mark.parametrize(
    ("environ", "endpoint"),
    [
        ({f"{GENERAL}ENDPOINT": "http://h:4318"}, "http://h:4318/v1/metrics"),
        ({f"{GENERAL}ENDPOINT": "http://h:4318/"}, "http://h:4318/v1/metrics"),
        ({f"{GENERAL}ENDPOINT": "https://h/otlp/"}, "https://h/otlp/v1/metrics"),
        ({f"{METRICS}ENDPOINT": "http://h:4318/here"}, "http://h:4318/here"),
        ({f"{METRICS}ENDPOINT": "http://h:4318"}, "http://h:4318/v1/metrics"),
    ],
)
def test_the_general_endpoint_is_a_base_and_that_of_metrics_is_the_whole(
    environ: dict[str, str], endpoint: str
) -> None:
    receivers = _receivers(**environ, **{f"{GENERAL}PROTOCOL": "http/protobuf"})

    assert receivers == (OtlpConfig(endpoint=endpoint, protocol="http/protobuf"),)


def test_what_the_file_says_beats_a_variable() -> None:
    source = {
        "service_name": "file",
        "export": {"interval_s": 7, "otlp": {"timeout_s": 3, "headers": {"a": "file"}}},
    }
    environ = {
        **ENDPOINT,
        "OTEL_SERVICE_NAME": "variable",
        "OTEL_METRIC_EXPORT_INTERVAL": "nonsense that nobody needs",
        f"{GENERAL}TIMEOUT": "9",
        f"{GENERAL}HEADERS": "a=variable,b=variable",
        f"{GENERAL}COMPRESSION": "gzip",
    }

    loaded = load_config(source, environ)

    assert (loaded.service_name, loaded.export.interval_s) == ("file", 7.0)
    assert loaded.export.otlp == (
        OtlpConfig(
            endpoint="http://h:4317", timeout_s=3.0, headers={"a": "file"}, compression="gzip"
        ),
    )


def test_headers_of_the_environment_go_to_no_other_endpoint() -> None:
    environ = {**ENDPOINT, f"{GENERAL}HEADERS": "authorization=secret"}
    source = {"export": {"otlp": [{"endpoint": "elsewhere:4317"}, {"endpoint": "http://h:4317"}]}}

    receivers = _receivers(source, **environ)

    assert [receiver.headers for receiver in receivers] == [{}, {}]


def test_a_receiver_without_an_endpoint_anywhere_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"export\.otlp\[0\]\.endpoint is missing"):
        _receivers({"export": {"otlp": {"endpoint": None, "timeout_s": 3}}})


def test_an_empty_list_keeps_the_variables_from_making_a_receiver() -> None:
    assert _receivers({"export": {"otlp": []}}, **ENDPOINT) == ()


@pytest.mark.parametrize(
    "switch",
    [
        {"OTEL_SDK_DISABLED": "true"},
        {"OTEL_SDK_DISABLED": "TRUE"},
        {"OTEL_METRICS_EXPORTER": "none"},
    ],
)
def test_a_switch_turns_otlp_off_in_the_file_too_and_says_so(
    switch: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    source = {"export": {"otlp": {"endpoint": "h:4317"}}}

    with caplog.at_level(logging.WARNING):
        receivers = _receivers(source, **ENDPOINT, **switch)

    assert receivers == ()
    (record,) = caplog.records
    assert "OTLP receivers are listed, but OTEL_" in record.getMessage()


def test_a_list_of_exporters_without_otlp_only_keeps_the_variables_quiet() -> None:
    environ = {**ENDPOINT, "OTEL_METRICS_EXPORTER": "prometheus, console"}

    assert _receivers(**environ) == ()
    assert _receivers({"export": {"otlp": {"endpoint": "h:1"}}}, **environ) != ()
    assert _receivers(**{**ENDPOINT, "OTEL_METRICS_EXPORTER": "prometheus,OTLP"}) != ()


@pytest.mark.parametrize(
    ("environ", "insecure"),
    [
        ({f"{GENERAL}ENDPOINT": "h:1", f"{GENERAL}INSECURE": "true"}, True),
        ({f"{GENERAL}ENDPOINT": "h:1", f"{GENERAL}INSECURE": "False"}, False),
        ({f"{GENERAL}ENDPOINT": "h:1"}, None),
        ({f"{GENERAL}ENDPOINT": "https://h:1", f"{GENERAL}INSECURE": "true"}, None),
        ({f"{GENERAL}ENDPOINT": "http://h:1", f"{GENERAL}INSECURE": "false"}, None),
        (
            {
                f"{GENERAL}ENDPOINT": "http://h:1",
                f"{GENERAL}PROTOCOL": "http/protobuf",
                f"{GENERAL}INSECURE": "nobody asks",
            },
            None,
        ),
    ],
)
def test_a_scheme_beats_the_insecure_variable(
    environ: dict[str, str], insecure: bool | None
) -> None:
    (receiver,) = _receivers(**environ)

    assert receiver.insecure is insecure


@pytest.mark.parametrize(
    "plain", [ENDPOINT, {f"{GENERAL}ENDPOINT": "h:1", f"{GENERAL}INSECURE": "true"}]
)
def test_certificates_are_ignored_for_plain_text(plain: dict[str, str]) -> None:
    (receiver,) = _receivers(**plain, **{f"{GENERAL}CERTIFICATE": "/no/such.pem"})

    assert receiver.certificate is None


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        ({}, "nemo-rl"),
        ({"OTEL_SERVICE_NAME": "mine"}, "mine"),
        ({"OTEL_SERVICE_NAME": "  "}, "nemo-rl"),
        ({"OTEL_RESOURCE_ATTRIBUTES": "a=b, service.name = my%20job ,c"}, "my job"),
        ({"OTEL_RESOURCE_ATTRIBUTES": "service.name=other", "OTEL_SERVICE_NAME": "mine"}, "mine"),
        ({"OTEL_RESOURCE_ATTRIBUTES": "service.names=x,service.name="}, "nemo-rl"),
    ],
)
def test_the_service_name_comes_from_its_variable_or_the_resource(
    environ: dict[str, str], name: str
) -> None:
    assert load_config(None, environ).service_name == name


def test_the_export_interval_is_read_as_milliseconds() -> None:
    assert load_config(None, {"OTEL_METRIC_EXPORT_INTERVAL": "2500"}).export.interval_s == 2.5


def test_empty_variables_count_as_unset() -> None:
    names = ("ENDPOINT", "PROTOCOL", "HEADERS", "TIMEOUT", "INSECURE", "CERTIFICATE")
    environ = {f"{GENERAL}{name}": "" for name in names}
    environ |= {"OTEL_SDK_DISABLED": "", "OTEL_METRICS_EXPORTER": " "}

    assert load_config(None, environ) == TelemetryConfig()


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        (f"{GENERAL}TIMEOUT", "10000", "is '10000'; it must be a number of seconds (not millisec"),
        (f"{METRICS}TIMEOUT", "0", "is '0'; it must be a number of seconds"),
        (f"{METRICS}TIMEOUT", "nan", "is 'nan'; it must be a number of seconds"),
        (f"{GENERAL}TIMEOUT", "10s", "is '10s'; it must be a number of seconds"),
        (f"{GENERAL}PROTOCOL", "http/json", "is 'http/json'; it must be grpc or http/protobuf;"),
        (f"{GENERAL}COMPRESSION", "deflate", "is 'deflate'; it must be none or gzip;"),
        (f"{METRICS}ENDPOINT", "h", "is 'h'; for protocol grpc it must name a port;"),
        (f"{METRICS}HEADERS", "a=b,c", ": item 2 (value hidden) is no header; it must be name=val"),
        (f"{GENERAL}HEADERS", "a=%FF", " has a value for 'a' that cannot be sent;"),
        (f"{GENERAL}HEADERS", "a b=c", " has a name that is no HTTP header name;"),
        ("OTEL_SDK_DISABLED", "1", "is '1'; it must be true or false; correct or unset it"),
        ("OTEL_METRIC_EXPORT_INTERVAL", "-5", "is '-5'; it must be a number of milliseconds gre"),
        ("OTEL_SERVICE_NAME", "x" * 256, "gives a service name that is no printable text of at"),
        ("OTEL_SERVICE_NAME", "a\nb", "gives a service name that is no printable text"),
        ("OTEL_SERVICE_NAME", "\udcff", "holds bytes that are no UTF-8; set it to plain text"),
        ("OTEL_RESOURCE_ATTRIBUTES", "service.name=%00", "gives a service name that is no prin"),
    ],
)
def test_a_bad_variable_is_an_error_that_names_it(variable: str, value: str, words: str) -> None:
    refusal = _refusal(**{**ENDPOINT, variable: value})

    assert refusal.startswith(variable)
    assert words in refusal


@pytest.mark.parametrize("ending", ["CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY"])
def test_a_missing_certificate_is_an_error_that_names_the_variable(ending: str) -> None:
    environ = {f"{GENERAL}ENDPOINT": "https://h:1", f"{METRICS}{ending}": "/no/such.pem"}

    assert _refusal(**environ).startswith(f"{METRICS}{ending} names no file")


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        (f"{GENERAL}HEADERS", "3f9csecret"),
        (f"{GENERAL}HEADERS", "a=3f9csecret\x01"),
        (f"{GENERAL}HEADERS", "a=b,3f9csecret"),
        (f"{GENERAL}ENDPOINT", "http://u:3f9csecret@h:1"),
        (f"{METRICS}ENDPOINT", "http://h:1?key=3f9csecret"),
    ],
)
def test_no_error_about_a_variable_shows_a_secret(variable: str, value: str) -> None:
    assert "3f9csecret" not in _refusal(**{**ENDPOINT, variable: value})
