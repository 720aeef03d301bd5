# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import pytest

from nemo_telemetry_actor.config import OtlpConfig
from nemo_telemetry_actor.errors import ConfigError
from nemo_telemetry_actor.export.endpoint import (
    grpc_target,
    headers_of,
    http_url,
    parse_endpoint,
    secrets_of,
    shown,
)


@pytest.mark.parametrize(
    ("text", "insecure", "target", "is_secure"),
    [
        ("host:4317", None, "host:4317", True),
        ("host:4317", False, "host:4317", True),
        ("host:4317", True, "host:4317", False),
        ("http://host:4317", None, "host:4317", False),
        ("http://host:4317/ignored", False, "host:4317", False),
        ("https://host:4317", True, "host:4317", True),
        ("https://host", None, "host:443", True),
        ("http://host", None, "host:80", False),
        ("http://u:p@[::1]:4317", None, "[::1]:4317", False),
        ("[2001:db8::1]:4317", True, "[2001:db8::1]:4317", False),
        ("unix:/run/otel.sock", True, "unix:/run/otel.sock", False),
        ("dns:///host:4317", None, "dns:///host:4317", True),
    ],
)
def test_the_scheme_decides_about_tls_and_insecure_for_the_bare_form(
    text: str, insecure: bool | None, target: str, is_secure: bool
) -> None:
    assert grpc_target(parse_endpoint(text), insecure) == (target, is_secure)


@pytest.mark.parametrize(
    ("text", "insecure", "url"),
    [
        ("http://host:4318", None, "http://host:4318/v1/metrics"),
        ("http://host:4318/", None, "http://host:4318/v1/metrics"),
        (
            "http://host:9090/api/v1/otlp/v1/metrics",
            None,
            "http://host:9090/api/v1/otlp/v1/metrics",
        ),
        ("https://u:p@host/in?key=abc", None, "https://host/in?key=abc"),
        ("host:4318", True, "http://host:4318/v1/metrics"),
        ("host:4318", None, "https://host:4318/v1/metrics"),
    ],
)
def test_an_http_endpoint_without_a_path_gets_the_specifications(
    text: str, insecure: bool | None, url: str
) -> None:
    assert http_url(parse_endpoint(text), insecure) == url


@pytest.mark.parametrize(
    "text",
    [
        "",
        "http://",
        "ftp://u:geheim@host",
        "http://u:geheim@host:port",
        "http://u:ge/heim@h:1",
        "a b:1",
    ],
)
def test_what_is_no_endpoint_is_refused_without_its_password(text: str) -> None:
    with pytest.raises(ConfigError, match=r"export\.otlp\.endpoint") as caught:
        parse_endpoint(text)

    assert "heim" not in str(caught.value)
    assert caught.value.__context__ is None or "heim" not in str(caught.value.__context__)


def test_the_public_form_has_neither_userinfo_nor_query() -> None:
    endpoint = parse_endpoint("https://user:geheim@host:4318/otlp?key=geheim#geheim")

    assert endpoint.public == "https://host:4318/otlp"


def test_header_names_are_lower_case_and_userinfo_becomes_authorization() -> None:
    config = OtlpConfig(endpoint="http://us%40er:pa@host", headers={"X-Tenant": " one "})

    headers = headers_of(config, parse_endpoint(config.endpoint))

    assert headers == {"authorization": "Basic dXNAZXI6cGE=", "x-tenant": "one"}


@pytest.mark.parametrize(
    "headers",
    [
        {"": "geheim"},
        {"a b": "geheim"},
        {"a": "geheim\r\nb: c"},
        {"a": "geheim\u20ac"},
        {"a-bin": "geheim"},
    ],
)
def test_a_header_that_cannot_be_sent_is_refused_without_its_value(headers: dict[str, str]) -> None:
    config = OtlpConfig(endpoint="http://host", headers=headers)

    with pytest.raises(ConfigError, match=r"export\.otlp\.headers") as caught:
        headers_of(config, parse_endpoint(config.endpoint))

    assert "geheim" not in str(caught.value)


def test_a_backends_words_are_shown_without_secrets_on_one_bounded_line() -> None:
    endpoint = parse_endpoint("http://user:password@host?key=query&a=%7Bb%7Dcd")
    secrets = secrets_of({"authorization": "Bearer token-1"}, endpoint)

    text = shown(
        "bad Bearer token-1, token-1,\n password, user:password, query" + "x" * 999, secrets
    )

    assert text.startswith("bad ***, ***, ***, ***, ***xxx")
    assert len(text) == 500
