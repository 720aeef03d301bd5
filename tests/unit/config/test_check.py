# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Rules over several fields, endpoints' syntax and files."""

import pytest

from nemo_telemetry_actor.config import (
    ClientConfig,
    ExportConfig,
    HttpConfig,
    LimitsConfig,
    OtlpConfig,
    TelemetryConfig,
)
from nemo_telemetry_actor.config.check import config_problem, endpoint_problem

GRPC, HTTP = "grpc", "http/protobuf"


def _problem(*receivers: OtlpConfig) -> str | None:
    return config_problem(TelemetryConfig(export=ExportConfig(otlp=receivers)))


@pytest.mark.parametrize(
    ("endpoint", "protocol"),
    [
        ("h:4317", GRPC),
        ("http://h:4317", GRPC),
        ("http://h:4317/", GRPC),
        ("https://h.example:443", GRPC),
        ("127.0.0.1:4317", GRPC),
        ("[::1]:4317", GRPC),
        ("http://h", HTTP),
        ("http://h:4318/v1/metrics", HTTP),
        ("HTTPS://h/a/b", HTTP),
    ],
)
def test_an_endpoint_of_its_protocols_form_is_fine(endpoint: str, protocol: str) -> None:
    assert endpoint_problem(endpoint, protocol) is None


@pytest.mark.parametrize(
    ("endpoint", "protocol", "words"),
    [
        ("h", GRPC, "must name a port"),
        ("https://h", GRPC, "must name a port"),
        ("http://h:4318/v1/metrics", GRPC, "remove the path, or set the protocol to http/protobuf"),
        ("h:0", GRPC, "a port from 1 to 65535"),
        ("h:99999", GRPC, "a port from 1 to 65535"),
        ("h:x", GRPC, "a port from 1 to 65535"),
        (":4317", GRPC, "a valid host"),
        ("http://", GRPC, "a valid host"),
        ("[::1", GRPC, "a valid host"),
        ("a b:4317", GRPC, "has spaces"),
        ("hö:4317", GRPC, "outside ASCII"),
        ("ftp://h:1", GRPC, "must be host:port or http(s)://host:port"),
        ("h:4318", HTTP, "must be an http:// or https:// URL"),
        ("grpc://h:4318", HTTP, "must be an http:// or https:// URL"),
        ("http://u:p@h:1", HTTP, "has a user, a query or a fragment"),
    ],
)
def test_an_endpoint_of_another_form_is_refused(endpoint: str, protocol: str, words: str) -> None:
    problem = endpoint_problem(endpoint, protocol)

    assert problem is not None
    assert words in problem


def test_a_receiver_may_be_listed_once_only() -> None:
    receiver = OtlpConfig(endpoint="h:4317")

    assert _problem(receiver, OtlpConfig(endpoint="h:4317", timeout_s=1)) == (
        "export.otlp[1].endpoint is the same as that of export.otlp[0]; each receiver must be "
        "listed once, or every value arrives twice; remove one"
    )
    assert _problem(receiver, OtlpConfig(endpoint="h:4318")) is None


@pytest.mark.parametrize(
    ("receiver", "words"),
    [
        (
            OtlpConfig(endpoint="h:1", certificate="/no/ca.pem"),
            "certificate names no file ('/no/ca",
        ),
        (
            OtlpConfig(endpoint="h:1", client_key=__file__),
            "client_key is set; client_certificate mu",
        ),
        (
            OtlpConfig(endpoint="h:1", client_certificate=__file__),
            "client_certificate is set; client_key must",
        ),
        (
            OtlpConfig(endpoint="http://h:1", certificate=__file__),
            "certificate is set; the endpoint must then be reached with TLS",
        ),
        (
            OtlpConfig(endpoint="h:1", insecure=True, certificate=__file__),
            "certificate is set; the endpoint must then be reached with TLS",
        ),
        (OtlpConfig(endpoint="https://h:1", insecure=True), "insecure is true; it must agree with"),
        (OtlpConfig(endpoint="http://h:1", insecure=False), "insecure is false; it must agree"),
        (OtlpConfig(endpoint="h:1", headers={"a b": "x"}), "headers has a name that is no HTTP"),
        (
            OtlpConfig(endpoint="h:1", headers={"a-bin": "x"}),
            "'a-bin', which gRPC keeps for itself",
        ),
        (
            OtlpConfig(endpoint="h:1", headers={"a": "x "}),
            "headers has a value for 'a' that cannot",
        ),
    ],
)
def test_a_receiver_that_cannot_work_is_refused(receiver: OtlpConfig, words: str) -> None:
    problem = _problem(receiver)

    assert problem is not None
    assert problem.startswith("export.otlp[0].")
    assert words in problem


@pytest.mark.parametrize("headers", [{"a": ""}, {"authorization": "Basic dTpw=="}])
def test_headers_that_can_be_sent_are_fine(headers: dict[str, str]) -> None:
    assert _problem(OtlpConfig(endpoint="h:1", headers=headers)) is None


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "localhost", "::1"])
def test_loopback_needs_no_token(host: str) -> None:
    assert config_problem(TelemetryConfig(http=HttpConfig(host=host))) is None


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "head.example"])
def test_another_address_wants_a_token_or_an_explicit_word(host: str) -> None:
    open_to_all = HttpConfig(host=host, allow_unauthenticated=True)
    with_token = HttpConfig(host=host, token_file=__file__)

    assert config_problem(TelemetryConfig(http=HttpConfig(host=host))) == (
        f"http.host is {host!r}; other than loopback it must have a token; set http.token_file "
        "(or http.allow_unauthenticated: true on a network you trust)"
    )
    assert config_problem(TelemetryConfig(http=open_to_all)) is None
    assert config_problem(TelemetryConfig(http=with_token)) is None


@pytest.mark.parametrize(
    ("http", "words"),
    [
        (HttpConfig(host="http://h"), "http.host is 'http://h'; it must be a host name or an IP"),
        (HttpConfig(token_file="/no/token"), "http.token_file names no file (hidden"),
        (
            HttpConfig(token_file=__file__, allow_unauthenticated=True),
            "http.allow_unauthenticated is true; it must be false when http.token_file is set",
        ),
    ],
)
def test_a_server_that_contradicts_itself_is_refused(http: HttpConfig, words: str) -> None:
    problem = config_problem(TelemetryConfig(http=http))

    assert problem is not None
    assert words in problem


def test_a_lease_lasts_three_flushes() -> None:
    def _with(lease_s: float) -> TelemetryConfig:
        return TelemetryConfig(
            client=ClientConfig(flush_interval_s=5), limits=LimitsConfig(lease_s=lease_s)
        )

    assert config_problem(_with(15)) is None
    assert config_problem(_with(14.9)) == (
        "limits.lease_s is 14.9; it must be at least 15 (seconds: 3 x client.flush_interval_s), or "
        "one late flush ends a live process; raise limits.lease_s or lower client.flush_interval_s"
    )


def test_one_metric_has_no_more_series_than_all_together() -> None:
    limits = LimitsConfig(series_per_metric=11, series=10)

    problem = config_problem(TelemetryConfig(limits=limits))

    assert problem is not None
    assert problem.startswith(
        "limits.series_per_metric is 11; it must be at most limits.series, 10"
    )
