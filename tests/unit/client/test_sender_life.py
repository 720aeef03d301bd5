# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The life of the flush thread: joining, heartbeats, observables, goodbye."""

import threading
import time
from typing import Any

import pytest

from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.client import fold, outbox
from nemo_telemetry_actor.client.telemetry import Telemetry
from nemo_telemetry_actor.client.transport import OnDone
from nemo_telemetry_actor.config.fields import ClientConfig, LimitsConfig, TelemetryConfig
from nemo_telemetry_actor.model.instrument import MetricSpec, Observation
from nemo_telemetry_actor.testing import Fate, InProcess, new_core
from nemo_telemetry_actor.wire.messages import WIRE_VERSION, Ack, Welcome, decode, encode
from tests.unit.client.conftest import Join
from tests.unit.client.counting import BRISK, SPECS, count, ready, said, values

pytestmark = pytest.mark.usefixtures("short_waits")


def test_what_was_recorded_before_there_was_an_actor_arrives_with_its_time(
    core: TelemetryCore, way: InProcess, join: Join
) -> None:
    way.core = None
    telemetry = join(way)
    telemetry.register_metric_group("env", SPECS)
    before = time.time_ns()
    telemetry.record("env", score=0.5)
    after = time.time_ns()
    assert not telemetry.flush(0.05)

    way.core = core

    assert telemetry.flush()
    (row,) = [row for row in core.series() if row["name"] == "rl.env.score"]
    assert row["value"] == 0.5
    assert before <= row["time_unix_nano"] <= after


def test_a_flush_does_not_sit_out_a_wait(
    core: TelemetryCore, way: InProcess, join: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "_FIRST_WAIT_S", 60.0)
    way.core = None
    telemetry = join(way)
    telemetry.register_metric_group("env", SPECS)
    count(telemetry, 1.0)
    assert way.wait_until(lambda: len(way.hellos) == 1)

    way.core = core

    assert telemetry.flush(5.0)


def test_values_arrive_without_a_flush_within_the_interval(way: InProcess, join: Join) -> None:
    way.core = new_core(config=BRISK)
    telemetry = ready(join(way))

    count(telemetry, 2.0)

    assert way.wait_until(lambda: any(batch.metrics for batch in way.batches))


def test_an_idle_client_keeps_its_lease_with_heartbeats(way: InProcess, join: Join) -> None:
    way.core = new_core(
        config=TelemetryConfig(
            client=ClientConfig(flush_interval_s=0.01), limits=LimitsConfig(lease_s=0.1)
        )
    )
    join(way)

    assert way.wait_until(lambda: len(way.batches) >= 3)

    assert not any(batch.metrics or batch.observed for batch in way.batches)


def test_a_heartbeat_is_not_sent_more_often_than_the_lease_wants(
    way: InProcess, join: Join
) -> None:
    way.core = new_core(config=TelemetryConfig(client=ClientConfig(flush_interval_s=0.01)))
    telemetry = ready(join(way))
    count(telemetry, 1.0)
    assert telemetry.flush()
    sent = len(way.batches)

    assert not way.wait_until(lambda: len(way.batches) > sent, timeout_s=0.05)


def test_observables_are_read_on_the_flush_thread_and_replaced_whole(
    core: TelemetryCore, way: InProcess, join: Join
) -> None:
    telemetry = ready(join(way))
    threads: list[str] = []
    yielded = [Observation(1.0, {"node": "a"})]

    def callback(_options: Any) -> list[Observation]:
        threads.append(threading.current_thread().name)
        return yielded

    telemetry.register_metric_group(
        "live", [MetricSpec("live", "rl.live", "observable_gauge", callback=callback)]
    )
    assert telemetry.flush()
    first = values(core, "rl.live")
    yielded = [Observation(2.0, {"node": "b"})]
    assert telemetry.flush()
    second = values(core, "rl.live")
    telemetry.unregister_metric_group("live")
    assert telemetry.flush()

    assert (first, second, values(core, "rl.live")) == ([1.0], [2.0], [])
    assert set(threads) == {"nemo-telemetry-flush"}


def test_a_failing_callback_does_not_keep_other_values_from_arriving(
    core: TelemetryCore, way: InProcess, join: Join
) -> None:
    telemetry = ready(join(way, strict=False))

    def callback(_options: Any) -> list[Observation]:
        raise RuntimeError("gone")

    telemetry.register_metric_group(
        "live", [MetricSpec("live", "rl.live", "observable_gauge", callback=callback)]
    )
    count(telemetry, 1.0)

    assert telemetry.flush()
    assert values(core, "rl.env.tokens") == [1.0]


def test_a_failure_of_the_thread_itself_is_logged_and_it_goes_on(
    core: TelemetryCore, join: Join, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(InProcess):
        failures = 2

        def ingest(self, payload: bytes, on_done: OnDone) -> None:
            if self.failures:
                self.failures -= 1
                raise RuntimeError("a bug")
            super().ingest(payload, on_done)

    telemetry = ready(join(Broken(core), strict=False))
    count(telemetry, 1.0)

    assert telemetry.flush()

    assert values(core, "rl.env.tokens") == [1.0]
    assert caplog.text.count("flush thread failed") == 1


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_strict_lets_a_failure_of_the_thread_through(core: TelemetryCore, join: Join) -> None:
    class Broken(InProcess):
        def ingest(self, payload: bytes, on_done: OnDone) -> None:
            raise RuntimeError("a bug")

    telemetry = ready(join(Broken(core)))
    count(telemetry, 1.0)

    assert not telemetry.flush(0.05)


def test_an_actor_of_a_later_wire_version_is_reported_at_once(
    core: TelemetryCore, join: Join, caplog: pytest.LogCaptureFixture
) -> None:
    class Later(InProcess):
        def welcome(self, hello: bytes, timeout_s: float) -> bytes:
            super().welcome(hello, timeout_s)
            return encode(Welcome(WIRE_VERSION + 1, "r", "i", 1.0, 1.0, 1, 1, 1.0))

    way = Later(core)
    telemetry = join(way)

    assert not telemetry.flush(0.05)

    assert "install one version of nemo_telemetry_actor on every node" in caplog.text


def test_the_first_goodbye_is_the_last_batch_and_ends_the_run(
    core: TelemetryCore, way: InProcess, join: Join
) -> None:
    telemetry = ready(join(way, opens_run=True))
    count(telemetry, 1.0)

    assert telemetry.shutdown()

    assert [batch.closing for batch in said(way)] == ["", "run"]
    assert [run["state"] for run in core.state()["runs"]] == ["ended"]


def test_the_goodbye_of_another_process_leaves_the_run_open(
    core: TelemetryCore, way: InProcess, join: Join
) -> None:
    ready(join(new_core()))
    telemetry = ready(join(way))

    assert telemetry.shutdown()

    assert way.batches[-1].closing == "client"
    assert [run["state"] for run in core.state()["runs"]] == ["open"]


def test_a_goodbye_is_sent_again_when_its_answer_is_lost(
    core: TelemetryCore, way: InProcess, join: Join
) -> None:
    telemetry = ready(join(way, opens_run=True))
    way.fates.append(Fate.LOSE)

    assert telemetry.shutdown()

    assert [batch.closing for batch in said(way)] == ["run", "run"]


def test_what_is_dropped_after_shutdown_was_called_rides_with_the_goodbye(
    core: TelemetryCore, way: InProcess, join: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fold, "MAX_BATCH_POINTS", 1)
    telemetry = ready(join(way))
    way.fates.append(Fate.HOLD)
    count(telemetry, 1.0)
    closing = threading.Thread(target=telemetry.shutdown)
    closing.start()
    assert way.wait_until(lambda: way.held == 1)

    count(telemetry, 5.0)
    telemetry.record("nope", a=1.0)
    way.release()
    closing.join(5.0)

    assert not closing.is_alive()
    assert values(core, "rl.env.tokens") == [1.0]
    assert values(core, "nemo_telemetry.client.dropped") == [1.0, 1.0]
    assert [batch.closing for batch in said(way)] == ["", "", "client"]


def test_whoever_goes_on_recording_cannot_put_the_goodbye_off(join: Join) -> None:
    telemetries: list[Telemetry] = []

    class Busy(InProcess):
        def ingest(self, payload: bytes, on_done: OnDone) -> None:
            if telemetries and telemetries[0].is_shut_down:
                count(telemetries[0], 1.0)  # dropped, which is news to report
            super().ingest(payload, on_done)

    way = Busy(new_core(config=TelemetryConfig(client=ClientConfig(flush_interval_s=1e-9))))
    telemetries.append(ready(join(way)))
    count(telemetries[0], 1.0)

    assert telemetries[0].shutdown(1.0)

    assert said(way)[-1].closing == "client"


def test_nothing_is_sent_after_the_goodbye(way: InProcess, join: Join) -> None:
    way.core = new_core(config=TelemetryConfig(client=ClientConfig(flush_interval_s=0.01)))
    telemetry = ready(join(way))
    assert telemetry.shutdown()
    sent = len(way.batches)

    assert not telemetry.flush()
    assert not way.wait_until(lambda: len(way.batches) > sent, timeout_s=0.05)


def test_a_hello_that_was_asked_for_meanwhile_is_waited_for(
    core: TelemetryCore, way: InProcess, join: Join
) -> None:
    way.hanging = threading.Event()
    telemetry = join(way)
    assert way.wait_until(lambda: len(way.hellos) == 1)

    telemetry.open_run({"rl.algorithm": "grpo"}, {})
    way.hanging.set()

    assert telemetry.wait_joined(5.0)
    assert [hello.opens_run for hello in way.hellos] == [False, True]


def test_a_flush_that_waits_ends_when_another_thread_closes(way: InProcess, join: Join) -> None:
    telemetry = ready(join(way))
    way.fates.extend([Fate.HOLD] * 2)
    count(telemetry, 1.0)
    answers: list[bool] = []
    waiting = threading.Thread(target=lambda: answers.append(telemetry.flush(60.0)))
    waiting.start()
    assert way.wait_until(lambda: way.held == 1)

    telemetry.shutdown(0.01)
    waiting.join(5.0)

    assert answers == [False]


def test_a_second_close_returns_at_once(way: InProcess, join: Join) -> None:
    telemetry = ready(join(way))
    assert telemetry.shutdown()

    assert not telemetry._sender.close("client", 5.0)


def test_the_interval_of_the_newest_answer_is_kept_to(core: TelemetryCore, join: Join) -> None:
    class Hasty(InProcess):
        def ingest(self, payload: bytes, on_done: OnDone) -> None:
            def hurry(answer: bytes | None, error: Exception | None) -> None:
                assert answer is not None
                status = decode(answer, Ack).status
                on_done(encode(Ack(status, 0.01)), error)

            super().ingest(payload, hurry)

    way = Hasty(core)
    telemetry = ready(join(way))
    count(telemetry, 1.0)
    assert telemetry.flush()

    count(telemetry, 1.0)
    telemetry._sender.wake()

    assert telemetry.flush()


def test_a_thread_that_cannot_start_is_tried_again_at_the_next_value(
    core: TelemetryCore, join: Join, caplog: pytest.LogCaptureFixture
) -> None:
    size = threading.stack_size(1 << 46)  # no room for that
    try:
        telemetry = join(core, strict=False)
        telemetry.register_metric_group("env", SPECS)
    finally:
        threading.stack_size(size)

    count(telemetry, 1.0)

    assert telemetry.flush()
    assert values(core, "rl.env.tokens") == [1.0]
    assert "starting the flush thread failed" in caplog.text
