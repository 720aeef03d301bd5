# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The judge of the chaos runs: right books pass, and each kind of wrong ones is named."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from tests.e2e.chaos.model import (
    BOUNDARIES,
    COUNTER,
    GAUGE,
    HISTOGRAM,
    SEEN_GAUGE,
    UP_DOWN,
    Ledger,
    Message,
    Point,
    Verdict,
    judge,
    step_of,
)

SEED, STEPS, START = 3, 20, 1_000


def at(step: int) -> int:
    return START + 10 * step + 5


def ledger(client: int) -> Ledger:
    return Ledger(
        client,
        run_id=f"run-{client}",
        worker_group="group",
        begun={step: at(step) - 1 for step in range(STEPS)},
        done={step: at(step) + 1 for step in range(STEPS)},
        acknowledged=STEPS,
        observed={SEEN_GAUGE: [2_000, 3_000]},
        observed_acknowledged={SEEN_GAUGE: 2},
        has_ended=True,
    )


def point(metric: str, client: int, stream: str, time: int, value: Any, start: int = 0) -> Point:
    return Point(metric, f"run-{client}", f"i{client}", "group", client, stream, start, time, value)


def gauges(client: int) -> list[Point]:
    steps = {number: step_of(SEED, client, number) for number in range(STEPS)}
    return [
        point(GAUGE, client, step.stream, at(number), step.gauge) for number, step in steps.items()
    ]


def totals(client: int, time: int = 9_000) -> list[Point]:
    by_stream: dict[str, list[Any]] = {}
    for number in range(STEPS):
        step = step_of(SEED, client, number)
        by_stream.setdefault(step.stream, []).append(step)
    found = []
    for stream, steps in by_stream.items():
        buckets = [sum(step.histogram > bound for bound in BOUNDARIES) for step in steps]
        counts = tuple(buckets.count(index) for index in range(len(BOUNDARIES) + 1))
        histogram = (len(steps), sum(step.histogram for step in steps), counts)
        for metric, value in (
            (COUNTER, sum(step.counter for step in steps)),
            (UP_DOWN, sum(step.up_down for step in steps)),
            (HISTOGRAM, histogram),
        ):
            found.append(point(metric, client, stream, time, value, START))
    return found


def books() -> tuple[list[Ledger], list[Message]]:
    seen = [point(SEEN_GAUGE, 0, "", 1_990, 1.0), point(SEEN_GAUGE, 0, "", 2_990, 2.0)]
    later = ledger(1)
    later.observed, later.observed_acknowledged = {}, {}
    return [ledger(0), later], [
        Message(gauges(0)),
        Message([*gauges(1), *seen]),
        Message(totals(0)),
        Message(totals(1)),
    ]


def verdict_of(ledgers: list[Ledger], messages: list[Message], most_repeated: int = 0) -> Verdict:
    return judge(SEED, ledgers, messages, most_repeated=most_repeated)


def test_right_books_have_no_problem() -> None:
    verdict = verdict_of(*books())

    assert verdict.problems == []
    assert (verdict.gauge_points, verdict.observed_points, verdict.acknowledged) == (40, 2, 40)
    assert (verdict.duplicate_points, verdict.repeated_messages) == (0, 0)


def test_a_message_may_come_again_once_a_kill_and_is_counted() -> None:
    ledgers, messages = books()
    messages.insert(1, messages[0])

    assert verdict_of(ledgers, messages, most_repeated=1).problems == []
    without = verdict_of(ledgers, messages)

    assert [problem.split(":")[0] for problem in without.problems] == ["repeated"]
    assert (without.duplicate_points, without.repeated_messages) == (STEPS, 1)


def test_a_message_that_was_taken_without_an_answer_may_come_again() -> None:
    ledgers, messages = books()
    messages.insert(0, msgspec.structs.replace(messages[0], is_unanswered=True))

    assert verdict_of(ledgers, messages).problems == []


def test_what_the_backend_rejected_need_not_be_there_and_counts_in_the_totals() -> None:
    ledgers, messages = books()
    messages[0] = msgspec.structs.replace(messages[0], rejected=5)
    messages[1] = msgspec.structs.replace(messages[1], is_refused=True)

    verdict = verdict_of(ledgers, messages)

    assert verdict.problems == []
    assert (verdict.rejected, verdict.refused, verdict.gauge_points) == (5, 22, 15)


def test_what_a_killed_client_had_not_been_told_of_may_be_missing_from_points_and_totals() -> None:
    ledgers, messages = books()
    lost = ledger(2)
    lost.acknowledged, lost.observed_acknowledged, lost.has_ended = 0, {}, False

    assert verdict_of([*ledgers, lost], messages).problems == []


def _without_a_gauge(messages: list[Message]) -> None:
    messages[0] = Message(messages[0].points[1:])


def _with_another_time(messages: list[Message]) -> None:
    first = msgspec.structs.replace(messages[0].points[0], time_unix_nano=at(0) + 5)
    messages[0] = Message([first, *messages[0].points[1:]])


def _again_at_another_time(messages: list[Message]) -> None:
    messages.append(Message([msgspec.structs.replace(gauges(0)[0], time_unix_nano=1)]))


def _twice_in_a_message(messages: list[Message]) -> None:
    messages[0] = Message([*messages[0].points, messages[0].points[0]])


def _with_a_value_that_nobody_recorded(messages: list[Message]) -> None:
    messages.append(Message([msgspec.structs.replace(gauges(0)[0], value=float(STEPS))]))


def _under_another_run(messages: list[Message]) -> None:
    messages.append(Message([msgspec.structs.replace(gauges(0)[0], run_id="run-1")]))


def _of_another_process(messages: list[Message]) -> None:
    messages[2] = Message([msgspec.structs.replace(each, instance="i9") for each in totals(0)])


def _with_totals_too_high(messages: list[Message]) -> None:
    raised = [
        msgspec.structs.replace(each, value=each.value + 1) if each.metric == COUNTER else each
        for each in totals(0)
    ]
    messages[2] = Message(raised)


def _without_totals(messages: list[Message]) -> None:
    del messages[2]


def _with_another_start(messages: list[Message]) -> None:
    moved = [msgspec.structs.replace(each, start_unix_nano=START + 1) for each in totals(0, 9_500)]
    messages.append(Message(moved))


def _with_totals_that_fell_for_a_while(messages: list[Message]) -> None:
    higher = [
        msgspec.structs.replace(each, value=each.value + 1)
        for each in totals(0, 8_000)
        if each.metric == COUNTER
    ]
    messages.insert(2, Message(higher))


def _without_a_reading(messages: list[Message]) -> None:
    messages[1] = Message(messages[1].points[:-1])


@pytest.mark.parametrize(
    ("spoil", "kind"),
    [
        (_without_a_gauge, "lost"),
        (_without_a_reading, "lost"),
        (_with_another_time, "invented"),
        (_with_a_value_that_nobody_recorded, "invented"),
        (_again_at_another_time, "doubled"),
        (_twice_in_a_message, "doubled"),
        (_under_another_run, "mixed"),
        (_of_another_process, "identity"),
        (_with_totals_too_high, "total"),
        (_without_totals, "total"),
        (_with_another_start, "start"),
        (_with_totals_that_fell_for_a_while, "fallen"),
    ],
)
def test_what_is_wrong_is_named(spoil: Callable[[list[Message]], None], kind: str) -> None:
    ledgers, messages = books()
    spoil(messages)

    verdict = verdict_of(ledgers, messages, most_repeated=len(messages))

    assert kind in {problem.split(":")[0] for problem in verdict.problems}
