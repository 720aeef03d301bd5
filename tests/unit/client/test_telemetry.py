# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0

import gc
import weakref
from collections.abc import Iterator

import pytest

from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.client import telemetry as telemetry_module
from nemo_telemetry_actor.client.membership import Membership
from nemo_telemetry_actor.client.telemetry import Telemetry
from nemo_telemetry_actor.model.instrument import MetricSpec
from nemo_telemetry_actor.testing import InProcess, connected
from tests.unit.client.conftest import Join

SPECS = (
    MetricSpec("score", "rl.env.score"),
    MetricSpec("tokens", "rl.env.tokens", "counter"),
    MetricSpec("group", "rl.env.group"),
    MetricSpec("values", "rl.env.values"),
    MetricSpec("meter", "rl.env.meter"),
    MetricSpec("attributes", "rl.env.attributes"),
)


@pytest.fixture
def telemetry(core: TelemetryCore, join: Join) -> Telemetry:
    return ready(join(core, strict=False))


def ready(telemetry: Telemetry) -> Telemetry:
    telemetry.register_metric_group("env", SPECS)
    return telemetry


# ---- flush and shutdown


def test_values_after_shutdown_are_dropped_and_said_once(
    telemetry: Telemetry, caplog: pytest.LogCaptureFixture
) -> None:
    assert telemetry.shutdown()

    for _ in range(2):
        telemetry.record("env", score=1.0)

    assert telemetry.is_shut_down
    assert telemetry.undelivered == 0
    assert caplog.text.count("after shutdown() are dropped") == 1


def test_a_handle_that_was_shut_down_can_be_forgotten(core: TelemetryCore) -> None:
    telemetry = connected(core)
    assert telemetry.shutdown()
    forgotten = weakref.ref(telemetry)

    del telemetry
    gc.collect()

    assert forgotten() is None


def test_a_second_shutdown_does_nothing(core: TelemetryCore, telemetry: Telemetry) -> None:
    assert telemetry.shutdown()

    assert telemetry.shutdown()
    assert not telemetry.flush()


class _BadTime:
    def __add__(self, other: object) -> float:
        raise RuntimeError("no")

    __radd__ = __lt__ = __gt__ = __le__ = __ge__ = __add__


@pytest.mark.parametrize("method", ["flush", "shutdown"])
def test_a_senseless_deadline_is_logged_and_not_raised(
    telemetry: Telemetry, method: str, caplog: pytest.LogCaptureFixture
) -> None:
    telemetry.record("env", score=1.0)

    assert getattr(telemetry, method)(_BadTime()) is False

    assert f"{method} failed" in caplog.text


@pytest.mark.parametrize("method", ["flush", "shutdown"])
def test_strict_lets_a_senseless_deadline_through(
    core: TelemetryCore, join: Join, method: str
) -> None:
    telemetry = ready(join(core))
    telemetry.record("env", score=1.0)

    with pytest.raises(RuntimeError, match="no"):
        getattr(telemetry, method)(_BadTime())


def test_what_is_buffered_is_delivered_at_interpreter_exit(
    core: TelemetryCore, telemetry: Telemetry
) -> None:
    assert telemetry.wait_joined(5.0)
    telemetry.record("env", score=1.0)

    telemetry._at_exit()

    assert telemetry.is_shut_down
    assert [row["value"] for row in core.series()] == [1.0]


def test_a_process_that_never_found_an_actor_ends_soon(
    join: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry_module, "_EXIT_TIMEOUT_NEVER_JOINED_S", 0.01)
    telemetry = ready(join(InProcess()))
    telemetry.record("env", score=1.0)

    telemetry._at_exit()

    assert telemetry.is_shut_down


# ---- identity


def test_a_handle_shows_its_run_and_role(core: TelemetryCore, join: Join) -> None:
    telemetry = join(core, run_id="r1", worker_group="policy", rank=2)

    assert repr(telemetry) == "Telemetry(run_id='r1', worker_group='policy', rank=2)"


def test_the_run_that_the_actor_names_is_joined(core: TelemetryCore, telemetry: Telemetry) -> None:
    assert telemetry.wait_joined(5.0)

    assert [run["run_id"] for run in core.state()["runs"]] == [telemetry.run_id]


def test_wait_joined_is_false_without_an_actor(join: Join) -> None:
    assert not join(InProcess()).wait_joined(0.01)


def test_a_role_may_be_said_later_but_not_changed(
    core: TelemetryCore, telemetry: Telemetry, caplog: pytest.LogCaptureFixture
) -> None:
    assert telemetry.wait_joined(5.0)

    telemetry.describe("policy", 3)
    telemetry.describe("policy", None)
    telemetry.describe("critic", 4)

    assert telemetry.wait_joined(5.0)
    telemetry.record("env", score=1.0)
    assert telemetry.flush()
    (row,) = core.series()
    assert (row["worker_group"], row["rank"]) == ("policy", 3)
    assert caplog.text.count("one process has one identity") == 2


def test_two_runs_at_once_do_not_mix(core: TelemetryCore, join: Join) -> None:
    for run_id, value in (("r1", 1.0), ("r2", 2.0)):
        telemetry = ready(join(core, run_id=run_id))
        telemetry.record("env", score=value)
        assert telemetry.flush()

    assert [(row["run_id"], row["value"]) for row in core.series()] == [("r1", 1.0), ("r2", 2.0)]


def test_a_handle_that_was_never_used_ends_at_once_in_a_forked_child(core: TelemetryCore) -> None:
    telemetry = Telemetry(Membership(), InProcess(core), strict=True)
    parent = telemetry._sender
    telemetry.after_fork(InProcess())

    assert telemetry.shutdown(60.0)

    assert parent.close("client", 5.0)


def test_strict_lets_a_failure_to_name_places_through(core: TelemetryCore, join: Join) -> None:
    class Places:
        def __iter__(self) -> Iterator[str]:
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        join(core).register_worker_group_nodes("policy", Places())
