# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What holds for every page and every course of events."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from nemo_telemetry_actor.scrape.components import components_of
from nemo_telemetry_actor.scrape.dashboard import parse_summary
from nemo_telemetry_actor.scrape.families import PageReading, ProcessSum, read_page
from nemo_telemetry_actor.scrape.memory import HostMemory
from nemo_telemetry_actor.scrape.nodes import hosts_of
from nemo_telemetry_actor.scrape.way import choose
from tests.snapshots import T0
from tests.unit.scrape.builders import VERSIONS, S, failed, fresh, no_family, page_of, row, swept

_SMALL = (
    b"# HELP ray_node_mem_used Memory usage on a ray node\n"
    b"# TYPE ray_node_mem_used gauge\n"
    b'ray_node_mem_used{IsHeadNode="true",ip="192.0.2.2"} 1.173172224e+09\n'
    b'ray_node_mem_used_host{ip="192.0.2.2"} 1.513385984e+09\r\n'
    b'ray_component_rss_bytes{Component="ray::A",k="q\\"}\\\\",pid=""} 1.3e+07\n'
    b'ray_node_mem_total{ip="192.0.2.2"} 2.5276063744e+10 1700000000000\n'
    b"ray_object_store_used_memory 12.5\n"
)


def _numbers(reading: PageReading) -> list[float | None]:
    memory = [reading.node.used, reading.node.total, reading.host.used, reading.host.total]
    return [*memory, reading.store_bytes, *(process.rss_bytes for process in reading.processes)]


@pytest.mark.parametrize("cut", range(len(_SMALL) + 1))
def test_a_page_cut_short_anywhere_says_nothing_false(cut: int) -> None:
    whole = read_page(_SMALL, components=True)
    reading = read_page(_SMALL[:cut], components=True)

    assert set(_numbers(reading)) <= {*_numbers(whole), None}
    assert reading.bad_lines <= 1


@given(st.sampled_from(VERSIONS), st.floats(0, 1))
def test_a_real_page_cut_short_anywhere_says_nothing_false(version: str, share: float) -> None:
    page = page_of(version)
    whole = read_page(page)

    reading = read_page(page[: round(share * len(page))])

    assert set(_numbers(reading)) <= {*_numbers(whole), None}
    assert reading.bad_lines <= 1


@given(st.binary(max_size=60), st.integers(0, len(_SMALL)))
def test_no_bytes_make_the_reader_raise(noise: bytes, at: int) -> None:
    reading = read_page(_SMALL[:at] + noise + _SMALL[at:], components=True)

    assert all(n is None or (math.isfinite(n) and n >= 0) for n in _numbers(reading))


@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=6),
        st.floats(0, 1e18),
        max_size=4,
    )
)
def test_titles_and_values_come_back_as_a_whole_parse_reads_them(titles: dict[str, float]) -> None:
    lines = [
        f'ray_component_rss_bytes{{Component="{_escaped(title)}",pid=""}} {value!r}\n'
        for title, value in titles.items()
    ]
    page = "".join(lines)
    # prometheus_client takes other line separators of Unicode for the end of a line.
    is_plain = len(page.splitlines()) == len(lines)

    reading = read_page(page.encode(), components=True)

    assert reading.bad_lines == 0
    assert {p.title: p.rss_bytes for p in reading.processes} == titles
    if is_plain:
        parsed = {
            sample.labels["Component"]: sample.value
            for family in text_string_to_metric_families(page)
            for sample in family.samples
        }
        assert parsed == titles


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


@given(
    st.lists(
        st.lists(
            st.tuples(
                st.sampled_from(["raylet", "ray::A", "ray::A.go", "ray::gcs", "python", "ray::"]),
                st.integers(0, 9),
            ),
            unique_by=lambda entry: entry[0],
            max_size=5,
        ),
        max_size=3,
    )
)
def test_components_hold_what_the_processes_hold(pages: list[list[tuple[str, int]]]) -> None:
    readings = [
        PageReading(processes=tuple(ProcessSum(title, "", float(n)) for title, n in page))
        for page in pages
    ]

    assert sum(components_of(readings).values()) == sum(n for page in pages for _, n in page)


@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from("ab"), st.sampled_from(["fresh", "no_family", "failed"])),
            unique_by=lambda entry: entry[0],
        ),
        max_size=9,
    )
)
def test_a_sample_is_young_and_its_host_is_there(cycles: list[list[tuple[str, str]]]) -> None:
    memory = HostMemory(interval_s=10.0)
    makers = {"no_family": no_family, "failed": failed}
    went: dict[str, bool] = {}

    for cycle, entries in enumerate(cycles):
        at_s = cycle * 10.0
        readings = [
            fresh(name, at_s) if outcome == "fresh" else makers[outcome](name)
            for name, outcome in entries
        ]
        turns = memory.apply(swept(*readings), T0 + round(at_s * S))

        assert [host.host_name for host in memory.hosts] == [name for name, _ in entries]
        assert all(sample.age_s <= 30.0 for sample in memory.samples)
        assert {s.host_name for s in memory.samples} >= {n for n, o in entries if o == "fresh"}
        assert {s.host_name for s in memory.samples}.isdisjoint(
            name for name, outcome in entries if outcome == "failed"
        )
        was_down = {name for name, is_down in went.items() if is_down}
        went = {name: outcome == "failed" for name, outcome in entries}
        is_down = {name for name, down in went.items() if down}
        assert {turn.host_name for turn in turns if not turn.is_up} == is_down - was_down
        assert {turn.host_name for turn in turns if turn.is_up} == (was_down - is_down) & set(went)


_ANYTHING = st.one_of(st.none(), st.booleans(), st.integers(-1, 70000), st.text(max_size=3))


@given(
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "Alive": st.just(True),
                "NodeID": st.sampled_from(["n1", "n2", "n3"]) | _ANYTHING,
                "NodeManagerAddress": st.sampled_from(["10.0.0.1", "10.0.0.2"]) | _ANYTHING,
                "NodeManagerHostname": st.sampled_from(["alpha", "beta"]) | _ANYTHING,
                "MetricsExportPort": st.sampled_from([1, 2]) | _ANYTHING,
            },
        ),
        max_size=6,
    )
)
def test_hosts_have_one_name_each_and_share_no_raylet(rows: list[dict[str, object]]) -> None:
    hosts = hosts_of([{**row(), **changes} for changes in rows])

    names = [host.host_name for host in hosts]
    raylets = [(r.address, r.port) for host in hosts for r in host.raylets]
    assert len(set(names)) == len(names)
    assert len(set(raylets)) == len(raylets)
    assert all(names)


@given(st.binary(max_size=40) | st.text(max_size=40).map(str.encode), st.text(max_size=12))
def test_no_answer_and_no_version_makes_a_rule_raise(body: bytes, version: str) -> None:
    parse_summary(body)
    choose("auto", version)
