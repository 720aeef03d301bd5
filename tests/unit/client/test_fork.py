# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A forked child reports for itself, or not at all, and never stands still."""

import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator

import pytest

from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.client.connect import clients
from nemo_telemetry_actor.client.telemetry import Telemetry
from nemo_telemetry_actor.client.transport import RayTransport
from nemo_telemetry_actor.model.instrument import MetricSpec
from nemo_telemetry_actor.testing import InProcess, connected, new_core

SPECS = (MetricSpec("tokens", "rl.env.tokens", "counter"),)
_CHILD_TIMEOUT_S = 15.0

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")


@pytest.fixture
def core() -> TelemetryCore:
    return new_core()


@pytest.fixture
def telemetry(core: TelemetryCore) -> Iterator[Telemetry]:
    made, _ = clients.find_or_make("fork-test", lambda: connected(core, run_id="fork-test"))
    made.register_metric_group("env", SPECS)
    assert made.wait_joined(5.0)
    yield made
    made.shutdown(0.05)


def in_child(check: Callable[[], bool]) -> bool:
    """Fork; return whether the check was true in the child, which ends without cleaning up."""
    with warnings.catch_warnings():
        # Python 3.12 says that a process with threads should not fork: that is what is tested.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = 0 if check() else 2
        except BaseException as error:  # noqa: BLE001 — it ends here, and its parent must hear of it
            os.write(2, repr(error).encode())
        finally:
            os._exit(code)
    deadline_s = time.monotonic() + _CHILD_TIMEOUT_S
    ended = threading.Event()
    status: list[int] = []

    def wait() -> None:
        status.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        ended.set()

    threading.Thread(target=wait, daemon=True).start()
    if not ended.wait(deadline_s - time.monotonic()):
        os.kill(pid, 9)
        ended.wait(5.0)
    return status == [0]


def totals(core: TelemetryCore) -> list[float]:
    return [row["value"] for row in core.series() if row["name"] == "rl.env.tokens"]


def test_a_child_is_another_client_with_nothing_of_the_parents(
    core: TelemetryCore, telemetry: Telemetry
) -> None:
    telemetry.record("env", tokens=1.0)
    parent_id = telemetry._membership.client_id

    def check() -> bool:
        return (
            telemetry._membership.client_id != parent_id
            and telemetry.undelivered == 0
            and telemetry._sender._thread is None
            and telemetry.run_id == "fork-test"
            and "env" in telemetry.registered_metric_groups()
            and isinstance(telemetry._sender._transport, RayTransport)
        )

    assert in_child(check)

    assert telemetry.flush()
    assert totals(core) == [1.0]


def test_a_childs_records_are_its_own_and_leave_the_parent_alone(
    core: TelemetryCore, telemetry: Telemetry
) -> None:
    telemetry.record("env", tokens=1.0)
    assert telemetry.flush()

    def check() -> bool:
        way = InProcess(new_core())
        telemetry.after_fork(way)
        telemetry.record("env", tokens=5.0)
        delivered = telemetry.flush()
        return delivered and way.core is not None and totals(way.core) == [5.0]

    assert in_child(check)

    telemetry.record("env", tokens=1.0)
    assert telemetry.flush()
    assert totals(core) == [2.0]


def test_a_child_without_ray_buffers_and_ends_in_time(telemetry: Telemetry) -> None:
    def check() -> bool:
        telemetry.record("env", tokens=5.0)
        return not telemetry.flush(0.01) and telemetry.undelivered == 1

    assert in_child(check)


def test_locks_that_threads_hold_at_the_fork_do_not_stop_the_child(
    core: TelemetryCore, telemetry: Telemetry
) -> None:
    held, done = threading.Event(), threading.Event()

    def hold_every_lock() -> None:
        with (
            clients._lock,
            telemetry._guard._lock,
            telemetry._groups._lock,
            telemetry._buffer._lock,
            telemetry._intake._fold_lock,
            telemetry._sender._changed,
        ):
            held.set()
            done.wait(_CHILD_TIMEOUT_S)

    thread = threading.Thread(target=hold_every_lock)
    thread.start()
    assert held.wait(5.0)

    def check() -> bool:
        telemetry.register_metric_group("more", [MetricSpec("x", "rl.x")])
        telemetry.record("more", x=1.0)
        telemetry.record("nope", x=1.0)
        found = clients.find("fork-test") is telemetry
        telemetry.flush(0.01)
        return found and telemetry.undelivered == 1

    in_time = in_child(check)
    done.set()
    thread.join()

    assert in_time
    telemetry.record("env", tokens=1.0)
    assert telemetry.flush()


def test_a_child_that_recorded_nothing_ends_at_once(telemetry: Telemetry) -> None:
    def check() -> bool:
        started_s = time.monotonic()
        return telemetry.shutdown(60.0) and time.monotonic() - started_s < 5.0

    assert in_child(check)
