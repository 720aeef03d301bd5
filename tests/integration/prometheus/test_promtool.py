# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import subprocess

from nemo_telemetry_actor.catalogue.vocabulary import default_vocabulary, group_specs
from nemo_telemetry_actor.config import PrometheusConfig
from nemo_telemetry_actor.export.prometheus import render
from nemo_telemetry_actor.model.instrument import MetricSpec, Scope, declaration_of
from nemo_telemetry_actor.model.points import (
    HistogramPoint,
    MetricData,
    NumberPoint,
    ResourceData,
    Snapshot,
)
from tests.integration.prometheus.served import two_runs
from tests.prometheus_server import require_tool


def test_promtool_has_no_complaint_about_any_kind_of_metric() -> None:
    assert complaints(two_runs()) == ""


def test_promtool_has_no_complaint_about_the_catalogue() -> None:
    specs = group_specs(default_vocabulary())

    assert len(specs) > 10
    assert complaints(Snapshot([ResourceData({"nemo.run.id": "r"}, [*map(_data, specs)])])) == ""


def complaints(snapshot: Snapshot) -> str:
    """Return all that `promtool check metrics` says about the page of a snapshot."""
    page = render(snapshot, PrometheusConfig().resource_labels, openmetrics=False)
    assert page.left_out == ()
    checked = subprocess.run(
        [require_tool("promtool"), "check", "metrics"],
        input=page.body,
        capture_output=True,
        check=False,
        timeout=20,
    )
    return (checked.stdout + checked.stderr).decode()


def _data(spec: MetricSpec) -> MetricData:
    declaration = declaration_of(spec, Scope())
    if spec.kind != "histogram":
        return MetricData(declaration, [NumberPoint({}, 1, 2, 1.0)])
    counts = (1,) * (len(declaration.boundaries) + 1)
    return MetricData(declaration, [HistogramPoint({}, 1, 2, len(counts), 9.0, 0.0, 9.0, counts)])
