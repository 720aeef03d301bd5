# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""From the bytes that a server sends to the points of a run, with nothing left out."""

import gzip

import pytest
from prometheus_client.parser import text_string_to_metric_families

from nemo_telemetry_actor.scrape.fetch import PageFetcher
from tests.unit.actor.host_world import TOTAL, USED, World, on_nodes
from tests.unit.scrape.builders import VERSIONS, page_of, row
from tests.unit.scrape.servers import answering, http

# The page of a Ray whose gauges another reader had just taken.
EMPTIED = "2.54.1"
NEWEST = page_of("2.60.0")
MEMORY = (1.173172224e9, 2.5276063744e10)


async def _swept(answer: bytes) -> World:
    """A run with group `a` on the only host, after one sweep of what a server answers."""
    fetcher = PageFetcher(timeout_s=5.0)
    world = World(fetcher=fetcher)
    world.client().vouch(on_nodes("a", "n1"))
    async with answering(answer) as server:
        world.cluster.rows = [
            row("n1", NodeManagerAddress="127.0.0.1", MetricsExportPort=server.port)
        ]
        await world.reporter.sweep()
    await fetcher.close()
    world.core.commit()
    return world


def _memory(world: World) -> tuple[float, float] | None:
    used, total = world.pulled(USED), world.pulled(TOTAL)
    if not used and not total:
        return None
    assert [each[:2] for each in used] == [each[:2] for each in total] == [("alpha", "a")]
    return used[0][2], total[0][2]


def _state(world: World) -> tuple[str, int]:
    (host,) = world.core.hosts()
    return host["state"], world.core.state()["hosts"]["totals"]["bad_lines"]


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_page_of_every_ray_is_a_point_with_what_a_whole_parse_says(version: str) -> None:
    page = page_of(version)
    parsed = {
        sample.name: sample.value
        for family in text_string_to_metric_families(page.decode())
        for sample in family.samples
    }
    expected = (parsed.get("ray_node_mem_used"), parsed.get("ray_node_mem_total"))

    world = await _swept(http(gzip.compress(page), "Content-Encoding: gzip"))

    assert _memory(world) == (None if version == EMPTIED else expected)
    assert _state(world) == ("no_sample" if version == EMPTIED else "fresh", 0)


@pytest.mark.parametrize(
    "answer",
    [
        http(NEWEST)[: len(NEWEST) // 2],
        http(b"<html>" + NEWEST),
        http(NEWEST, "Content-Type: text/html"),
        http(NEWEST, status="503 Service Unavailable"),
    ],
    ids=["cut short", "HTML before", "called HTML", "status"],
)
async def test_what_is_no_whole_page_is_a_gap(answer: bytes) -> None:
    world = await _swept(answer)

    assert _memory(world) is None
    assert _state(world) == ("failed", 0)


@pytest.mark.parametrize(
    ("line", "bad_lines"),
    [
        (b'ray_node_mem_used{ip="1" 7\n', 1),
        (b"ray_node_mem_total one\n", 1),
        (b"\xff\xfe\x00 7\n", 0),
        ('ray_other{a="\\"}\\n\\\\",b="ä 日本語"} 7\n'.encode(), 0),
        ('ray_node_mem_used{ip="\\"} 7\\\\ ä"} 1173172224\n'.encode(), 0),
    ],
    ids=["broken labels", "no number", "no text", "escapes elsewhere", "escapes in the family"],
)
async def test_one_line_among_good_ones_costs_itself_at_most(line: bytes, bad_lines: int) -> None:
    middle = NEWEST.index(b"\n", len(NEWEST) // 2) + 1

    world = await _swept(http(NEWEST[:middle] + line + NEWEST[middle:]))

    assert _memory(world) == MEMORY
    assert _state(world) == ("fresh", bad_lines)
