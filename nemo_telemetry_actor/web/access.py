# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Who may ask: the bearer token, and the `Host` header of a server on loopback."""

import hmac
import ipaddress
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from nemo_telemetry_actor.errors import ConfigError

OPEN_PATHS: Final = frozenset({"/healthz"})
"""Paths that want no token: what answers there tells nothing of a run."""

_SECURITY_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Server": "nemo-telemetry",
    "X-Content-Type-Options": "nosniff",
}


def is_loopback(host: str) -> bool:
    """Tell whether a host name or address can only mean this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def read_token(path: str) -> str:
    """Return the token in a file, without the white space around it.

    Raises:
        ConfigError: The file cannot be read, or holds no token. The message never shows content.
    """
    try:
        token = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(f"http.token_file {path!r} cannot be read: {reason}") from error
    if not token:
        raise ConfigError(f"http.token_file {path!r} is empty; put one token into it")
    return token


def require_token(token: str) -> Middleware:
    """Return a middleware that lets nobody pass without `Authorization: Bearer <token>`."""
    expected = token.encode()

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        matches = hmac.compare_digest(given.strip().encode("utf-8", "surrogateescape"), expected)
        if request.path not in OPEN_PATHS and not (matches and scheme.lower() == "bearer"):
            raise web.HTTPUnauthorized(
                headers={"WWW-Authenticate": 'Bearer realm="nemo-telemetry"'},
                text="401: send the token of http.token_file as 'Authorization: Bearer …'\n",
            )
        return await handler(request)

    return check


@web.middleware
async def require_loopback_host(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse a `Host` that is not this machine, on a server that only this machine reaches.

    A web page whose name an attacker points at 127.0.0.1 (DNS rebinding) is stopped here. Browsers
    always send `Host`, so a request without one is let through.
    """
    host = request.headers.get("Host")
    if host is not None and not is_loopback(_without_port(host)):
        raise web.HTTPForbidden(
            text="403: this server listens on loopback; ask for localhost or 127.0.0.1\n"
        )
    return await handler(request)


async def add_security_headers(_: web.Request, response: web.StreamResponse) -> None:
    """Set the headers that every answer carries, errors included."""
    response.headers.update(_SECURITY_HEADERS)


def _without_port(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
