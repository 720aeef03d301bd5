# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import pytest
from prometheus_client.parser import text_string_to_metric_families

from nemo_telemetry_actor.scrape.families import Memory, PageReading, ProcessSum, read_page
from tests.unit.scrape.builders import VERSIONS, page_of

_USED = b'ray_node_mem_used{ip="1"} 5\n'


def _used(page: bytes) -> float | None:
    return read_page(page).node.used


@pytest.mark.parametrize("version", VERSIONS)
def test_a_real_page_says_what_a_whole_parse_says(version: str) -> None:
    page = page_of(version)
    parsed = {
        (sample.name, sample.labels.get("Component"), sample.labels.get("pid")): sample.value
        for family in text_string_to_metric_families(page.decode())
        for sample in family.samples
    }

    reading = read_page(page, components=True)

    assert reading.bad_lines == 0
    for name, value in {
        "ray_node_mem_used": reading.node.used,
        "ray_node_mem_total": reading.node.total,
        "ray_node_mem_used_host": reading.host.used,
        "ray_node_mem_total_host": reading.host.total,
    }.items():
        assert value == parsed.get((name, None, None))
    assert reading.store_bytes == parsed.get(("ray_object_store_used_memory", "raylet", None))
    assert {(p.title, p.pid): p.rss_bytes / 1e6 for p in reading.processes} == pytest.approx(
        {key[1:]: v for key, v in parsed.items() if key[0] == "ray_component_rss_mb"}
    )


def test_the_page_whose_gauges_another_reader_took_has_no_memory() -> None:
    assert not read_page(page_of("2.54.1"), components=True).has_memory


def test_the_container_and_the_machine_are_told_apart() -> None:
    reading = read_page(page_of("2.60.0"))

    assert reading.node == Memory(1.173172224e9, 2.5276063744e10)
    assert reading.host == Memory(1.513385984e9, 2.5276063744e10)


def test_processes_are_read_only_when_asked_for() -> None:
    reading = read_page(page_of("2.60.0"))

    assert (reading.processes, reading.store_bytes) == ((), None)


def test_rays_megabytes_are_millions_of_bytes() -> None:
    page = b'ray_component_rss_mb{Component="raylet",pid="7"} 34.459648\n'

    assert read_page(page, components=True).processes == (ProcessSum("raylet", "7", 34459648.0),)


def test_the_family_in_bytes_wins_over_the_one_in_megabytes() -> None:
    page = (
        b'ray_component_rss_mb{Component="gcs",pid=""} 1\n'
        b'ray_component_rss_bytes{Component="gcs",pid=""} 1000001\n'
    )

    assert read_page(page, components=True).processes == (ProcessSum("gcs", "", 1000001.0),)


def test_a_bad_line_before_the_memory_costs_only_itself() -> None:
    page = b'# TYPE a gauge\na 1\nb{x="y} 2\n' + _USED

    assert read_page(page) == PageReading(node=Memory(used=5.0))


@pytest.mark.parametrize(
    "line",
    [
        b'ray_node_mem_total{ip="1} 5',
        b'ray_node_mem_total{name="MacBook Pro 14" registry R/W"} 5',
        b'ray_node_mem_total{name="a"b"c"} 5',
        b"ray_node_mem_total{garbage} 5",
        b'ray_node_mem_total{ip="1"}',
        b'ray_node_mem_total{ip="1"} ',
        b"ray_node_mem_total",
        b"ray_node_mem_total-5",
        b'ray_node_mem_total{ip="1"} five',
        b'ray_node_mem_total{ip="1"} 0x10',
        b'ray_node_mem_total{ip="1"} 1_000',
        'ray_node_mem_total{ip="1"} ١'.encode(),  # noqa: RUF001  # a digit for float(), not here
        b'ray_node_mem_total{ip="1"} 5 6 7',
        b'ray_node_mem_total{ip="1"} 5 tail',
        b'ray_node_mem_total{ip="1"} -5',
        b'ray_node_mem_total{ip="\xff} 5',
    ],
)
def test_a_bad_wanted_line_is_counted_and_costs_only_itself(line: bytes) -> None:
    reading = read_page(line + b"\n" + _USED)

    assert reading == PageReading(node=Memory(used=5.0), bad_lines=1)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'ray_node_mem_used{ip="1"} 5', 5.0),
        (b"ray_node_mem_used 5", 5.0),
        (b"ray_node_mem_used\t5", 5.0),
        (b"ray_node_mem_used{} 5", 5.0),
        (b'ray_node_mem_used {ip="1"} 5', 5.0),
        (b'ray_node_mem_used{ip="1"}5', 5.0),
        (b'ray_node_mem_used{ip="1",} 5', 5.0),
        (b'ray_node_mem_used{ ip = "1" , x="2" } 5', 5.0),
        (b'ray_node_mem_used{ip="1"} 1.173172224e+09', 1173172224.0),
        (b'ray_node_mem_used{ip="1"} +.5E1', 5.0),
        (b'ray_node_mem_used{ip="1"} 0', 0.0),
        (b'ray_node_mem_used{ip="1"} 9007199254740993', 9007199254740992.0),
        (b'ray_node_mem_used{ip="1"} 5 1700000000000', 5.0),
        (b'ray_node_mem_used{ip="1"} 5 # {trace_id="x"} 1 1.5', 5.0),
        (b'ray_node_mem_used{ip="1"} 5 1700000000.5 # {t="x"} 1', 5.0),
        (b'ray_node_mem_used{ip="1"} 5  ', 5.0),
        (b'ray_node_mem_used{ip="1"} 5\r', 5.0),
        (b'ray_node_mem_used{k="{plpgsql}",l="a,b=\\"c\\" }",m="back\\\\"} 5', 5.0),
        ('ray_node_mem_used{k="unié漢"} 5'.encode(), 5.0),
        (b'ray_node_mem_used{k="\xff\xfe"} 5', 5.0),
    ],
)
def test_every_legal_way_to_write_a_line_is_read(text: bytes, value: float) -> None:
    assert read_page(text + b"\n") == PageReading(node=Memory(used=value))


@pytest.mark.parametrize(
    "value", [b"NaN", b"nan", b"+Inf", b"-Inf", b"Infinity", b"1e400", b"9" * 400]
)
def test_a_value_that_is_not_finite_is_no_sample_and_no_bad_line(value: bytes) -> None:
    assert read_page(b'ray_node_mem_used{ip="1"} ' + value + b"\n") == PageReading()


def test_components_that_are_not_finite_are_no_samples_and_bad_ones_are_counted() -> None:
    page = (
        b'ray_component_rss_bytes{Component="raylet"} NaN\n'
        b'ray_component_rss_bytes{Component="gcs} 1\n'
        b"ray_object_store_used_memory +Inf\n"
        b"ray_object_store_used_memory x\n"
    )

    assert read_page(page, components=True) == PageReading(bad_lines=2)


def test_only_whole_names_at_the_start_of_a_line_count() -> None:
    page = (
        b"# HELP ray_node_mem_used ray_node_mem_used 1\n"
        b"ray_node_mem_used_bytes 2\n"
        b"xray_node_mem_used 3\n"
        b'other{x="ray_node_mem_used 4"} 4\n'
        b"ray_node_mem_used:sum 5\n"
        b"ray_node_mem_usedx 6\n"
    )

    assert read_page(page) == PageReading()


def test_the_first_line_of_a_page_counts() -> None:
    assert _used(_USED) == 5.0


def test_of_a_family_that_is_there_twice_the_last_line_counts() -> None:
    assert _used(_USED + b"# TYPE ray_node_mem_used gauge\nray_node_mem_used 6\n") == 6.0


def test_both_blocks_of_a_family_with_two_label_sets_are_read() -> None:
    block = b"# TYPE ray_component_rss_bytes gauge\nray_component_rss_bytes"
    page = (
        block + b'{Component="raylet",ip="10.72.69.156",pid="359"} 1.0\n'
        + block + b'{Component="ray::DashboardAgent",ip="10.72.69.156"} 1.2\n'
    )  # fmt: skip

    assert read_page(page, components=True).processes == (
        ProcessSum("raylet", "359", 1.0),
        ProcessSum("ray::DashboardAgent", "", 1.2),
    )


def test_a_last_line_without_its_line_feed_is_not_believed() -> None:
    assert read_page(b"ray_node_mem_total 8\nray_node_mem_used 1.17") == PageReading(
        node=Memory(total=8.0), bad_lines=1
    )


@pytest.mark.parametrize(
    ("written", "title"),
    [
        (b"ray::A", "ray::A"),
        (b'q\\"uote', 'q"uote'),
        (b"back\\\\slash", "back\\slash"),
        (b"back\\\\nslash", "back\\nslash"),
        (b"new\\nline", "new\nline"),
        (b"other\\t", "other\\t"),
        (b"x=1},{", "x=1},{"),
        ("unié漢".encode(), "unié漢"),
        (b"\xff", "\N{REPLACEMENT CHARACTER}"),
        (b"", ""),
    ],
)
def test_titles_are_unescaped(written: bytes, title: str) -> None:
    page = b'ray_component_rss_bytes{a="1",Component="' + written + b'",pid=""} 7\n'

    assert read_page(page, components=True).processes == (ProcessSum(title, "", 7.0),)


@pytest.mark.parametrize(
    "body",
    [b"", b"\n", b"\r\n\r\n", b"<html><body>ray_node_mem_used 1</body></html>", b"\x00" * 99],
)
def test_what_is_no_page_has_no_memory(body: bytes) -> None:
    assert not read_page(body, components=True).has_memory
