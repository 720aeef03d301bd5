# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Where an OTLP exporter sends to, and how to speak of it without its secrets."""

import base64
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from nemo_telemetry_actor.config import OtlpConfig
from nemo_telemetry_actor.errors import ConfigError
from nemo_telemetry_actor.version import __version__

METRICS_PATH: Final = "/v1/metrics"
"""Path of the OTLP specification, for an HTTP endpoint that names none."""

# Forms that gRPC resolves itself: https://github.com/grpc/grpc/blob/master/doc/naming.md
_GRPC_SCHEMES = ("unix:", "unix-abstract:", "dns:", "ipv4:", "ipv6:")

_HEADER_KEY = re.compile(r"[0-9a-z!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"[ -~\t]*")
# A shorter word is no secret, and hiding it would garble messages.
_MIN_SECRET_CHARS = 4
_MAX_MESSAGE_CHARS = 500


class Endpoint(msgspec.Struct, frozen=True):
    """An endpoint taken apart; only `public` may be shown.

    Args:
        scheme: `http`, `https`, or empty for the bare form.
        address: `host:port`, or what gRPC resolves itself.
        path: Path of an URL.
        query: Query of an URL; may hold a key.
        userinfo: `user:password`; may be empty.
    """

    scheme: str
    address: str
    path: str = ""
    query: str = ""
    userinfo: str = ""

    @property
    def public(self) -> str:
        """The endpoint without userinfo and query."""
        prefix = f"{self.scheme}://" if self.scheme else ""
        return f"{prefix}{self.address}{self.path}"


def parse_endpoint(text: str) -> Endpoint:
    """Take an endpoint apart: `host:port`, `http://…`, `https://…`, or a gRPC name.

    Raises:
        ConfigError: It is none of these. The message shows nothing before an `@` or after a `?`.
    """
    if text.startswith(_GRPC_SCHEMES):
        return Endpoint("", text)
    try:
        parts = urlsplit(text if "://" in text else f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        # Python's message may quote a part of a password.
        host, port, parts = None, None, urlsplit("")
    if not host or parts.scheme not in {"", "http", "https"} or re.search(r"\s", text):
        shown = text.rpartition("@")[2].partition("?")[0]
        raise ConfigError(
            f"export.otlp.endpoint {shown!r} cannot be used; write host:port, http://host:port "
            "or https://host:port"
        )
    if ":" in host:
        host = f"[{host}]"
    address = host if port is None else f"{host}:{port}"
    userinfo = unquote(parts.netloc.rpartition("@")[0])
    return Endpoint(parts.scheme, address, parts.path, parts.query, userinfo)


def grpc_target(endpoint: Endpoint, insecure: bool | None) -> tuple[str, bool]:
    """Return gRPC's target, and whether to use TLS.

    The scheme decides; `insecure` does for the bare form only, which uses TLS when it is not set
    (the specification's rule). An URL's path has no meaning for gRPC.
    """
    if not endpoint.scheme:
        return endpoint.address, insecure is not True
    if re.search(r":\d+$", endpoint.address):
        return endpoint.address, endpoint.scheme == "https"
    # gRPC would take 443 for both.
    port = 443 if endpoint.scheme == "https" else 80
    return f"{endpoint.address}:{port}", endpoint.scheme == "https"


def http_url(endpoint: Endpoint, insecure: bool | None) -> str:
    """Return the URL to post to; an endpoint without a path gets the specification's path."""
    scheme = endpoint.scheme or ("http" if insecure is True else "https")
    path = endpoint.path if endpoint.path.strip("/") else METRICS_PATH
    query = f"?{endpoint.query}" if endpoint.query else ""
    return f"{scheme}://{endpoint.address}{path}{query}"


def headers_of(config: OtlpConfig, endpoint: Endpoint) -> dict[str, str]:
    """Return the headers to send, keys in lower case; userinfo becomes basic authorization.

    Raises:
        ConfigError: A key or value cannot be sent. The message never shows a value.
    """
    headers: dict[str, str] = {}
    if endpoint.userinfo:
        token = base64.b64encode(endpoint.userinfo.encode()).decode()
        headers["authorization"] = f"Basic {token}"
    for key, value in config.headers.items():
        name = key.strip().lower()
        if not _HEADER_KEY.fullmatch(name):
            raise ConfigError(f"export.otlp.headers: {key!r} is not the name of a header")
        # gRPC keeps this suffix for bytes, which a configuration cannot hold.
        if name.endswith("-bin"):
            raise ConfigError(f"export.otlp.headers: {key!r} is binary; only text can be sent")
        if not _HEADER_VALUE.fullmatch(value):
            raise ConfigError(
                f"export.otlp.headers: the value of {key!r} may hold printable ASCII only"
            )
        headers[name] = value.strip()
    return headers


def secrets_of(headers: dict[str, str], endpoint: Endpoint) -> tuple[str, ...]:
    """Return the words that no message may show, longest first."""
    words = {endpoint.query, endpoint.userinfo, endpoint.userinfo.partition(":")[2]}
    words.update(value for _, value in parse_qsl(endpoint.query))
    for value in headers.values():
        words.update((value, value.rpartition(" ")[2]))
    return tuple(sorted((w for w in words if len(w) >= _MIN_SECRET_CHARS), key=len, reverse=True))


def shown(text: str, secrets: Iterable[str]) -> str:
    """Return a backend's words on one line, cut to a bound, with every secret replaced."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return " ".join(text.split())[:_MAX_MESSAGE_CHARS]


def user_agent() -> str:
    """Return what backends see as the sender."""
    return f"nemo-telemetry-actor/{__version__}"
