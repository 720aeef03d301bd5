# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What is recorded leaves the client or is counted, and nothing that is recorded can hurt."""

import itertools
import logging
import math
from collections import Counter, UserDict
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nemo_telemetry_actor.catalogue.vocabulary import default_vocabulary
from nemo_telemetry_actor.client.fold import Fold
from nemo_telemetry_actor.client.groups import SELF_GROUP, GroupRegistry
from nemo_telemetry_actor.client.guard import Guard
from nemo_telemetry_actor.client.telemetry import Telemetry
from nemo_telemetry_actor.model.attributes import decode_attributes
from nemo_telemetry_actor.model.instrument import Declaration, MetricSpec, Scope
from nemo_telemetry_actor.testing import FakeClock, Fate, InProcess, connected, new_core
from nemo_telemetry_actor.wire.messages import GaugePoints, HistogramDelta, SumDelta, decode

log = logging.getLogger("nemo_telemetry_actor.tests.quiet")
log.setLevel(logging.CRITICAL)  # hundreds of examples would say the same
BOUNDARIES = (0.0, 1.0)
SPECS = (
    MetricSpec("gauge", "rl.gauge"),
    MetricSpec("counter", "rl.counter", "counter"),
    MetricSpec("balance", "rl.balance", "up_down_counter"),
    MetricSpec("histogram", "rl.histogram", "histogram", boundaries=BOUNDARIES),
)
# Sums of these are exact.
values = st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, math.nan, math.inf, -math.inf])
keys = st.sampled_from(["gauge", "counter", "balance", "histogram", "unknown"])
attributes = st.sampled_from([None, {"a": "x"}, {"a": "y"}, {"a": 1}, {"a": True}, {"a": object()}])
calls = st.tuples(st.dictionaries(keys, values, min_size=1, max_size=3), attributes)
scripts = st.lists(st.one_of(calls, st.just("take")), max_size=40)


class Account:
    """What came out of a fold, added up."""

    def __init__(self) -> None:
        self.gauges = 0
        self.newest: dict[bytes, float] = {}
        self.sums: Counter[str] = Counter()
        self.counts = [0] * (len(BOUNDARIES) + 1)
        self.drops: Counter[str] = Counter()

    def add(self, fold: Fold) -> None:
        for block in itertools.chain.from_iterable(fold.take(1)):
            name = decode(block.declaration, Declaration).name
            for points in block.points:
                self._add(name, points)

    def _add(self, name: str, points: GaugePoints | SumDelta | HistogramDelta) -> None:
        match points:
            case GaugePoints():
                assert points.times_unix_nano == sorted(points.times_unix_nano)
                self.gauges += len(points.values)
                self.newest[points.attributes] = points.values[-1]
            case HistogramDelta():
                assert sum(points.counts) > 0
                self.counts = [a + b for a, b in zip(self.counts, points.counts, strict=True)]
                self.sums[name] += points.sum  # type: ignore[assignment]  # exact floats
            case SumDelta() if name == "nemo_telemetry.client.dropped":
                reason = decode_attributes(points.attributes).get(
                    "reason", "in the overflow series"
                )
                self.drops[str(reason)] += round(points.delta)
            case SumDelta():
                self.sums[name] += points.delta  # type: ignore[assignment]  # exact floats


@given(script=scripts, capacity=st.integers(1, 4), series=st.sampled_from([1, 2, 3, 9]))
def test_recorded_is_what_comes_out_plus_what_is_counted(
    script: list[Any], capacity: int, series: int
) -> None:
    groups = GroupRegistry(Scope())
    group = groups.register("env", SPECS)
    guard = Guard(log, FakeClock().monotonic, strict=True)
    fold = Fold(groups.groups[SELF_GROUP], guard, capacity=capacity, series_per_metric=series)
    account = Account()
    recorded: list[tuple[str, float]] = []

    for time, step in enumerate(script, 1):
        if step == "take":
            account.add(fold)
        else:
            fold.add((group, step[0], step[1], time))
            recorded.extend(step[0].items())
    account.add(fold)

    finite = [(key, value) for key, value in recorded if math.isfinite(value)]
    good = [(k, v) for k, v in finite if k != "unknown" and not (k == "counter" and v < 0)]
    unknown = sum(key == "unknown" for key, _ in recorded)
    fell = sum(key == "counter" and value < 0 for key, value in finite)
    thinned = account.drops.total() - unknown - fell
    assert thinned >= 0
    assert account.gauges + thinned == sum(key == "gauge" for key, _ in good)
    for key in ("counter", "balance", "histogram"):
        assert account.sums[f"rl.{key}"] == sum(value for k, value in good if k == key)
    histogram = [value for key, value in good if key == "histogram"]
    assert account.counts == [
        sum(value <= 0 for value in histogram),
        sum(0 < value <= 1 for value in histogram),
        sum(value > 1 for value in histogram),
    ]
    if series == 9:  # then no reason is in the overflow series
        assert account.drops == Counter(undeclared=unknown, bad_value=fell, buffer_full=thinned)
    assert account.sums["nemo_telemetry.nonfinite"] == sum(
        key != "unknown" and not math.isfinite(value) for key, value in recorded
    )


@given(recorded=st.lists(st.tuples(st.sampled_from("abc"), st.floats(-9, 9)), min_size=1))
def test_the_newest_value_of_each_series_is_never_dropped(
    recorded: list[tuple[str, float]],
) -> None:
    groups = GroupRegistry(Scope())
    group = groups.register("env", SPECS)
    guard = Guard(log, FakeClock().monotonic, strict=True)
    fold = Fold(groups.groups[SELF_GROUP], guard, capacity=2, series_per_metric=10)
    account = Account()

    for time, (series, value) in enumerate(recorded, 1):
        fold.add((group, {"gauge": value}, {"s": series}, time))
    account.add(fold)

    newest = {decode_attributes(key)["s"]: value for key, value in account.newest.items()}
    assert newest == dict(recorded)


# ---- never raises


class _Hostile:
    """Raises whenever it is asked anything."""

    def _refuse(self, *_args: object) -> Any:
        raise RuntimeError("no")

    __float__ = __int__ = __index__ = __len__ = __iter__ = __bool__ = __repr__ = __str__ = _refuse
    __lt__ = __gt__ = __le__ = __ge__ = __getattr__ = keys = items = __getitem__ = _refuse


class _HostileString(str):
    """Text that raises whenever it is looked at as text."""

    def _refuse(self, *_args: object) -> Any:
        raise RuntimeError("no")

    __len__ = __iter__ = __repr__ = __str__ = __format__ = __getitem__ = __lt__ = _refuse
    encode = isascii = strip = _refuse  # type: ignore[assignment]  # that is the point


class _HostileInThe(dict[Any, Any]):
    """A mapping that raises on its second reading."""

    def items(self) -> Any:
        yield from list(super().items())[:1]
        raise RuntimeError("no")


any_text = st.text(st.characters(), max_size=3)
known = st.sampled_from(
    ["env", *(spec.key for spec in SPECS), *(r.logger_key for r in default_vocabulary().teed()[:5])]
)
any_key = st.one_of(
    known,
    any_text,
    st.integers(),
    st.none(),
    st.builds(_Hostile),
    any_text.map(_HostileString),
    known.map(_HostileString),
    st.tuples(st.integers()),
)
any_scalar = st.one_of(
    st.floats(),
    st.integers(),
    st.just(10**400),
    st.booleans(),
    st.none(),
    any_text,
    st.binary(max_size=2),
    st.builds(_Hostile),
    any_text.map(_HostileString),
    st.floats(width=32).map(np.float32),
    st.lists(st.floats(), max_size=2).map(np.array),
    st.lists(st.integers(), max_size=2),
)
any_mapping = st.one_of(
    st.dictionaries(any_key, any_scalar, max_size=4).flatmap(
        lambda each: st.sampled_from(
            [each, UserDict(each), MappingProxyType(each), _HostileInThe(each)]
        )
    ),
    any_scalar,
)


@pytest.fixture(scope="module")
def telemetry() -> Iterator[Telemetry]:
    logging.getLogger("nemo_telemetry_actor").setLevel(logging.CRITICAL)
    made = connected(new_core(), strict=False)
    made.register_metric_group("env", SPECS)
    yield made
    made.shutdown(0.1)
    logging.getLogger("nemo_telemetry_actor").setLevel(logging.NOTSET)


@given(group=st.one_of(known, any_key), given_values=any_mapping, given_attributes=any_mapping)
def test_record_never_raises(
    telemetry: Telemetry, group: Any, given_values: Any, given_attributes: Any
) -> None:
    telemetry.record(group, given_values, attributes=given_attributes)
    telemetry.record("env", {"gauge": 1.0}, attributes=given_attributes)
    telemetry.record("env", given_values)


@given(
    metrics=any_mapping, prefix=st.one_of(st.sampled_from(["train", "", "timing/setup"]), any_key)
)
def test_tee_never_raises(telemetry: Telemetry, metrics: Any, prefix: Any) -> None:
    telemetry.tee(metrics, prefix)


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(given_values=any_mapping, given_attributes=any_mapping)
def test_whatever_was_recorded_before_the_next_value_arrives(
    given_values: Any, given_attributes: Any
) -> None:
    core = new_core()
    telemetry = connected(core, strict=False)
    telemetry.register_metric_group("env", [MetricSpec("mine", "rl.mine", "counter")])
    telemetry.record("env", given_values, attributes=given_attributes)
    telemetry.record("env", mine=2.0)

    assert telemetry.shutdown(20.0)

    totals = [row["value"] for row in core.series() if row["name"] == "rl.mine"]
    assert sum(totals) == 2.0


# ---- exactly once

fates = st.lists(st.sampled_from([Fate.ANSWER, Fate.LOSE, Fate.GONE, Fate.FAIL]), max_size=4)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(script=st.lists(st.tuples(st.integers(1, 3), fates), min_size=1, max_size=3))
def test_whatever_happens_on_the_way_every_value_counts_once(
    script: list[tuple[int, list[Fate]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nemo_telemetry_actor.client.outbox._FIRST_WAIT_S", 0.0005)
    core = new_core()
    way = InProcess(core)
    telemetry = connected(way)
    telemetry.register_metric_group("env", SPECS)
    for amount, of_batch in script:
        way.fates.clear()  # five failures on end would rightly give a batch up
        way.fates.extend(of_batch)
        telemetry.record("env", counter=amount, gauge=amount)
        assert telemetry.flush()

    assert telemetry.shutdown()

    rows = {row["name"]: row["value"] for row in core.series()}
    assert rows == {"rl.counter": sum(amount for amount, _ in script), "rl.gauge": script[-1][0]}
    assert core.state()["ingest"]["accepted"] == 2 * len(script)
