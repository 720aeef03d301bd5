# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What clients record under chaos, and whether what a backend took is that. Pure: no file, no Ray.

Everything of one step is recorded by one call, so it travels in one batch: a step whose gauge value
arrived counts in the totals, whoever was killed, and a step whose did not does not.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

GAUGE: Final = "chaos.step"
COUNTER: Final = "chaos.tokens"
UP_DOWN: Final = "chaos.depth"
HISTOGRAM: Final = "chaos.seconds"
SEEN_GAUGE: Final = "chaos.seen"
SEEN_COUNTER: Final = "chaos.collections"
BOUNDARIES: Final = (0.5, 1.0, 2.0, 4.0)
TOTALS: Final = frozenset({COUNTER, UP_DOWN, HISTOGRAM})
ONCE: Final = frozenset({GAUGE, SEEN_GAUGE, SEEN_COUNTER})
"""Metrics whose every point is delivered once, with its own time."""

_STREAMS: Final = ("math", "code", "chat")
_VALUES_A_CLIENT: Final = 10_000_000
_MOST_PROBLEMS_OF_A_KIND: Final = 5


class Step(msgspec.Struct, frozen=True):
    """All that a client records in one step; sums of these are exact in floating point."""

    stream: str
    gauge: float
    counter: float
    up_down: float
    histogram: float


def step_of(seed: int, client: int, step: int) -> Step:
    """Return what a client records in a step; gauge values are unique in the whole run."""
    draw = random.Random(f"{seed}/{client}/{step}")
    return Step(
        stream=draw.choice(_STREAMS),
        gauge=float(client * _VALUES_A_CLIENT + step),
        counter=float(draw.randint(1, 9)),
        up_down=float(draw.randint(-5, 5)),
        histogram=draw.randint(1, 40) / 8.0,
    )


class Ledger(msgspec.Struct):
    """What one client wrote down of itself.

    Args:
        client: Its number.
        run_id: The run it recorded for.
        worker_group: Its role; None for a driver.
        begun: Unix nanoseconds before each step that it began to record, by step.
        done: The same after it.
        acknowledged: Steps below this were committed, by a flush that said so.
        observed: Unix nanoseconds at which each observable was read, in order, by metric; the
            value of a reading is its number, from 1 on.
        observed_acknowledged: As many of these were committed.
        has_ended: Whether it flushed everything at its end; else it was killed.
    """

    client: int
    run_id: str
    worker_group: str | None
    begun: dict[int, int] = {}
    done: dict[int, int] = {}
    acknowledged: int = 0
    observed: dict[str, list[int]] = {}
    observed_acknowledged: dict[str, int] = {}
    has_ended: bool = False


class Point(msgspec.Struct, frozen=True):
    """One data point as a backend took it; `value` is a histogram's `(count, sum, counts)`."""

    metric: str
    run_id: str
    instance: str
    worker_group: str | None
    client: int
    stream: str
    start_unix_nano: int
    time_unix_nano: int
    value: Any


class Message(msgspec.Struct, frozen=True):
    """One message of one exporter, in order of arrival.

    Args:
        points: Its points.
        rejected: As many of its first points that come once were rejected.
        is_refused: The whole message was refused for good.
        is_unanswered: It was taken, and the exporter was not told.
    """

    points: Sequence[Point]
    rejected: int = 0
    is_refused: bool = False
    is_unanswered: bool = False


class Verdict(msgspec.Struct):
    """How what one backend holds compares with the ledgers; it is right without `problems`."""

    messages: int = 0
    gauge_points: int = 0
    observed_points: int = 0
    total_points: int = 0
    acknowledged: int = 0
    rejected: int = 0
    refused: int = 0
    duplicate_points: int = 0
    repeated_messages: int = 0
    unanswered_messages: int = 0
    series: int = 0
    problems: list[str] = []


def judge(
    seed: int, ledgers: Iterable[Ledger], messages: Iterable[Message], *, most_repeated: int
) -> Verdict:
    """Compare what a backend took with what clients wrote down.

    Args:
        seed: Of the run.
        ledgers: All clients.
        messages: All messages of one exporter.
        most_repeated: As many messages may have come twice, besides the unanswered ones: one a
            kill of the actor, and one a kill of the backend.
    """
    judge_ = _Judge(seed, {ledger.client: ledger for ledger in ledgers})
    for index, message in enumerate(messages):
        judge_.take(index, message)
    return judge_.verdict(most_repeated)


class _Judge:
    def __init__(self, seed: int, ledgers: Mapping[int, Ledger]) -> None:
        self._seed = seed
        self._ledgers = ledgers
        self._verdict = Verdict()
        self._kinds: Counter[str] = Counter()
        # By metric, client and value, which is unique: the time, and the message it came in first.
        self._once: dict[tuple[str, int, float], tuple[int, int]] = {}
        self._excused: set[tuple[str, int, float]] = set()
        self._repeated: set[int] = set()
        self._totals: dict[tuple[str, int, str], Point] = {}
        self._instances: dict[int, set[str]] = defaultdict(set)

    def take(self, index: int, message: Message) -> None:
        """Look at one more message."""
        self._verdict.messages += 1
        self._verdict.unanswered_messages += message.is_unanswered
        left = message.rejected
        for point in message.points:
            if not self._is_known(point):
                continue
            if point.metric in TOTALS:
                if not message.is_refused:
                    self._take_total(point)
                continue
            if message.is_refused or left > 0:
                left -= 1
                self._excused.add((point.metric, point.client, point.value))
                self._verdict.refused += message.is_refused
                self._verdict.rejected += not message.is_refused
                continue
            self._take_once(index, point)

    def verdict(self, most_repeated: int) -> Verdict:
        """Say how it stands, after the last message."""
        verdict = self._verdict
        for ledger in self._ledgers.values():
            steps = self._arrived(ledger)
            self._check_totals(ledger, steps)
            self._check_observed(ledger)
        for client, instances in self._instances.items():
            if len(instances) > 1:
                self._problem("identity", f"client {client} is {sorted(instances)}")
        verdict.repeated_messages = len(self._repeated)
        bound = most_repeated + verdict.unanswered_messages
        if verdict.repeated_messages > bound:
            self._problem(
                "repeated",
                f"{verdict.repeated_messages} messages came again, where {bound} may",
            )
        verdict.series = len(self._totals)
        for kind, count in self._kinds.items():
            if count > _MOST_PROBLEMS_OF_A_KIND:
                verdict.problems.append(f"{kind}: {count} in all")
        return verdict

    # ---- points as they come

    def _is_known(self, point: Point) -> bool:
        ledger = self._ledgers.get(point.client)
        if ledger is None:
            self._problem("invented", f"nobody recorded {point}")
            return False
        self._instances[point.client].add(point.instance)
        where = (point.run_id, point.worker_group)
        if where != (ledger.run_id, ledger.worker_group):
            self._problem("mixed", f"{point} is of {ledger.run_id}, {ledger.worker_group}")
            return False
        return True

    def _take_once(self, index: int, point: Point) -> None:
        key = (point.metric, point.client, point.value)
        before = self._once.get(key)
        if before is None:
            self._once[key] = (point.time_unix_nano, index)
            self._check_recorded(point)
            return
        time_unix_nano, first = before
        self._verdict.duplicate_points += 1
        self._repeated.add(first)
        if first == index or time_unix_nano != point.time_unix_nano:
            self._problem("doubled", f"{point} after one of {time_unix_nano} in message {first}")

    def _check_recorded(self, point: Point) -> None:
        ledger = self._ledgers[point.client]
        if point.metric == GAUGE:
            self._verdict.gauge_points += 1
            step = int(point.value) - point.client * _VALUES_A_CLIENT
            begun, done = ledger.begun.get(step), ledger.done.get(step)
            is_right = (
                begun is not None
                and begun <= point.time_unix_nano
                and (done is None or point.time_unix_nano <= done)
                and point.stream == step_of(self._seed, point.client, step).stream
            )
        else:
            self._verdict.observed_points += 1
            number = int(point.value)
            read = ledger.observed.get(point.metric, [])
            # The set's time is taken just before its callbacks are called.
            is_right = 1 <= number <= len(read) and point.time_unix_nano <= read[number - 1]
            if number > 1 and is_right:
                is_right = point.time_unix_nano > read[number - 2]
        if not is_right:
            self._problem("invented", f"{point} was not recorded so")

    def _take_total(self, point: Point) -> None:
        self._verdict.total_points += 1
        key = (point.metric, point.client, point.stream)
        before = self._totals.get(key)
        self._totals[key] = point
        if before is None:
            return
        if before.start_unix_nano != point.start_unix_nano:
            self._problem("start", f"{point} started at {before.start_unix_nano} before")
        if point.time_unix_nano < before.time_unix_nano:
            self._problem("order", f"{point} is older than the one of {before.time_unix_nano}")
        if point.metric == UP_DOWN:
            return
        low, high = (
            (before.value, point.value)
            if point.metric == COUNTER
            else (before.value[0], point.value[0])
        )
        if high < low:
            self._problem("fallen", f"{point} was {before.value} before")

    # ---- what it comes to

    def _arrived(self, ledger: Ledger) -> list[int]:
        """Return the steps whose gauge value arrived or was refused; complain of those missing."""
        arrived = []
        for step in ledger.begun:
            key = (GAUGE, ledger.client, step_of(self._seed, ledger.client, step).gauge)
            if key in self._once or key in self._excused:
                arrived.append(step)
            elif step < ledger.acknowledged:
                self._problem("lost", f"step {step} of client {ledger.client} was acknowledged")
        self._verdict.acknowledged += ledger.acknowledged
        return arrived

    def _check_totals(self, ledger: Ledger, steps: Iterable[int]) -> None:
        expected: dict[tuple[str, str], Any] = {}
        for number in steps:
            step = step_of(self._seed, ledger.client, number)
            counter, up_down = (COUNTER, step.stream), (UP_DOWN, step.stream)
            expected[counter] = expected.get(counter, 0.0) + step.counter
            expected[up_down] = expected.get(up_down, 0.0) + step.up_down
            histogram = (HISTOGRAM, step.stream)
            count, total, counts = expected.get(histogram, (0, 0.0, (0,) * (len(BOUNDARIES) + 1)))
            bucket = sum(step.histogram > boundary for boundary in BOUNDARIES)
            counts = tuple(n + (at == bucket) for at, n in enumerate(counts))
            expected[histogram] = (count + 1, total + step.histogram, counts)
        found = {
            (metric, stream): point.value
            for (metric, client, stream), point in self._totals.items()
            if client == ledger.client
        }
        for key in sorted(expected.keys() | found.keys()):
            if expected.get(key) != found.get(key):
                self._problem(
                    "total",
                    f"{key} of client {ledger.client} is {found.get(key)}, "
                    f"must be {expected.get(key)}",
                )

    def _check_observed(self, ledger: Ledger) -> None:
        for metric, acknowledged in ledger.observed_acknowledged.items():
            for number in range(1, acknowledged + 1):
                key = (metric, ledger.client, float(number))
                if key not in self._once and key not in self._excused:
                    self._problem(
                        "lost", f"{metric} {number} of client {ledger.client} was acknowledged"
                    )

    def _problem(self, kind: str, what: str) -> None:
        self._kinds[kind] += 1
        if self._kinds[kind] <= _MOST_PROBLEMS_OF_A_KIND:
            self._verdict.problems.append(f"{kind}: {what}")
