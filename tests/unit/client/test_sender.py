# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The thread and the actor's core, on all the ways on which a batch can go wrong."""

import threading
import time

import pytest

from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.client import outbox
from nemo_telemetry_actor.client.transport import OnDone
from nemo_telemetry_actor.testing import Fate, InProcess, new_core
from nemo_telemetry_actor.wire.messages import Ack, encode
from tests.unit.client.conftest import Join
from tests.unit.client.counting import BRISK, LAZY, SPECS, count, ready, said, values

pytestmark = pytest.mark.usefixtures("short_waits")


def test_what_was_recorded_has_arrived_after_a_flush(
    core: TelemetryCore, way: InProcess, join: Join
) -> None:
    telemetry = ready(join(way))
    count(telemetry, 1.0, 2.0, 3.0)

    assert telemetry.flush()

    assert values(core, "rl.env.tokens") == [6.0]
    assert telemetry.undelivered == 0


def test_a_resend_after_a_lost_answer_doubles_nothing(
    core: TelemetryCore, way: InProcess, join: Join
) -> None:
    telemetry = ready(join(way))
    way.fates.extend([Fate.LOSE, Fate.LOSE])
    count(telemetry, 1.0, 2.0)

    assert telemetry.flush()

    assert values(core, "rl.env.tokens") == [3.0]
    assert len({batch.sequence for batch in said(way)}) == 1
    assert len(said(way)) == 3
    assert core.state()["ingest"]["duplicate_batches"] == 2


def test_a_batch_that_could_not_be_called_is_sent_again(
    core: TelemetryCore, way: InProcess, join: Join
) -> None:
    telemetry = ready(join(way))
    way.fates.append(Fate.GONE)
    count(telemetry, 4.0)

    assert telemetry.flush()

    assert values(core, "rl.env.tokens") == [4.0]
    assert way.resets == 1


def test_a_retry_whose_time_has_come_meanwhile_is_not_late(
    core: TelemetryCore, way: InProcess, join: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "_FIRST_WAIT_S", 0.0)
    telemetry = ready(join(way))
    way.fates.append(Fate.GONE)
    count(telemetry, 4.0)

    assert telemetry.flush(2.0)


@pytest.mark.parametrize("fate", [Fate.FAIL, Fate.GARBLE])
def test_an_actor_that_fails_once_is_asked_again(
    core: TelemetryCore, way: InProcess, join: Join, fate: Fate
) -> None:
    telemetry = ready(join(way))
    way.fates.append(fate)
    count(telemetry, 4.0)

    assert telemetry.flush()

    assert values(core, "rl.env.tokens") == [4.0]


def test_a_batch_that_always_makes_the_actor_fail_is_dropped_counted_and_said(
    core: TelemetryCore,
    way: InProcess,
    join: Join,
    caplog: pytest.LogCaptureFixture,
) -> None:
    telemetry = ready(join(way))
    way.fates.extend([Fate.FAIL] * 5)
    count(telemetry, 4.0)

    assert not telemetry.flush()
    count(telemetry, 1.0)
    assert telemetry.flush()

    assert values(core, "rl.env.tokens") == [1.0]
    assert values(core, "nemo_telemetry.client.dropped") == [1.0]
    assert "cannot take a batch of 1 points" in caplog.text


def test_a_batch_that_the_actor_refuses_is_dropped_and_not_sent_again(
    core: TelemetryCore, join: Join
) -> None:
    class Refusing(InProcess):
        refuse = True

        def ingest(self, payload: bytes, on_done: OnDone) -> None:
            if not self.refuse:
                return super().ingest(payload, on_done)
            self.refuse = False
            return on_done(encode(Ack("refused", 20.0, "no")), None)

    way = Refusing(core)
    telemetry = ready(join(way))
    count(telemetry, 4.0)

    assert not telemetry.flush()
    assert telemetry.flush()

    assert values(core, "rl.env.tokens") == []
    assert values(core, "nemo_telemetry.client.dropped") == [1.0]


def test_a_client_that_the_actor_does_not_know_says_hello_and_sends_the_batch_again(
    way: InProcess, join: Join
) -> None:
    telemetry = ready(join(way))
    count(telemetry, 1.0)
    assert telemetry.flush()
    way.core = restarted = new_core(config=LAZY)
    count(telemetry, 2.0)

    assert telemetry.flush()

    assert values(restarted, "rl.env.tokens") == [2.0]
    assert len(way.hellos) == 2
    assert way.hellos[1].run_id == telemetry.run_id
    assert way.hellos[1].first_sequence == said(way)[-1].sequence


def test_an_actor_that_never_knows_its_clients_is_not_asked_without_a_pause(
    core: TelemetryCore, join: Join
) -> None:
    class Forgetful(InProcess):
        def ingest(self, payload: bytes, on_done: OnDone) -> None:
            on_done(encode(Ack("unknown_client", 20.0)), None)

    way = Forgetful(core)
    telemetry = ready(join(way))
    count(telemetry, 1.0)

    assert not telemetry.flush(0.15)

    assert 2 <= len(way.hellos) <= 7


def test_flush_is_false_when_the_answer_does_not_come_in_time_and_keeps_its_deadline(
    core: TelemetryCore, way: InProcess, join: Join
) -> None:
    telemetry = ready(join(way))
    way.fates.append(Fate.HOLD)
    count(telemetry, 1.0)
    started_s = time.monotonic()

    assert not telemetry.flush(0.05)

    assert time.monotonic() - started_s < 1.0
    assert telemetry.undelivered == 1
    way.release()
    assert telemetry.flush()
    assert values(core, "rl.env.tokens") == [1.0]


def test_flush_and_shutdown_keep_their_deadlines_when_a_welcome_hangs(
    way: InProcess, join: Join
) -> None:
    way.hanging = threading.Event()
    telemetry = join(way)
    telemetry.register_metric_group("env", SPECS)
    assert way.wait_until(lambda: len(way.hellos) == 1)
    count(telemetry, 1.0)
    started_s = time.monotonic()

    assert not telemetry.flush(0.05)
    assert not telemetry.shutdown(0.05)

    assert time.monotonic() - started_s < 1.0
    way.hanging.set()


def test_shutdown_says_how_much_was_lost(
    way: InProcess, join: Join, caplog: pytest.LogCaptureFixture
) -> None:
    way.core = None
    telemetry = join(way)
    telemetry.register_metric_group("env", SPECS)
    for value in range(3):
        telemetry.record("env", score=value)

    assert not telemetry.shutdown(0.05)

    assert "3 measurements were not delivered" in caplog.text


def test_answers_may_come_in_any_order(core: TelemetryCore, way: InProcess, join: Join) -> None:
    telemetry = ready(join(way))
    way.fates.extend([Fate.HOLD] * 3)
    for amount in (1.0, 2.0, 3.0):
        count(telemetry, amount)
        before = way.held
        assert not telemetry.flush(0.0)
        assert way.wait_until(lambda before=before: way.held > before)  # type: ignore[misc]  # bound now

    way.release(newest_first=True)

    assert telemetry.flush()
    assert values(core, "rl.env.tokens") == [6.0]


def test_no_more_calls_are_open_than_the_bound_and_the_rest_follows(
    core: TelemetryCore, way: InProcess, join: Join
) -> None:
    telemetry = ready(join(way))
    way.fates.extend([Fate.HOLD] * outbox.MAX_IN_FLIGHT)
    for _ in range(outbox.MAX_IN_FLIGHT + outbox.MAX_HELD + 5):
        count(telemetry, 1.0)
        telemetry.flush(0.01)

    assert way.held == outbox.MAX_IN_FLIGHT
    assert len(said(way)) == outbox.MAX_IN_FLIGHT
    way.release()
    assert telemetry.flush()
    assert values(core, "rl.env.tokens") == [outbox.MAX_IN_FLIGHT + outbox.MAX_HELD + 5.0]


def test_a_call_that_is_never_answered_is_made_again(
    core: TelemetryCore, way: InProcess, join: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "CALL_TIMEOUT_S", 0.05)
    way.core = core = new_core(config=BRISK)
    telemetry = ready(join(way))
    way.fates.append(Fate.HOLD)
    count(telemetry, 2.0)

    assert telemetry.flush()

    assert values(core, "rl.env.tokens") == [2.0]
    assert way.resets == 1


def test_a_late_answer_to_a_batch_that_was_sent_again_is_harmless(
    core: TelemetryCore, way: InProcess, join: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "CALL_TIMEOUT_S", 0.05)
    way.core = core = new_core(config=BRISK)
    telemetry = ready(join(way))
    way.fates.append(Fate.HOLD)
    count(telemetry, 2.0)
    assert telemetry.flush()

    way.release()
    count(telemetry, 3.0)

    assert telemetry.flush()
    assert values(core, "rl.env.tokens") == [5.0]
