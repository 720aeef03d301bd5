# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import gzip
import socket
import time
import tracemalloc
import zlib
from collections.abc import AsyncIterator

import pytest

from nemo_telemetry_actor.scrape.failures import FetchFailure
from nemo_telemetry_actor.scrape.fetch import PageFetcher
from tests.unit.scrape.builders import page_of
from tests.unit.scrape.servers import answering, http

_PLAIN = "Content-Type: text/plain; version=0.0.4; charset=utf-8"
_BODY = b"ray_node_mem_used 5\n"
_HALF = b"HTTP/1.0 200 OK\r\nContent-Length: 99\r\n\r\n" + _BODY


@pytest.fixture
async def fetcher() -> AsyncIterator[PageFetcher]:
    made = PageFetcher(timeout_s=2.0, max_bytes=1_000_000)
    yield made
    await made.close()


def _kind(answer: bytes | FetchFailure) -> str:
    assert isinstance(answer, FetchFailure)
    return answer.kind


async def test_a_page_arrives_whole(fetcher: PageFetcher) -> None:
    page = page_of("2.60.0")
    async with answering(http(page, _PLAIN, "Server: WSGIServer/0.2")) as server:
        assert await fetcher.page(server.url()) == page


async def test_a_page_in_chunks_arrives_whole(fetcher: PageFetcher) -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with answering(head + b"14\r\n" + _BODY + b"\r\n0\r\n\r\n") as server:
        assert await fetcher.page(server.url()) == _BODY


async def test_a_page_without_a_length_ends_with_its_connection(fetcher: PageFetcher) -> None:
    async with answering(b"HTTP/1.0 200 OK\r\n\r\n" + _BODY) as server:
        assert await fetcher.page(server.url()) == _BODY


async def test_gzip_is_asked_for_and_undone(fetcher: PageFetcher) -> None:
    page = page_of("2.60.0")
    async with answering(http(gzip.compress(page), _PLAIN, "Content-Encoding: gzip")) as server:
        assert await fetcher.page(server.url()) == page

    assert "accept-encoding: gzip\r\n" in server.requests[0].lower()


async def test_gzip_in_several_members_is_one_page(fetcher: PageFetcher) -> None:
    packed = gzip.compress(_BODY) + gzip.compress(_BODY)
    async with answering(http(packed, "Content-Encoding: gzip")) as server:
        assert await fetcher.page(server.url()) == _BODY + _BODY


async def test_a_gzip_bomb_is_refused_within_the_bound(fetcher: PageFetcher) -> None:
    bomb = gzip.compress(b"0" * 8_000_000)
    async with answering(http(bomb, "Content-Encoding: gzip")) as server:
        assert _kind(await fetcher.page(server.url())) == "too_large"


async def test_a_gzip_bomb_takes_no_more_memory_than_the_bound(fetcher: PageFetcher) -> None:
    packer = zlib.compressobj(9, wbits=16 + zlib.MAX_WBITS)
    megabyte = bytes(1_000_000)
    first = packer.compress(megabyte) + packer.flush(zlib.Z_FULL_FLUSH)
    bomb = first + 40 * (packer.compress(megabyte) + packer.flush(zlib.Z_FULL_FLUSH))
    assert len(bomb) < 64_000  # one chunk, which has to be undone piece by piece
    async with answering(http(bomb, "Content-Encoding: gzip")) as server:
        tracemalloc.start()
        failure = await fetcher.page(server.url())
        _, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert _kind(failure) == "too_large"
    assert peak_bytes < 8_000_000


async def test_a_page_over_the_bound_is_refused(fetcher: PageFetcher) -> None:
    async with answering(http(b"x" * 1_000_001)) as server:
        assert _kind(await fetcher.page(server.url())) == "too_large"


@pytest.mark.parametrize("is_gzip", [False, True])
async def test_a_page_as_long_as_the_bound_is_taken(fetcher: PageFetcher, is_gzip: bool) -> None:
    body = b"x" * 1_000_000
    answer = http(gzip.compress(body), "Content-Encoding: gzip") if is_gzip else http(body)
    async with answering(answer) as server:
        assert await fetcher.page(server.url()) == body


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (http(b"gone", status="404 Not Found"), "status"),
        (http(b"", status="500 Internal Server Error"), "status"),
        (http(b"", "Location: http://127.0.0.1:1/", status="302 Found"), "status"),
        (http(b"", status="401 Unauthorized"), "unauthorized"),
        (http(b"", status="403 Forbidden"), "unauthorized"),
        (http(_BODY, "Content-Type: text/html"), "not_metrics"),
        (http(b"\n <!DOCTYPE html>", _PLAIN), "not_metrics"),
        (_HALF, "cut_short"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n14\r\nray", "cut_short"),
        (b"", "cut_short"),
        (b"HTTP/1.0 200", "cut_short"),
        (b"SSH-2.0-OpenSSH_9\r\n\r\n", "not_metrics"),
        (http(b"\x1f\x8b broken", "Content-Encoding: gzip"), "bad_encoding"),
        (http(_BODY, "Content-Encoding: gzip"), "bad_encoding"),
        (http(_BODY, "Content-Encoding: br"), "bad_encoding"),
        (http(gzip.compress(_BODY)[:-9], "Content-Encoding: gzip"), "cut_short"),
        (http(b"", "Content-Encoding: gzip"), "cut_short"),
    ],
)
async def test_what_is_no_page_is_named(fetcher: PageFetcher, answer: bytes, kind: str) -> None:
    async with answering(answer) as server:
        assert _kind(await fetcher.page(server.url())) == kind


async def test_a_server_that_hangs_costs_its_deadline_and_no_more() -> None:
    fetcher = PageFetcher(timeout_s=0.05)
    async with answering(b"", then_hangs=True) as server:
        start = time.perf_counter()
        failure = await fetcher.page(server.url())
        took_s = time.perf_counter() - start
    await fetcher.close()

    assert _kind(failure) == "timeout"
    assert 0.05 <= took_s < 1.0


async def test_a_page_that_stops_half_way_keeps_the_deadline() -> None:
    fetcher = PageFetcher(timeout_s=0.05)
    async with answering(_HALF, then_hangs=True) as server:
        failure = await fetcher.page(server.url())
    await fetcher.close()

    assert _kind(failure) == "timeout"


async def test_a_port_on_which_nobody_accepts_keeps_the_deadline() -> None:
    fetcher = PageFetcher(timeout_s=0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        failure = await fetcher.page(f"http://127.0.0.1:{silent.getsockname()[1]}/metrics")
    await fetcher.close()

    assert _kind(failure) == "timeout"


async def test_an_address_to_which_no_way_leads_is_unreachable(fetcher: PageFetcher) -> None:
    failure = await fetcher.page("http://255.255.255.255:1/metrics")

    assert _kind(failure) == "unreachable"


@pytest.mark.parametrize("answer", [b"", _HALF])
async def test_a_connection_that_is_reset_is_a_page_cut_short(
    fetcher: PageFetcher, answer: bytes
) -> None:
    async with answering(answer, then_resets=True) as server:
        assert _kind(await fetcher.page(server.url())) == "cut_short"


async def test_a_port_without_a_server_is_refused_at_once(fetcher: PageFetcher) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    failure = await fetcher.page(f"http://127.0.0.1:{port}/metrics")

    assert failure == FetchFailure(
        "refused", f"http://127.0.0.1:{port}/metrics: Connection refused"
    )


@pytest.mark.parametrize("url", ["http://fd00::1:8080/metrics", "http://[::1", "nonsense"])
async def test_a_url_that_is_none_is_a_bad_address(fetcher: PageFetcher, url: str) -> None:
    assert _kind(await fetcher.page(url)) == "bad_address"


async def test_an_ipv6_address_is_reached(fetcher: PageFetcher) -> None:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            pass
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")

    async with answering(http(_BODY), host="::1") as server:
        assert await fetcher.page(server.url("[::1]")) == _BODY


async def test_proxies_of_the_environment_are_not_used(
    fetcher: PageFetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    async with answering(http(_BODY)) as server:
        assert await fetcher.page(server.url()) == _BODY


async def test_a_header_is_sent_and_stays_out_of_messages(fetcher: PageFetcher) -> None:
    headers = {"Authorization": "Bearer secret"}
    async with answering(http(b"", status="403 Forbidden")) as server:
        denied = await fetcher.get(server.url(), headers)
        broken = await fetcher.get(server.url(), {"Authorization": "Bearer secret\n"})

    assert "Authorization: Bearer secret\r\n" in server.requests[0]
    assert [_kind(denied), _kind(broken)] == ["unauthorized", "bad_address"]
    assert "secret" not in f"{denied!r} {broken!r}"
