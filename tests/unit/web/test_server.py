# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import logging
import socket
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest

from nemo_telemetry_actor.config import HttpConfig, PrometheusConfig
from nemo_telemetry_actor.web.server import HttpServer
from tests.unit.web.fake_source import FakeSource, one_gauge


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as owner:
        yield owner.getsockname()[1]


def server(**http: object) -> HttpServer:
    config = HttpConfig(**{"port": 0, **http})  # type: ignore[arg-type]
    return HttpServer(FakeSource(one_gauge()), config, PrometheusConfig())


async def status_of(url: str, **headers: str) -> int:
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
        return answer.status


async def test_a_started_server_answers_at_its_url() -> None:
    served = server()
    served.bind()

    await served.start()

    try:
        assert served.problem is None
        assert served.url == f"http://127.0.0.1:{served.port}"
        assert await status_of(f"{served.url}/metrics") == 200
    finally:
        await served.stop()


async def test_start_and_stop_may_be_called_again() -> None:
    served = server()
    served.bind()
    served.bind()
    await served.start()
    await served.start()
    port = served.port

    await served.stop()
    await served.stop()

    assert served.port is None
    assert served.url is None
    assert port is not None
    with socket.create_server(("127.0.0.1", port)):
        pass


async def test_stop_before_start_frees_the_port() -> None:
    served = server()
    served.bind()
    port = served.port
    assert port is not None

    await served.stop()

    with socket.create_server(("127.0.0.1", port)):
        pass


async def test_a_stopped_server_gets_its_port_back_at_once() -> None:
    first = server()
    first.bind()
    await first.start()
    port = first.port
    async with aiohttp.ClientSession() as session:
        await session.get(f"{first.url}/healthz")
        await first.stop()

    second = server(port=port)
    second.bind()

    assert (second.problem, second.port) == (None, port)
    await second.stop()


async def test_a_taken_port_is_a_problem_and_another_port(
    taken_port: int, caplog: pytest.LogCaptureFixture
) -> None:
    served = server(port=taken_port)

    with caplog.at_level(logging.WARNING):
        served.bind()

    assert served.port not in {None, taken_port}
    assert served.problem is not None
    assert served.problem.startswith(f"http.port {taken_port} cannot be used (")
    assert caplog.messages == [served.problem]
    await served.stop()


@pytest.mark.parametrize("port", [0, 9464])
@pytest.mark.parametrize("host", ["203.0.113.1", "a" * 70, "nul\0"])
async def test_a_host_that_cannot_be_bound_turns_the_server_off(host: str, port: int) -> None:
    served = server(host=host, port=port, allow_unauthenticated=True)

    served.bind()
    await served.start()

    assert served.port is None
    assert "the HTTP server is off" in (served.problem or "")
    await served.stop()


async def test_others_reach_no_server_without_a_token() -> None:
    served = server(host="0.0.0.0")

    served.bind()

    assert served.port is None
    assert "http.token_file" in (served.problem or "")


async def test_a_missing_token_file_turns_the_server_off(tmp_path: Path) -> None:
    served = server(token_file=str(tmp_path / "none"))

    served.bind()

    assert served.port is None
    assert "cannot be read" in (served.problem or "")


@pytest.fixture
def guarded(tmp_path: Path) -> HttpServer:
    """Return a bound server on every address whose token is `s3cret`."""
    (tmp_path / "token").write_text("s3cret\n")
    served = server(host="0.0.0.0", token_file=str(tmp_path / "token"))
    served.bind()
    return served


async def test_the_token_of_the_file_is_wanted(guarded: HttpServer) -> None:
    await guarded.start()
    url = f"http://127.0.0.1:{guarded.port}/metrics"

    try:
        assert await status_of(url) == 401
        assert await status_of(url, Authorization="Bearer s3cret") == 200
        assert await status_of(url, Authorization="Bearer s3cret", Host="any.example") == 200
        assert "s3cret" not in repr(guarded)
    finally:
        await guarded.stop()


async def test_loopback_checks_the_host_header() -> None:
    served = server()
    served.bind()
    await served.start()

    try:
        assert await status_of(f"{served.url}/healthz", Host="evil.example") == 403
    finally:
        await served.stop()


async def test_a_server_on_every_address_names_this_machine() -> None:
    served = server(host="0.0.0.0", allow_unauthenticated=True)
    served.bind()

    assert served.url == f"http://{socket.gethostname()}:{served.port}"
    await served.stop()


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
async def test_an_ipv6_address_has_brackets_in_the_url() -> None:
    served = server(host="::1")
    served.bind()

    if served.port is None:
        pytest.skip(f"IPv6 loopback is off here: {served.problem}")
    assert served.url == f"http://[::1]:{served.port}"
    await served.stop()
