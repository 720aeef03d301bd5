# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families as parse_openmetrics,
)
from prometheus_client.parser import text_string_to_metric_families as parse_text

from nemo_telemetry_actor.export.prometheus import render
from nemo_telemetry_actor.export.prometheus_families import LeftOut
from nemo_telemetry_actor.model.attributes import AttributeValue
from nemo_telemetry_actor.model.instrument import Declaration, InstrumentKind
from nemo_telemetry_actor.model.points import (
    HistogramPoint,
    MetricData,
    NumberPoint,
    ResourceData,
    Snapshot,
)

START = 1_700_000_000_250_000_000
NOW = START + 60_000_000_000


def number(value: float, time: int = NOW, **attributes: AttributeValue) -> NumberPoint:
    return NumberPoint(attributes, START, time, value)


def histogram(*counts: int, total: float = 4.5, **attrs: str) -> HistogramPoint:
    return HistogramPoint(attrs, START, NOW, sum(counts), total, 0.5, 9.0, counts)


def metric(name: str, kind: InstrumentKind, *points: Any, **declared: Any) -> MetricData:
    return MetricData(Declaration(name, kind, **declared), points)


def snapshot(*metrics: MetricData, **resource: str) -> Snapshot:
    return Snapshot([ResourceData(resource, metrics)])


def page(
    data: Snapshot, resource_labels: Sequence[str] = (), *, openmetrics: bool = False
) -> list[str]:
    """Return the lines of a page that the library's own parser can read."""
    text = render(data, resource_labels, openmetrics=openmetrics).body.decode()
    parsed(text, openmetrics)
    return text.splitlines()


def parsed(text: str, openmetrics: bool) -> list[Any]:
    parse = parse_openmetrics if openmetrics else parse_text
    return list(parse(text))


def samples(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if not line.startswith(("#", "target_info"))]


def producers(*each: tuple[Mapping[str, str], MetricData]) -> Snapshot:
    return Snapshot([ResourceData(resource, [data]) for resource, data in each])


def test_text_has_help_and_type_and_no_time() -> None:
    data = snapshot(metric("rl.step.duration", "gauge", number(1.5), unit="s", description="Step."))

    assert page(data) == [
        "# HELP rl_step_duration_seconds Step.",
        "# TYPE rl_step_duration_seconds gauge",
        "rl_step_duration_seconds 1.5",
    ]


def test_openmetrics_has_the_unit_the_creation_time_and_the_end_mark() -> None:
    data = snapshot(metric("rl.read", "counter", number(7, a="b"), unit="By", description='A "b".'))

    assert page(data, openmetrics=True) == [
        '# HELP rl_read_bytes A \\"b\\".',
        "# TYPE rl_read_bytes counter",
        "# UNIT rl_read_bytes bytes",
        'rl_read_bytes_total{a="b"} 7',
        'rl_read_bytes_created{a="b"} 1700000000.250000000',
        "# EOF",
    ]


def test_text_names_the_family_of_a_counter_as_its_sample() -> None:
    data = snapshot(metric("rl.read", "counter", number(7.0), description="R."))

    assert page(data) == [
        "# HELP rl_read_total R.",
        "# TYPE rl_read_total counter",
        "rl_read_total 7.0",
    ]


def test_a_metric_without_description_is_helped_by_its_own_name() -> None:
    lines = page(snapshot(metric("rl.kl", "gauge", number(1.0))))

    assert lines[0] == "# HELP rl_kl OpenTelemetry metric rl.kl."


def test_buckets_are_cumulative_and_end_at_infinity() -> None:
    point = histogram(1, 2, 0, env="math")
    data = snapshot(metric("rl.h", "histogram", point, boundaries=(0.5, 1e6)))

    assert samples(page(data)) == [
        'rl_h_bucket{env="math",le="0.5"} 1',
        'rl_h_bucket{env="math",le="1e+06"} 3',
        'rl_h_bucket{env="math",le="+Inf"} 3',
        'rl_h_count{env="math"} 3',
        'rl_h_sum{env="math"} 4.5',
    ]


@pytest.mark.parametrize(("openmetrics", "count"), [(False, ["rl_h_count 3"]), (True, [])])
def test_a_sum_that_can_fall_is_not_shown_as_a_counter(openmetrics: bool, count: list[str]) -> None:
    data = snapshot(metric("rl.h", "histogram", histogram(1, 2), boundaries=(-1.0,)))

    lines = samples(page(data, openmetrics=openmetrics))

    buckets = ['rl_h_bucket{le="-1.0"} 1', 'rl_h_bucket{le="+Inf"} 3']
    assert [line for line in lines if "_created" not in line] == buckets + count


def test_each_sample_has_its_own_labels_under_one_header() -> None:
    points = (
        number(1, location="here", source="external"),
        number(1, source="internal", reason="e"),
    )

    assert page(snapshot(metric("rl.n", "counter", *points, description="N."))) == [
        "# HELP rl_n_total N.",
        "# TYPE rl_n_total counter",
        'rl_n_total{location="here",source="external"} 1',
        'rl_n_total{reason="e",source="internal"} 1',
    ]


def test_one_family_spans_producers_and_chosen_resource_attributes_tell_them_apart() -> None:
    data = producers(
        ({"nemo.run.id": "r1", "host.name": "h1"}, metric("rl.kl", "gauge", number(1.0))),
        ({"nemo.run.id": "r2"}, metric("rl.kl", "gauge", number(2.0, a="b"), description="KL.")),
    )

    assert page(data, ["nemo.run.id"]) == [
        "# HELP target_info Resource attributes of a producer.",
        "# TYPE target_info gauge",
        'target_info{host_name="h1",nemo_run_id="r1"} 1',
        'target_info{nemo_run_id="r2"} 1',
        "# HELP rl_kl KL.",
        "# TYPE rl_kl gauge",
        'rl_kl{nemo_run_id="r1"} 1.0',
        'rl_kl{a="b",nemo_run_id="r2"} 2.0',
    ]


def test_openmetrics_calls_the_producers_an_info_family() -> None:
    lines = page(snapshot(**{"nemo.run.id": "r1"}), openmetrics=True)

    assert lines[1:] == ["# TYPE target info", 'target_info{nemo_run_id="r1"} 1', "# EOF"]


def test_equal_producers_are_described_once() -> None:
    data = producers(
        ({"a": "b"}, metric("rl.x", "gauge", number(1.0))),
        ({"a": "b"}, metric("rl.y", "gauge", number(1.0))),
    )

    assert page(data).count('target_info{a="b"} 1') == 1


def test_sums_of_producers_with_the_same_labels_add() -> None:
    early = NumberPoint({}, START - 1_000_000_000, NOW, 2)
    data = producers(
        ({"pid": "1"}, metric("rl.n", "counter", number(3))),
        ({"pid": "2"}, metric("rl.n", "counter", early)),
    )

    assert samples(page(data, openmetrics=True)) == [
        "rl_n_total 5",
        "rl_n_created 1699999999.250000000",
    ]


def test_up_down_counters_of_producers_add() -> None:
    data = producers(
        ({"pid": "1"}, metric("rl.q", "up_down_counter", number(3))),
        ({"pid": "2"}, metric("rl.q", "observable_up_down_counter", number(-1))),
    )

    assert samples(page(data)) == ["rl_q 2"]


@pytest.mark.parametrize("order", [1, -1])
def test_the_newest_gauge_value_stands(order: int) -> None:
    each = [
        ({"pid": "1"}, metric("rl.g", "gauge", number(1.0, NOW - 9), number(2.0, NOW))),
        ({"pid": "2"}, metric("rl.g", "gauge", number(9.0, NOW - 1))),
    ]

    assert samples(page(producers(*each[::order]))) == ["rl_g 2.0"]


def test_histograms_of_equal_boundaries_add() -> None:
    data = producers(
        ({"pid": "1"}, metric("rl.h", "histogram", histogram(1, 2), boundaries=(1.0,))),
        ({"pid": "2"}, metric("rl.h", "histogram", histogram(0, 4), boundaries=(1.0,))),
    )

    assert samples(page(data)) == [
        'rl_h_bucket{le="1.0"} 1',
        'rl_h_bucket{le="+Inf"} 7',
        "rl_h_count 7",
        "rl_h_sum 9.0",
    ]


def test_a_histogram_of_other_boundaries_is_left_out_by_name() -> None:
    data = producers(
        ({"pid": "1"}, metric("rl.h", "histogram", histogram(1, 2), boundaries=(1.0,))),
        ({"pid": "2"}, metric("rl.h", "histogram", histogram(0, 4), boundaries=(2.0,))),
    )

    rendered = render(data, (), openmetrics=False)

    assert rendered.left_out == (LeftOut("rl.h", "boundaries_differ", 1),)
    assert b"rl_h_count 3\n" in rendered.body


def test_histograms_of_other_boundaries_stay_apart_under_other_labels() -> None:
    data = producers(
        ({"pid": "1"}, metric("rl.h", "histogram", histogram(1, 2), boundaries=(1.0,))),
        ({"pid": "2"}, metric("rl.h", "histogram", histogram(0, 4), boundaries=(2.0,))),
    )

    assert render(data, ("pid",), openmetrics=False).left_out == ()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("rl.n", "counter", ""), ("rl.n", "gauge", "")),
        (("rl.n.total", "gauge", ""), ("rl.n", "counter", "")),
        (("rl.t", "gauge", "s"), ("rl.t.seconds", "gauge", "")),
        (("rl.a.b", "gauge", ""), ("rl.a_b", "gauge", "")),
        (("rl.q", "gauge", ""), ("rl.q", "up_down_counter", "")),
    ],
)
def test_a_metric_that_wants_anothers_name_is_left_out_by_name(
    first: tuple[str, InstrumentKind, str], second: tuple[str, InstrumentKind, str]
) -> None:
    data = snapshot(
        metric(first[0], first[1], number(1), unit=first[2]),
        metric(second[0], second[1], number(2), number(3, a="b"), unit=second[2]),
    )

    rendered = render(data, (), openmetrics=False)

    assert rendered.left_out == (LeftOut(second[0], "name_collision", 2),)
    assert len(samples(rendered.body.decode().splitlines())) == 1


def test_the_endpoints_own_family_cannot_be_taken() -> None:
    rendered = render(snapshot(metric("target.info", "gauge", number(1))), (), openmetrics=True)

    assert rendered.left_out == (LeftOut("target.info", "name_collision", 1),)


def test_keys_that_become_one_label_are_joined_in_the_order_of_the_keys() -> None:
    point = NumberPoint({"a_b": "last", "a.b": "middle", "a-b": "first"}, 0, NOW, 1.0)

    assert samples(page(snapshot(metric("rl.g", "gauge", point)))) == [
        'rl_g{a_b="first;middle;last"} 1.0'
    ]


def test_one_label_set_is_one_series_however_its_keys_were_spelt() -> None:
    points = (
        NumberPoint({"a.z": "1", "a_b": "2"}, 0, NOW, 1.0),
        NumberPoint({"a_z": "1", "a.b": "2"}, 0, NOW + 1, 2.0),
    )

    assert samples(page(snapshot(metric("rl.g", "gauge", *points)))) == [
        'rl_g{a_b="2",a_z="1"} 2.0'
    ]


def test_an_attribute_cannot_move_a_point_to_another_run() -> None:
    point = NumberPoint({"nemo.run.id": "other"}, 0, NOW, 1.0)
    data = snapshot(metric("rl.g", "gauge", point), **{"nemo.run.id": "mine"})

    assert samples(page(data, ["nemo.run.id"])) == [
        'rl_g{exported_nemo_run_id="other",nemo_run_id="mine"} 1.0'
    ]


def test_an_attribute_cannot_pose_as_a_bucket() -> None:
    data = snapshot(metric("rl.h", "histogram", histogram(3, le="x")), le="y")

    assert 'rl_h_bucket{exported_exported_le="x",exported_le="y",le="+Inf"} 3' in page(data, ["le"])


def test_an_empty_label_is_no_label() -> None:
    data = snapshot(metric("rl.n", "counter", number(1, a=""), number(2)), **{"nemo.run.id": ""})

    assert samples(page(data, ["nemo.run.id"])) == ["rl_n_total 3"]


def test_values_that_are_no_strings_are_written_as_opentelemetry_says() -> None:
    point = number(1.0, b=True, f=0.5, i=3, s=("x", "y"))

    assert samples(page(snapshot(metric("rl.g", "gauge", point)))) == [
        'rl_g{b="true",f="0.5",i="3",s="[\\"x\\",\\"y\\"]"} 1.0'
    ]


@pytest.mark.parametrize("openmetrics", [False, True])
def test_what_a_parser_reads_back_is_what_was_written(openmetrics: bool) -> None:
    nasty = 'back\\slash "quote"\nnew\\nline, {} = é'
    data = snapshot(metric("rl.g", "gauge", number(1.0, a=nasty), description="one\\two\nthree"))
    text = render(data, (), openmetrics=openmetrics).body.decode()

    (family,) = parsed(text, openmetrics)

    assert family.documentation == "one\\two\nthree"
    assert family.samples[0].labels == {"a": nasty}


@pytest.mark.parametrize(
    ("value", "text"),
    [(float("inf"), "+Inf"), (float("-inf"), "-Inf"), (float("nan"), "NaN"), (1e300, "1e+300")],
)
def test_every_number_has_its_spelling(value: float, text: str) -> None:
    assert samples(page(snapshot(metric("rl.g", "gauge", number(value))))) == [f"rl_g {text}"]


def test_text_that_utf8_cannot_carry_spoils_no_page() -> None:
    data = snapshot(metric("rl.g", "gauge", number(1.0), description="bad \ud800"))

    assert page(data)[0] == "# HELP rl_g bad ?"


@pytest.mark.parametrize(("openmetrics", "expected"), [(False, b""), (True, b"# EOF\n")])
def test_an_empty_snapshot_is_an_empty_page(openmetrics: bool, expected: bytes) -> None:
    assert render(Snapshot([]), (), openmetrics=openmetrics).body == expected


def test_an_unknown_start_is_no_creation_time() -> None:
    data = snapshot(metric("rl.n", "counter", NumberPoint({}, 0, NOW, 3)))

    assert samples(page(data, openmetrics=True)) == ["rl_n_total 3"]
