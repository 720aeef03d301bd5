# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import pytest

from nemo_telemetry_actor.actor.reopen import Reopening
from nemo_telemetry_actor.model.instrument import Declaration
from nemo_telemetry_actor.placement.map import PlacementMap
from nemo_telemetry_actor.registry.pointlog import PointLog
from nemo_telemetry_actor.registry.registry import Registry
from nemo_telemetry_actor.state.rows import (
    GaugeBody,
    HistogramBody,
    Loaded,
    MetricBody,
    PointsBody,
    PointsRow,
    ProducerBody,
    RunBody,
    SeriesBody,
    SeriesRow,
    SumBody,
    WindowBody,
)
from nemo_telemetry_actor.wire.messages import PlacementSet, Registration, encode
from tests.batches import declared
from tests.clients import LEASE_S, WORKER
from tests.snapshots import T0

NONE = b"\x90"
RUN = RunBody(5, None, None, ["j"], {"rl.model": "m", "tags": ["a", "b"]})


def producer(run_id: str = "r", **changes: object) -> ProducerBody:
    fields = {"is_closed": False, "has_lease": True} | changes
    return ProducerBody(run_id, WORKER, {"rank": 1}, **fields)  # type: ignore[arg-type]


class Reopened:
    def __init__(self, **loaded: object) -> None:
        self.registry = Registry(lease_s=LEASE_S, fresh_run_id=lambda: "fresh")
        self.placements = PlacementMap()
        state = Loaded(**({"runs": {"r": RUN}, "producers": {1: producer()}} | loaded))  # type: ignore[arg-type]
        self.log = PointLog(1000, state.first_position)
        Reopening(state, self.registry, self.placements, self.log).run(T0, 100.0)


def test_leases_begin_anew_with_the_new_life() -> None:
    registry = Reopened().registry

    registry.expire(T0, 100.0 + LEASE_S)
    assert registry.known(WORKER) is not None
    registry.expire(T0, 101.0 + LEASE_S)

    assert registry.known(WORKER) is None


def test_a_lease_that_was_lost_stays_lost() -> None:
    assert Reopened(producers={1: producer(has_lease=False)}).registry.known(WORKER) is None


def test_attributes_are_what_they_were_sequences_included() -> None:
    run = Reopened().registry.runs["r"]

    assert run.attributes == {"rl.model": "m", "tags": ("a", "b")}


def test_a_window_refuses_what_was_applied_and_takes_what_was_not() -> None:
    registry = Reopened(windows={1: WindowBody(3, [5], 9)}).registry

    window = registry.producers[WORKER].window
    assert [window.try_accept(sequence) for sequence in range(7)] == [
        False, False, False, True, True, False, True,
    ]  # fmt: skip


@pytest.mark.parametrize("newer_first", [False, True])
def test_a_client_that_moved_is_where_it_went_in_whatever_order_rows_come(
    newer_first: bool,
) -> None:
    bodies = [producer("r", has_moved=True, is_closed=True), producer("s")]
    if newer_first:
        bodies.reverse()

    registry = Reopened(
        runs={"r": RUN, "s": RUN}, producers=dict(enumerate(bodies, start=1))
    ).registry

    assert registry.producers[WORKER].run.run_id == "s"


def test_a_job_is_in_the_run_that_it_joined_last() -> None:
    registry = Reopened(runs={"r": RUN, "s": RUN}, jobs={"j": "r", "k": "forgotten"}).registry

    assert registry.run_of_job == {"j": "r"}


def test_placements_are_in_force() -> None:
    placements = PlacementSet(4, [Registration("policy", ["n1"])])

    reopened = Reopened(producers={1: producer(placements=encode(placements))})

    assert reopened.placements.sets("r") == {WORKER: placements}


def test_names_stay_claimed() -> None:
    body = MetricBody(1, declared("rl.steps", "counter"))
    registry = Reopened(metrics={1: body}).registry

    with pytest.raises(ValueError, match=r"rename one of them"):
        registry.runs["r"].names.claim(Declaration("rl_steps", "gauge"))


def test_where_observed_totals_stand_is_known_when_they_fall() -> None:
    encoded = declared("rl.read", "observable_counter")
    body = MetricBody(1, encoded, 3, [(NONE, 7, T0, 5.0)], [(NONE, 7, 5.0)])

    (metric,) = Reopened(metrics={1: body}).registry.producers[WORKER].metrics.values()

    assert (metric.start_of(NONE, 6.0, T0 + 1, True), metric.is_newer(3)) == (7, False)
    assert metric.start_of(NONE, 4.0, T0 + 1, True) == T0 + 1


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("gauge", SumBody(1, 1.0)),
        ("counter", GaugeBody(1, 1.0)),
        ("histogram", HistogramBody(1, [1], 1, 1.0, 1.0, 1.0)),
    ],
)
def test_a_series_that_does_not_fit_its_declaration_is_left_out_and_logged(
    kind: object, body: SeriesBody, caplog: pytest.LogCaptureFixture
) -> None:
    reopened = Reopened(
        metrics={1: MetricBody(1, declared("rl.x", kind))},  # type: ignore[arg-type]
        series={1: SeriesRow(1, NONE, body)},
    )

    assert reopened.registry.series_count == 0
    assert "does not fit its declaration" in caplog.records[0].getMessage()


@pytest.mark.parametrize(
    "loaded",
    [
        {"producers": {1: producer("absent")}, "metrics": {1: MetricBody(1, b"")}},
        {"metrics": {1: MetricBody(1, b"\xc1")}, "series": {1: SeriesRow(1, NONE, SumBody(1, 1))}},
        {"producers": {1: producer(placements=b"\xc1")}},
        {
            "metrics": {1: MetricBody(1, declared("rl.x", "counter"))},
            "series": {1: SeriesRow(1, b"\xc1", SumBody(1, 1.0))},
        },
    ],
)
def test_what_cannot_be_understood_is_left_out_and_never_raises(
    loaded: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    reopened = Reopened(**loaded)

    assert reopened.registry.series_count == 0
    assert caplog.records


def test_points_without_a_readable_metric_keep_their_places() -> None:
    body = PointsBody(1, b"\xc1", 0, [1, 2], [0.5, 1.5])
    row = PointsRow(40, 2, [body])

    log = Reopened(metrics={1: MetricBody(1, b"\xc1")}, points=[row], head=42).log

    assert (log.tail, log.head) == (40, 42)


def test_equal_attribute_sets_of_waiting_points_share_one_mapping() -> None:
    body = PointsBody(1, b"\x92\xa1k\xa1v", 0, [1], [0.5])
    metrics = {1: MetricBody(1, declared("rl.x"))}

    log = Reopened(metrics=metrics, points=[PointsRow(0, 2, [body, body])], head=2).log

    first, second = (column for _, column in log.everything())
    assert first.attributes == {"k": "v"}
    assert first.attributes is second.attributes
