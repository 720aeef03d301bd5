# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import logging

import pytest

from nemo_telemetry_actor.client.guard import Guard
from nemo_telemetry_actor.testing import FakeClock

log = logging.getLogger("nemo_telemetry_actor.tests")


class _Unshowable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def guard(clock: FakeClock, caplog: pytest.LogCaptureFixture) -> Guard:
    caplog.set_level(logging.DEBUG, log.name)
    return Guard(log, clock.monotonic)


def said(caplog: pytest.LogCaptureFixture, level: int = logging.WARNING) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == level]


def test_a_failure_is_logged_with_its_traceback(
    guard: Guard, caplog: pytest.LogCaptureFixture
) -> None:
    error = KeyError("x")

    guard.failed("record", error)

    assert said(caplog) == ["record failed (1 so far), training goes on: KeyError('x')"]
    assert caplog.records[0].exc_info == (KeyError, error, None)


def test_failures_of_one_place_are_logged_once_a_minute_and_counted_always(
    guard: Guard, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    for seconds in (0, 30, 29.9, 0.1, 60):
        clock.advance(seconds)
        guard.failed("record", ValueError())

    assert [message.split(")")[0] for message in said(caplog)] == [
        "record failed (1 so far",
        "record failed (4 so far",
        "record failed (5 so far",
    ]


def test_one_place_does_not_silence_another(guard: Guard, caplog: pytest.LogCaptureFixture) -> None:
    guard.failed("record", ValueError())
    guard.failed("tee", ValueError())

    assert len(said(caplog)) == 2


def test_a_warning_comes_once_and_then_at_debug_level(
    guard: Guard, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        guard.warn_once("k", "key %r", "x")

    assert said(caplog) == ["key 'x'"]
    assert said(caplog, logging.DEBUG) == ["key 'x'", "key 'x'"]


def test_a_rearmed_key_warns_again_and_others_do_not(
    guard: Guard, caplog: pytest.LogCaptureFixture
) -> None:
    guard.warn_once("key:env:a", "a")
    guard.warn_once("key:other:b", "b")

    guard.rearm("key:env")
    guard.warn_once("key:env:a", "a")
    guard.warn_once("key:other:b", "b")

    assert said(caplog) == ["a", "b", "a"]


def test_keys_from_user_data_cannot_fill_memory_or_log(
    guard: Guard, caplog: pytest.LogCaptureFixture
) -> None:
    for index in range(1500):
        guard.warn_once(f"key:{index}", "unknown key")

    assert len(said(caplog)) == 1000


def test_an_object_that_cannot_be_shown_does_not_cost_the_message(
    guard: Guard, caplog: pytest.LogCaptureFixture
) -> None:
    guard.warn_once("k", "key %r is unknown", _Unshowable())

    assert said(caplog) == ["key %r is unknown"]


def test_nothing_is_formatted_for_a_level_that_is_off(
    guard: Guard, caplog: pytest.LogCaptureFixture
) -> None:
    shown: list[int] = []

    class Shown:
        def __repr__(self) -> str:
            shown.append(1)
            return "x"

    caplog.set_level(logging.ERROR, log.name)

    guard.warn_once("k", "%r", Shown())

    assert shown == []


def test_a_signal_handler_may_count_while_its_thread_is_inside() -> None:
    clock = FakeClock()
    guards: list[Guard] = []

    def interrupted() -> float:
        guards[0].drop("bad_value")
        return clock.monotonic()

    guards.append(Guard(log, interrupted))

    guards[0].failed("record", ValueError())

    assert guards[0].take_drops() == {"bad_value": 1}


def test_drops_are_handed_out_once_by_reason(guard: Guard) -> None:
    guard.drop("bad_value")
    guard.drop("undeclared", 3)
    guard.drop("bad_value")

    assert guard.take_drops() == {"bad_value": 2, "undeclared": 3}
    assert guard.take_drops() == {}
