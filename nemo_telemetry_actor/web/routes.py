# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The pages of the actor's HTTP server, over whatever knows the state."""

import asyncio
import gzip
import logging
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

import msgspec
from aiohttp import web
from aiohttp.typedefs import Middleware

from nemo_telemetry_actor.config import PrometheusConfig
from nemo_telemetry_actor.export.prometheus import Page, render
from nemo_telemetry_actor.export.prometheus_families import LeftOut
from nemo_telemetry_actor.model.points import Snapshot
from nemo_telemetry_actor.web.accept import (
    OPENMETRICS_TYPE,
    TEXT_TYPE,
    accepts_gzip,
    wants_openmetrics,
)
from nemo_telemetry_actor.web.access import add_security_headers
from nemo_telemetry_actor.web.view import Link, index_page

_log = logging.getLogger(__name__)

_MAX_REQUEST_BYTES: Final = 1024
_GZIP_LEVEL: Final = 4  # text shrinks twentyfold already; higher levels cost more than they save

_LINKS: Final = (
    Link("/metrics", "for Prometheus: text or OpenMetrics"),
    Link("/api/state", "the whole state as JSON"),
    Link("/healthz", "200 while all is well, else 503 with the reason"),
)


class StatusSource(Protocol):
    """What the server shows. Called on the event loop; must answer at once and not raise."""

    def pull_snapshot(self) -> Snapshot:
        """Return the values to show; another thread reads them, so they must not change later."""
        ...

    def state(self) -> dict[str, object]:
        """Return the state as builtins, without any secret."""
        ...

    def health(self) -> str | None:
        """Return what is wrong in one line without any secret, or None."""
        ...


class MetricsPage:
    """Renders `/metrics`, one request at a time, in a thread.

    Later requests wait, so however many scrapers there are, one page is in memory at once.
    """

    def __init__(self, source: StatusSource, config: PrometheusConfig) -> None:
        self._source = source
        self._resource_labels = config.resource_labels
        self._one_at_a_time = asyncio.Lock()
        self._warned: set[tuple[str, str]] = set()

    async def respond(self, request: web.Request) -> web.Response:
        """Answer one scrape in the format and encoding that it asks for."""
        openmetrics = wants_openmetrics(",".join(request.headers.getall("Accept", ())))
        compressed = accepts_gzip(",".join(request.headers.getall("Accept-Encoding", ())))
        async with self._one_at_a_time:
            snapshot = self._source.pull_snapshot()
            page = await asyncio.to_thread(
                _rendered, snapshot, self._resource_labels, openmetrics, compressed
            )
        self._warn_of(page.left_out)
        headers = {
            "Content-Type": OPENMETRICS_TYPE if openmetrics else TEXT_TYPE,
            "Vary": "Accept, Accept-Encoding",
        }
        if compressed:
            headers["Content-Encoding"] = "gzip"
        return web.Response(body=page.body, headers=headers)

    def _warn_of(self, left_out: Iterable[LeftOut]) -> None:
        for entry in left_out:
            key = (entry.metric, entry.reason)
            if key not in self._warned:
                self._warned.add(key)
                _log.warning(
                    "metric %r is not on /metrics (%s): %d points; its other exporters go on",
                    entry.metric,
                    entry.reason,
                    entry.points,
                )


STATUS_SOURCE: Final = web.AppKey("STATUS_SOURCE", StatusSource)
METRICS_PAGE: Final = web.AppKey("METRICS_PAGE", MetricsPage)


def make_app(
    source: StatusSource,
    prometheus: PrometheusConfig | None,
    middlewares: Iterable[Middleware] = (),
) -> web.Application:
    """Return the application; `/metrics` answers 404 when `prometheus` is None."""
    app = web.Application(middlewares=tuple(middlewares), client_max_size=_MAX_REQUEST_BYTES)
    app[STATUS_SOURCE] = source
    if prometheus is not None:
        app[METRICS_PAGE] = MetricsPage(source, prometheus)
    app.on_response_prepare.append(add_security_headers)
    app.router.add_get("/", _index)
    app.router.add_get("/metrics", _metrics)
    app.router.add_get("/api/state", _state)
    app.router.add_get("/healthz", _healthz)
    return app


async def _index(request: web.Request) -> web.Response:
    page = index_page("NeMo telemetry", request.app[STATUS_SOURCE].health(), _LINKS)
    return web.Response(text=page, content_type="text/html")


async def _metrics(request: web.Request) -> web.Response:
    page = request.app.get(METRICS_PAGE)
    if page is None:
        raise web.HTTPNotFound(
            text="404: the Prometheus endpoint is off; set export.prometheus to turn it on\n"
        )
    return await page.respond(request)


async def _state(request: web.Request) -> web.Response:
    body = msgspec.json.encode(request.app[STATUS_SOURCE].state())
    return web.Response(body=body, content_type="application/json")


async def _healthz(request: web.Request) -> web.Response:
    problem = request.app[STATUS_SOURCE].health()
    if problem is None:
        return web.Response(text="ok\n")
    return web.Response(text=f"{problem}\n", status=503)


def _rendered(
    snapshot: Snapshot, resource_labels: Sequence[str], openmetrics: bool, compressed: bool
) -> Page:
    page = render(snapshot, resource_labels, openmetrics=openmetrics)
    if not compressed:
        return page
    return Page(gzip.compress(page.body, _GZIP_LEVEL), page.left_out)
