# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The HTTP server's life: bind, start, stop. Nothing here raises for what the machine refuses."""

import logging
import socket
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Middleware

from nemo_telemetry_actor.config import HttpConfig, PrometheusConfig
from nemo_telemetry_actor.errors import ConfigError
from nemo_telemetry_actor.web.access import (
    is_loopback,
    read_token,
    require_loopback_host,
    require_token,
)
from nemo_telemetry_actor.web.routes import StatusSource, make_app

_log = logging.getLogger(__name__)

_SHUTDOWN_TIMEOUT_S: Final = 1.0
_CONNECTION_QUEUE: Final = 128
_EVERY_ADDRESS: Final = frozenset({"", "0.0.0.0", "::"})  # noqa: S104  # compared, not bound


class HttpServer:
    """Serves a `StatusSource`. Call `bind`, then `start` on the event loop, then `stop`.

    An actor's constructor must not raise, so trouble is a state: `problem` says what is wrong, and
    `port` is None while the server is off. Without a token it serves on loopback only, unless
    `http.allow_unauthenticated` says otherwise.
    """

    def __init__(
        self, source: StatusSource, http: HttpConfig, prometheus: PrometheusConfig | None
    ) -> None:
        self._source = source
        self._http = http
        self._prometheus = prometheus
        self._socket: socket.socket | None = None
        self._runner: web.AppRunner | None = None
        self._token: str | None = None
        self._problem: str | None = None

    @property
    def problem(self) -> str | None:
        """What is not as configured, for people; None when all is."""
        return self._problem

    @property
    def port(self) -> int | None:
        """The port that is bound, or None while the server is off."""
        return None if self._socket is None else int(self._socket.getsockname()[1])

    @property
    def url(self) -> str | None:
        """The address of the start page, or None while the server is off."""
        port = self.port
        if port is None:
            return None
        host = self._http.host
        if host in _EVERY_ADDRESS:
            host = socket.gethostname()
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    def bind(self) -> None:
        """Read the token and make the listening socket; a second call while bound does nothing.

        Takes any free port when the configured one is taken. Does not raise: see `problem`.
        """
        if self._socket is not None:
            return
        self._problem = None
        try:
            self._token = self._checked_token()
        except ConfigError as error:
            self._problem = f"{error}; the HTTP server is off"
        else:
            self._socket = self._listening_socket()
        if self._problem is not None:
            _log.warning("%s", self._problem)

    async def start(self) -> None:
        """Serve on the bound socket; does nothing when there is none, or when it serves already."""
        if self._socket is None or self._runner is not None:
            return
        app = make_app(self._source, self._prometheus, self._middlewares())
        self._runner = web.AppRunner(
            app, access_log=None, handle_signals=False, shutdown_timeout=_SHUTDOWN_TIMEOUT_S
        )
        await self._runner.setup()
        await web.SockSite(self._runner, self._socket).start()

    async def stop(self) -> None:
        """Close the socket and every connection, within about a second; may be called again."""
        listening, self._socket = self._socket, None
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()
        if listening is not None:
            listening.close()

    def _checked_token(self) -> str | None:
        if self._http.token_file is not None:
            return read_token(self._http.token_file)
        if not self._http.allow_unauthenticated and not is_loopback(self._http.host):
            raise ConfigError(
                f"http.host is {self._http.host!r}, which others reach, and there is no "
                "http.token_file; name one, or set http.allow_unauthenticated to true"
            )
        return None

    def _middlewares(self) -> list[Middleware]:
        middlewares: list[Middleware] = []
        if is_loopback(self._http.host):
            middlewares.append(require_loopback_host)
        if self._token is not None:
            middlewares.append(require_token(self._token))
        return middlewares

    def _listening_socket(self) -> socket.socket | None:
        host, port = self._http.host, self._http.port
        listening, refusal = _try_listen(host, port)
        if listening is None and port:
            listening, _ = _try_listen(host, 0)
            if listening is not None:
                self._problem = (
                    f"http.port {port} cannot be used ({refusal}); listening on "
                    f"{listening.getsockname()[1]} instead: free the port, or set another"
                )
        if listening is None:
            self._problem = (
                f"cannot listen on http.host {host!r} ({refusal}); the HTTP server is off"
            )
        return listening


def _try_listen(host: str, port: int) -> tuple[socket.socket | None, str]:
    """Return a listening socket, or None and what the system said.

    It has SO_REUSEADDR, so that a restarted actor gets its port back at once.
    """
    # Not socket.create_server: it leaks its socket when a host name has no IDNA form.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(host != "::"))
        listening.bind((host, port))
        listening.listen(_CONNECTION_QUEUE)
    except (OSError, ValueError, TypeError, OverflowError) as error:
        listening.close()
        return None, str(error)
    listening.setblocking(False)
    return listening, ""
