# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Iterator
from typing import Any, Protocol

import pytest

from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.client import outbox
from nemo_telemetry_actor.client.identity import RUN_ID_VARIABLES, SCHEDULER_VARIABLE
from nemo_telemetry_actor.client.telemetry import Telemetry
from nemo_telemetry_actor.client.transport import Transport
from nemo_telemetry_actor.testing import InProcess, connected, new_core
from tests.unit.client.counting import LAZY


class Join(Protocol):
    def __call__(self, core: TelemetryCore | Transport, **options: Any) -> Telemetry: ...


@pytest.fixture(autouse=True)
def _no_identity_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*RUN_ID_VARIABLES, SCHEDULER_VARIABLE, "RANK", "WORLD_SIZE", "LOCAL_RANK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("NRL_WORKER_GROUP", raising=False)


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries come soon."""
    monkeypatch.setattr(outbox, "_FIRST_WAIT_S", 0.01)


@pytest.fixture
def core() -> TelemetryCore:
    """A core whose clients send nothing by themselves."""
    return new_core(config=LAZY)


@pytest.fixture
def way(core: TelemetryCore) -> Iterator[InProcess]:
    """The way to that core."""
    transport = InProcess(core)
    yield transport
    transport.release()


@pytest.fixture
def join() -> Iterator[Join]:
    """Make handles that are shut down at the end of the test."""
    made: list[Telemetry] = []

    def make(core: TelemetryCore | Transport, **options: Any) -> Telemetry:
        made.append(connected(core, **options))
        return made[-1]

    yield make
    for telemetry in made:
        telemetry.shutdown(timeout_s=0.05)
