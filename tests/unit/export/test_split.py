# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
from nemo_telemetry_actor.export.split import split
from nemo_telemetry_actor.model.points import ResourceData, Snapshot
from tests.snapshots import gauge, snapshot


def test_nothing_is_no_message() -> None:
    assert list(split(Snapshot([]), 3)) == []
    assert list(split(snapshot(gauge("rl.a", [])), 3)) == []


def test_a_snapshot_that_fits_stays_whole() -> None:
    metrics = [gauge("rl.a", [1.0, 2.0]), gauge("rl.b", [3.0])]
    whole = Snapshot([ResourceData({"r": 1}, metrics)])

    assert list(split(whole, 3)) == [whole]


def test_cuts_go_through_metrics_and_resources() -> None:
    first = ResourceData({"r": 1}, [gauge("rl.a", [1.0, 2.0, 3.0])])
    second = ResourceData({"r": 2}, [gauge("rl.a", [4.0]), gauge("rl.b", [5.0])])

    parts = list(split(Snapshot([first, second]), 2))

    assert [
        [
            (resource.attributes["r"], metric.declaration.name, [p.value for p in metric.points])  # type: ignore[union-attr]
            for resource in part.resources
            for metric in resource.metrics
        ]
        for part in parts
    ] == [
        [(1, "rl.a", [1.0, 2.0])],
        [(1, "rl.a", [3.0]), (2, "rl.a", [4.0])],
        [(2, "rl.b", [5.0])],
    ]
