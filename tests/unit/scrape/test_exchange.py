# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What the bytes of an answer mean, and when they are enough."""

import asyncio
import gzip
from collections.abc import AsyncIterator

import pytest

from nemo_telemetry_actor.scrape.exchange import joined_chunks
from nemo_telemetry_actor.scrape.failures import FetchFailure
from nemo_telemetry_actor.scrape.fetch import PageFetcher
from tests.unit.scrape.servers import answering, http

_BODY = b"ray_node_mem_used 5\n"
_CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.fixture
async def fetcher() -> AsyncIterator[PageFetcher]:
    made = PageFetcher(timeout_s=2.0, max_bytes=1_000_000)
    yield made
    await made.close()


@pytest.mark.parametrize(
    "answer",
    [http(_BODY), _CHUNKED + b"14\r\n" + _BODY + b"\r\n0\r\n\r\n"],
    ids=["length", "chunks"],
)
async def test_an_answer_is_whole_although_the_connection_stays(
    fetcher: PageFetcher, answer: bytes
) -> None:
    async with answering(answer, then_hangs=True) as server:
        assert await fetcher.page(server.url()) == _BODY


async def test_what_follows_the_stated_length_is_not_the_page(fetcher: PageFetcher) -> None:
    async with answering(http(_BODY) + b"HTTP/1.1 200 OK\r\n\r\n") as server:
        assert await fetcher.page(server.url()) == _BODY


async def test_a_server_of_another_language_is_known_before_the_deadline(
    fetcher: PageFetcher,
) -> None:
    async with answering(b"SSH-2.0-OpenSSH_9\r\n", then_hangs=True) as server:
        failure = await fetcher.page(server.url())

    assert failure == FetchFailure("not_metrics", f"{server.url()}: the answer is not HTTP")


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0x10\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000,
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000 + b"\r\n\r\n",
    ],
)
async def test_a_head_that_breaks_the_rules_is_no_page(fetcher: PageFetcher, answer: bytes) -> None:
    async with answering(answer, then_hangs=True) as server:
        failure = await fetcher.page(server.url())

    assert isinstance(failure, FetchFailure)
    assert failure.kind == "not_metrics"


async def test_a_length_over_the_bound_is_refused_before_the_body(fetcher: PageFetcher) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000001\r\n\r\n"
    async with answering(head, then_hangs=True) as server:
        failure = await fetcher.page(server.url())

    assert isinstance(failure, FetchFailure)
    assert failure.kind == "too_large"


async def test_an_error_is_told_without_waiting_for_its_body(fetcher: PageFetcher) -> None:
    head = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 99\r\n\r\n"
    async with answering(head, then_hangs=True) as server:
        assert await fetcher.page(server.url()) == FetchFailure(
            "status", f"{server.url()}: status 503"
        )


async def test_gzip_of_very_many_members_is_refused(fetcher: PageFetcher) -> None:
    async with answering(http(gzip.compress(b"") * 1001, "Content-Encoding: gzip")) as server:
        failure = await fetcher.page(server.url())

    assert isinstance(failure, FetchFailure)
    assert failure.kind == "bad_encoding"


async def test_closing_gives_up_what_is_under_way(fetcher: PageFetcher) -> None:
    async with answering(b"", then_hangs=True) as server:
        asking = asyncio.create_task(fetcher.page(server.url()))
        await server.asked.wait()
        await fetcher.close()
        failure = await asking

    assert isinstance(failure, FetchFailure)
    assert failure.kind == "cut_short"


@pytest.mark.parametrize(
    ("sent", "content"),
    [
        (b"0\r\n\r\n", b""),
        (b"2\r\nab\r\n1;why=not\r\nc\r\n0\r\n\r\n", b"abc"),
        (b"0A\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n", b"0123456789"),
        (b"5\r\n0\r\n\r\n", None),  # the end stands within a chunk
        (b"5\r\n0\r\n\r\n\r\n0\r\n\r\n", b"0\r\n\r\n"),
        (b"3\r\nabcd\r\n0\r\n\r\n", None),
        (b"x\r\nab\r\n0\r\n\r\n", None),
        (b"-1\r\nab\r\n0\r\n\r\n", None),
        (b"2\r\nab\r\n", None),
        (b"ffffffffffffffff\r\nab\r\n0\r\n\r\n", None),
        (b"", None),
    ],
)
def test_chunks_are_joined_or_have_no_end(sent: bytes, content: bytes | None) -> None:
    assert joined_chunks(sent) == content
