# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from google.protobuf import text_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)

from nemo_telemetry_actor.errors import ExportError
from nemo_telemetry_actor.export.encode import to_request
from nemo_telemetry_actor.model.instrument import Declaration, Scope
from nemo_telemetry_actor.model.points import (
    HistogramPoint,
    MetricData,
    NumberPoint,
    ResourceData,
    Snapshot,
)
from tests.receivers import points_of
from tests.snapshots import gauge, histogram, numbers, snapshot

_EXPECTED = """
resource_metrics {
  resource {
    attributes { key: "nemo.run.id" value { string_value: "run-1" } }
    attributes { key: "ranks" value { array_value { values { int_value: 0 } values { int_value: 1 } } } }
  }
  scope_metrics {
    scope { name: "nemo_telemetry_actor" }
    metrics {
      name: "rl.reward" description: "Mean reward" unit: "1"
      gauge {
        data_points {
          attributes { key: "rl.env" value { string_value: "math" } }
          time_unix_nano: 10 as_double: 0.5
        }
        data_points {
          attributes { key: "rl.env" value { string_value: "math" } }
          time_unix_nano: 20 as_double: -1.0
        }
      }
    }
    metrics {
      name: "rl.steps"
      sum {
        aggregation_temporality: AGGREGATION_TEMPORALITY_CUMULATIVE is_monotonic: true
        data_points { start_time_unix_nano: 5 time_unix_nano: 20 as_double: 7.0 }
      }
    }
    metrics {
      name: "rl.seconds" unit: "s"
      histogram {
        aggregation_temporality: AGGREGATION_TEMPORALITY_CUMULATIVE
        data_points {
          start_time_unix_nano: 5 time_unix_nano: 20 count: 3 sum: 4.5
          bucket_counts: 1 bucket_counts: 0 bucket_counts: 2
          explicit_bounds: 0.5 explicit_bounds: 1.0
          min: 0.25 max: 2.25
        }
      }
    }
  }
  scope_metrics {
    scope { name: "my.lib" version: "2" }
    schema_url: "https://example.com/schema"
    metrics {
      name: "queue"
      sum {
        aggregation_temporality: AGGREGATION_TEMPORALITY_CUMULATIVE
        data_points {
          attributes { key: "full" value { bool_value: true } }
          start_time_unix_nano: 5 time_unix_nano: 20 as_double: -2.0
        }
      }
    }
  }
}
"""


def test_each_kind_has_its_otlp_form_and_metrics_are_grouped_by_scope() -> None:
    math_env = {"rl.env": "math"}
    metrics = [
        MetricData(
            Declaration("rl.reward", "gauge", "1", "Mean reward"),
            [NumberPoint(math_env, 0, 10, 0.5), NumberPoint(math_env, 0, 20, -1.0)],
        ),
        MetricData(Declaration("rl.steps", "counter"), [NumberPoint({}, 5, 20, 7)]),
        MetricData(
            Declaration(
                "queue",
                "up_down_counter",
                scope=Scope("my.lib", "2", "https://example.com/schema"),
            ),
            [NumberPoint({"full": True}, 5, 20, -2)],
        ),
        histogram(
            "rl.seconds", (0.5, 1.0), HistogramPoint({}, 5, 20, 3, 4.5, 0.25, 2.25, (1, 0, 2))
        ),
    ]

    request = to_request(snapshot(*metrics, resource={"nemo.run.id": "run-1", "ranks": (0, 1)}))

    assert request == text_format.Parse(_EXPECTED, ExportMetricsServiceRequest())


@pytest.mark.parametrize(
    ("observable", "plain"),
    [
        ("observable_gauge", "gauge"),
        ("observable_counter", "counter"),
        ("observable_up_down_counter", "up_down_counter"),
    ],
)
def test_an_observable_looks_like_its_plain_kind(observable: str, plain: str) -> None:
    requests = [
        to_request(snapshot(numbers("x", kind, [1.0], start=3)))  # type: ignore[arg-type]  # both are kinds
        for kind in (observable, plain)
    ]

    assert requests[0] == requests[1]


def test_producers_with_equal_resources_lose_no_point() -> None:
    run = {"nemo.run.id": "r", "service.name": "s"}
    same_run = {"service.name": "s", "nemo.run.id": "r"}
    producers = [
        ResourceData(run, [gauge("x", [1.0])]),
        ResourceData(same_run, [gauge("x", [2.0])]),
    ]

    request = to_request(Snapshot(producers))

    assert len(request.resource_metrics) == 1
    assert [point.value for point in points_of([request], "x")] == [1.0, 2.0]


def test_resources_that_differ_in_type_alone_stay_apart() -> None:
    producers = [ResourceData({"a": value}, [gauge("x", [1.0])]) for value in (1, True, 1.0, "1")]

    request = to_request(Snapshot(producers))

    resources = [point.resource["a"] for point in points_of([request], "x")]
    assert [(type(value), value) for value in resources] == [
        (int, 1), (bool, True), (float, 1.0), (str, "1"),
    ]  # fmt: skip


def test_a_histogram_without_measurements_has_no_extremes() -> None:
    empty = HistogramPoint({}, 5, 20, 0, 0.0, math.inf, -math.inf, (0, 0))

    request = to_request(snapshot(histogram("h", (1.0,), empty)))

    (point,) = points_of([request], "h")
    assert not point.data.HasField("min")
    assert not point.data.HasField("max")


def test_text_that_utf8_cannot_carry_costs_no_message() -> None:
    declaration = Declaration("x", "gauge", "", "broken \ud800", scope=Scope("\udfff"))

    request = to_request(snapshot(MetricData(declaration, [NumberPoint({}, 0, 1, 1.0)])))

    (scope_metrics,) = request.resource_metrics[0].scope_metrics
    assert scope_metrics.scope.name == "?"
    assert scope_metrics.metrics[0].description == "broken ?"


def test_a_metric_without_points_is_left_out() -> None:
    request = to_request(snapshot(gauge("empty", []), gauge("x", [1.0])))

    names = [metric.name for metric in request.resource_metrics[0].scope_metrics[0].metrics]
    assert names == ["x"]


def test_what_has_no_otlp_form_is_a_permanent_error_of_bounded_length() -> None:
    impossible = MetricData(
        Declaration("x", "gauge"), [NumberPoint({}, 0, -1, 1.0) for _ in range(1000)]
    )

    with pytest.raises(ExportError, match="no OTLP form") as caught:
        to_request(snapshot(impossible))

    assert len(str(caught.value)) < 500
