# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import msgspec

from nemo_telemetry_actor.actor.records import Recorder
from nemo_telemetry_actor.registry.pointlog import PointLog
from nemo_telemetry_actor.registry.producers import Producer
from nemo_telemetry_actor.state.rows import Changes, Loaded, MetricBody, ProducerBody
from nemo_telemetry_actor.wire.messages import MetricBlock, PlacementSet, Registration, encode
from tests.batches import batch, gauge_points, hello, sum_delta
from tests.snapshots import T0
from tests.unit.ingest.world import COUNTER, GAUGE, World

REWARD = MetricBlock(GAUGE, [gauge_points([1.0, 2.0])])
STEPS = MetricBlock(COUNTER, [sum_delta(3.0)])


class Recording:
    """A registry whose commits become rows; `head` and `delivered` as a core has them."""

    def __init__(self, loaded: Loaded | None = None) -> None:
        self.world = World()
        self.registry = self.world.registry
        self.log = PointLog(1000)
        self.vouched: dict[Producer, PlacementSet] = {}
        self.recorder = Recorder(self.vouched.get, loaded or Loaded())

    def commit(self, delivered: int = 0) -> Changes:
        applied = self.registry.take()
        changes = self.recorder.changes(applied, self.log.head, delivered)
        self.log.append(self.registry.publish(applied))
        return changes

    def forget(self) -> None:
        self.registry._forget(self.world.producer)


def tables(changes: Changes) -> set[str]:
    """The tables that a commit writes rows into."""
    return {name for name in changes.__struct_fields__ if getattr(changes, name)}


def test_a_commit_writes_what_changed_and_nothing_else() -> None:
    recording = Recording()
    recording.world.send(REWARD, STEPS)
    first = recording.commit()

    recording.world.send(STEPS)
    second = recording.commit()
    recording.world.send()
    heartbeat = recording.commit()

    assert tables(first) == {"runs", "producers", "windows", "metrics", "series", "points", "head"}
    assert tables(second) == {"windows", "values"}
    assert [body.next_sequence for body in second.windows.values()] == [2]
    assert tables(heartbeat) == {"windows"}


def test_placements_are_written_when_they_are_replaced_and_only_then() -> None:
    recording = Recording()
    producer = recording.world.producer
    recording.commit()
    placements = PlacementSet(1, [Registration("policy", ["n1"])])

    recording.vouched[producer] = placements
    recording.world.send()
    replaced = recording.commit()
    recording.world.send()
    same = recording.commit()

    assert [each.placements for each in replaced.producers.values()] == [encode(placements)]
    assert same.producers == {}


def test_rows_of_the_file_are_not_given_again() -> None:
    body = ProducerBody("r", "x", {}, is_closed=False, has_lease=True)
    recording = Recording(Loaded(producers={7: body}, metrics={9: MetricBody(7, b"")}))
    recording.world.send(STEPS)

    changes = recording.commit()

    assert (set(changes.producers), set(changes.metrics), set(changes.series)) == ({8}, {10}, {1})


def test_who_is_forgotten_before_it_was_written_leaves_no_row() -> None:
    recording = Recording()
    recording.world.send(STEPS)

    recording.forget()

    assert tables(recording.commit()) <= {"runs"}


def test_who_is_forgotten_while_points_wait_is_kept_until_they_are_delivered() -> None:
    recording = Recording()
    recording.world.send(REWARD)
    recording.commit()
    recording.forget()

    gone = recording.commit(delivered=1)
    waits = Changes(delivered=1)
    recording.recorder.settle(waits)
    delivered = Changes(delivered=2)
    recording.recorder.settle(delivered)

    assert gone.gone_producers == [1]
    assert gone.producers[1].is_gone
    assert gone.producers[1].attributes["nemo.run.id"] == "r"
    assert (waits.forgotten_producers, delivered.forgotten_producers) == ([], [1])


def test_who_is_forgotten_with_all_delivered_goes_at_once() -> None:
    recording = Recording()
    recording.world.send(REWARD)
    recording.commit()
    recording.forget()

    changes = recording.commit(delivered=2)

    assert (changes.producers, changes.forgotten_producers) == ({}, [1])


def test_points_applied_by_who_is_forgotten_in_the_same_commit_are_its_own() -> None:
    recording = Recording()
    recording.world.send(REWARD)

    recording.forget()
    changes = recording.commit()

    (points,) = changes.points
    (body,) = points.columns
    assert changes.metrics[body.metric].producer in changes.producers
    assert changes.producers[changes.metrics[body.metric].producer].is_gone


def test_a_file_begun_anew_has_what_its_commits_would_have_had() -> None:
    recording = Recording()
    recording.world.send(REWARD, STEPS)
    changes = recording.commit()

    anew = recording.recorder.everything(recording.registry, recording.log)

    assert anew == msgspec.structs.replace(changes, delivered=0)


def test_a_file_begun_anew_knows_whose_points_wait_though_they_are_forgotten() -> None:
    recording = Recording()
    recording.world.send(REWARD)
    recording.commit()
    recording.forget()
    recording.registry.take()  # nothing was written of it: the disk was full

    anew = recording.recorder.everything(recording.registry, recording.log)

    assert (anew.producers[1].is_gone, anew.metrics[1].producer, anew.series) == (True, 1, {})
    assert anew.head == recording.log.head == 2
    settled = Changes(delivered=2)
    recording.recorder.settle(settled)
    assert settled.forgotten_producers == [1]


def test_many_small_commits_become_few_rows_when_a_file_is_begun_anew() -> None:
    recording = Recording()
    recording.log = PointLog(100_000)
    many = MetricBlock(GAUGE, [gauge_points([0.5] * 3000)])
    for _ in range(10):
        recording.world.send(many)
        recording.commit()

    anew = recording.recorder.everything(recording.registry, recording.log)

    assert [(row.position, row.count) for row in anew.points] == [
        (0, 12_000),
        (12_000, 12_000),
        (24_000, 6000),
    ]


def test_a_client_that_moved_says_so_in_its_old_run() -> None:
    recording = Recording()
    recording.world.send(STEPS)
    recording.commit()

    recording.registry.join(hello(run_id="s"), T0, 0.0)
    recording.world.admission.apply(recording.registry.producers["a" * 32], batch(1, STEPS), T0)
    changes = recording.commit()

    assert {body.run_id: body.has_moved for body in changes.producers.values()} == {
        "r": True,
        "s": False,
    }
