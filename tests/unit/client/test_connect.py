# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from nemo_telemetry_actor.client import connect as connect_module
from nemo_telemetry_actor.client.connect import Clients, connect, install_logger_tee, job_id
from nemo_telemetry_actor.client.telemetry import Telemetry
from nemo_telemetry_actor.errors import ActorUnavailableError
from nemo_telemetry_actor.testing import InProcess, connected, new_core


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clients]:
    """The clients of this process, as if none had been made."""
    fresh = Clients()
    monkeypatch.setattr(connect_module, "clients", fresh)
    yield fresh
    while (left := fresh.find("")) is not None:
        left.shutdown(0.01)


def make(run_id: str = "") -> Callable[[], Telemetry]:
    return lambda: connected(InProcess(), run_id=run_id)


def test_connecting_twice_gives_the_same_handle(clients: Clients) -> None:
    first = connect(worker_group="policy")

    assert connect() is first
    assert connect(rank=2) is first
    assert repr(first) == "Telemetry(run_id='', worker_group='policy', rank=2)"


def test_another_run_is_another_handle(clients: Clients) -> None:
    first, second = connect(run_id="r1"), connect(run_id="r2")

    assert first is not second
    assert connect(run_id="r1") is first
    assert connect() is second


def test_the_environment_names_the_run(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEMO_RL_OTEL_RUN_ID", "from-env")

    assert connect().run_id == "from-env"


def test_a_handle_that_was_shut_down_is_not_given_out_again(clients: Clients) -> None:
    first = connect()
    first.shutdown(0.01)

    assert connect() is not first


def test_the_newest_open_handle_is_found_when_no_run_is_named(clients: Clients) -> None:
    first, _ = clients.find_or_make("r1", make("r1"))
    second, is_new = clients.find_or_make("r2", make("r2"))

    assert is_new
    assert clients.find("") is second
    assert clients.find("r1") is first
    assert clients.find("r3") is None


class _FakeRay:
    """As much of Ray as telling the job takes."""

    def __init__(self, *, initialised: bool = True) -> None:
        self.initialised = initialised

    def is_initialized(self) -> bool:
        return self.initialised

    def get_runtime_context(self) -> "_FakeRay":
        return self

    def get_job_id(self) -> str:
        return "0a000000"


def test_outside_ray_there_is_no_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "ray", raising=False)
    assert job_id() == ""
    monkeypatch.setitem(sys.modules, "ray", _FakeRay(initialised=False))
    assert job_id() == ""


def test_in_ray_the_job_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", _FakeRay())

    assert job_id() == "0a000000"


@pytest.mark.parametrize(
    ("initialised", "message"), [(True, "was forked"), (False, "not initialised")]
)
def test_a_forked_child_does_not_use_the_ray_of_its_parent(
    clients: Clients, monkeypatch: pytest.MonkeyPatch, initialised: bool, message: str
) -> None:
    telemetry, _ = clients.find_or_make("", make())
    parent = telemetry._sender
    ray = _FakeRay(initialised=initialised)
    monkeypatch.setitem(sys.modules, "ray", ray)

    clients.after_fork()

    with pytest.raises(ActorUnavailableError, match=message):
        telemetry._sender._transport.welcome(b"", 1.0)
    assert telemetry._sender is not parent
    parent.close("client", 0.01)


class _Logger:
    def log_metrics(self, metrics: Any, step: int, prefix: str = "", **_more: Any) -> None: ...


def test_a_hooked_logger_tees_into_the_handle_it_was_given(clients: Clients) -> None:
    core = new_core()
    telemetry = connected(core)
    undo = install_logger_tee(_Logger, telemetry)

    _Logger().log_metrics({"loss": 0.5}, 1, "train")
    undo()
    _Logger().log_metrics({"loss": 0.6}, 2, "train")

    assert telemetry.shutdown()
    assert [row["value"] for row in core.series()] == [0.5]
    assert clients.find("") is None


def test_a_hooked_logger_finds_the_newest_handle_at_each_call(clients: Clients) -> None:
    core = new_core()
    undo = install_logger_tee(_Logger)
    telemetry, _ = clients.find_or_make("r", lambda: connected(core, run_id="r"))

    _Logger().log_metrics({"loss": 0.5}, 1, "train")
    undo()

    assert telemetry.shutdown()
    assert [row["value"] for row in core.series(names=["rl.policy.loss"])] == [0.5]


def test_every_process_reports_the_memory_it_holds(clients: Clients) -> None:
    core = new_core()
    telemetry, _ = clients.find_or_make("r", lambda: connected(core, run_id="r"))

    assert telemetry.flush()

    (row,) = core.series(names=["rl.process.memory.rss"])
    assert 10e6 < row["value"] < 10e9
    assert (row["kind"], row["unit"]) == ("observable_gauge", "By")


def test_a_hooked_logger_connects_when_nobody_has(clients: Clients) -> None:
    undo = install_logger_tee(_Logger)

    _Logger().log_metrics({"loss": 0.5}, 1, "train")
    undo()

    made = clients.find("")
    assert made is not None
    assert made.undelivered == 1
