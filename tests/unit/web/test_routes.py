# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import gzip
import logging
from collections.abc import AsyncIterator
from typing import TypeAlias

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from aiohttp.typedefs import Middleware

from nemo_telemetry_actor.config import PrometheusConfig
from nemo_telemetry_actor.model.instrument import Declaration
from nemo_telemetry_actor.model.points import MetricData, NumberPoint, ResourceData, Snapshot
from nemo_telemetry_actor.web.access import require_loopback_host, require_token
from nemo_telemetry_actor.web.routes import make_app
from tests.unit.web.fake_source import FakeSource, one_gauge

Client: TypeAlias = TestClient[web.Request, web.Application]

PLAIN = {"Accept-Encoding": "identity"}


@pytest.fixture
def source() -> FakeSource:
    return FakeSource(one_gauge())


@pytest.fixture
def middlewares() -> list[Middleware]:
    return []


@pytest.fixture
def prometheus() -> PrometheusConfig | None:
    return PrometheusConfig()


@pytest.fixture
async def client(
    source: FakeSource, middlewares: list[Middleware], prometheus: PrometheusConfig | None
) -> AsyncIterator[Client]:
    app = make_app(source, prometheus, middlewares)
    async with TestClient(TestServer(app), auto_decompress=False) as client:
        yield client


async def test_metrics_are_text_unless_asked_otherwise(client: Client) -> None:
    answer = await client.get("/metrics", headers=PLAIN)

    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert 'rl_kl{nemo_run_id="r1"} 1.5\n' in await answer.text()


async def test_metrics_are_openmetrics_when_asked(client: Client) -> None:
    headers = PLAIN | {"Accept": "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"}

    answer = await client.get("/metrics", headers=headers)

    kind = "application/openmetrics-text; version=1.0.0; charset=utf-8"
    assert answer.headers["Content-Type"] == kind
    assert answer.headers["Vary"] == "Accept, Accept-Encoding"
    assert (await answer.text()).endswith("# EOF\n")


async def test_metrics_are_compressed_for_who_takes_it(client: Client) -> None:
    answer = await client.get("/metrics", headers={"Accept-Encoding": "gzip"})

    assert answer.headers["Content-Encoding"] == "gzip"
    assert b"rl_kl" in gzip.decompress(await answer.read())


async def test_each_scrape_shows_the_newest_values(client: Client, source: FakeSource) -> None:
    await client.get("/metrics", headers=PLAIN)
    source.snapshot = one_gauge(2.5)

    answer = await client.get("/metrics", headers=PLAIN)

    assert 'rl_kl{nemo_run_id="r1"} 2.5\n' in await answer.text()


async def test_a_metric_that_is_left_out_is_warned_of_once(
    client: Client, source: FakeSource, caplog: pytest.LogCaptureFixture
) -> None:
    points = [NumberPoint({}, 0, 1, 1.0)]
    both = [MetricData(Declaration(name, "gauge"), points) for name in ("rl.a.b", "rl.a_b")]
    source.snapshot = Snapshot([ResourceData({}, both)])

    with caplog.at_level(logging.WARNING):
        await client.get("/metrics")
        await client.get("/metrics")

    assert caplog.messages == [
        "metric 'rl.a_b' is not on /metrics (name_collision): 1 points; its other exporters go on"
    ]


@pytest.mark.parametrize("prometheus", [None])
async def test_metrics_that_are_off_say_how_to_turn_them_on(client: Client) -> None:
    answer = await client.get("/metrics")

    assert answer.status == 404
    assert "set export.prometheus" in await answer.text()


async def test_the_state_is_json(client: Client) -> None:
    answer = await client.get("/api/state")

    assert answer.content_type == "application/json"
    assert await answer.json() == {"runs": ["r1"], "pulls": 0}


async def test_health_is_ok_or_the_reason(client: Client, source: FakeSource) -> None:
    healthy = await client.get("/healthz")
    source.problem = "backend down"
    ill = await client.get("/healthz")

    assert (healthy.status, await healthy.text()) == (200, "ok\n")
    assert (ill.status, await ill.text()) == (503, "backend down\n")


async def test_the_start_page_links_the_others(client: Client) -> None:
    answer = await client.get("/")

    page = await answer.text()
    assert answer.content_type == "text/html"
    assert all(f'href="{path}"' in page for path in ("/metrics", "/api/state", "/healthz"))


@pytest.mark.parametrize("path", ["/", "/metrics", "/api/state", "/healthz"])
async def test_pages_are_read_only(client: Client, path: str) -> None:
    assert (await client.head(path)).status == 200
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert (await client.request(method, path)).status == 405


@pytest.mark.parametrize(("path", "status"), [("/", 200), ("/nothing", 404)])
async def test_every_answer_has_the_security_headers(
    client: Client, path: str, status: int
) -> None:
    answer = await client.get(path)

    assert answer.status == status
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Server"] == "nemo-telemetry"


@pytest.mark.parametrize("middlewares", [[require_token("s3cret")]])
@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer wrong", "Basic s3cret", "s3cret", "Bearer s3cret é"]
)
async def test_who_has_no_token_sees_nothing(client: Client, header: str | None) -> None:
    headers = {} if header is None else {"Authorization": header}

    for path in ("/", "/metrics", "/api/state", "/nothing"):
        answer = await client.get(path, headers=headers)

        assert answer.status == 401
        assert answer.headers["WWW-Authenticate"] == 'Bearer realm="nemo-telemetry"'


@pytest.mark.parametrize("middlewares", [[require_token("s3cret")]])
@pytest.mark.parametrize("header", ["Bearer s3cret", "bearer  s3cret"])
async def test_who_has_the_token_sees_the_page(client: Client, header: str) -> None:
    assert (await client.get("/metrics", headers={"Authorization": header})).status == 200


@pytest.mark.parametrize("middlewares", [[require_token("s3cret")]])
async def test_health_needs_no_token(client: Client) -> None:
    assert (await client.get("/healthz")).status == 200


@pytest.mark.parametrize("middlewares", [[require_loopback_host]])
@pytest.mark.parametrize("host", ["localhost", "localhost:9464", "127.0.0.1:1", "[::1]", "[::1]:9"])
async def test_loopback_answers_to_its_own_names(client: Client, host: str) -> None:
    assert (await client.get("/metrics", headers={"Host": host})).status == 200


@pytest.mark.parametrize("middlewares", [[require_loopback_host]])
@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:9464", "localhost.evil.example", "10.0.0.1", "[::1", ""]
)
async def test_loopback_refuses_a_rebound_name(client: Client, host: str) -> None:
    assert (await client.get("/healthz", headers={"Host": host})).status == 403
