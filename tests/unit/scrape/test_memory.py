# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import pytest

from nemo_telemetry_actor.scrape.failures import FetchFailure
from nemo_telemetry_actor.scrape.families import Memory
from nemo_telemetry_actor.scrape.memory import HostMemory, HostSample, MemorySource, preferred
from nemo_telemetry_actor.scrape.reading import HostReading
from tests.snapshots import T0
from tests.unit.scrape.builders import S, failed, fresh, host, no_family, swept


def _apply(memory: HostMemory, at_s: float, *readings: HostReading) -> list[str]:
    return [turn.message for turn in memory.apply(swept(*readings), T0 + round(at_s * S))]


def _values(memory: HostMemory) -> dict[str, float | None]:
    return {sample.host_name: sample.used for sample in memory.samples}


def _states(memory: HostMemory) -> list[str]:
    return [sample.state for sample in memory.hosts]


def test_a_fresh_reading_is_a_sample() -> None:
    memory = HostMemory(interval_s=10.0)

    _apply(memory, 1.0, fresh())

    assert memory.samples == (
        HostSample(
            host_name="alpha",
            node_ids=("alpha-8080",),
            raylets=1,
            state="fresh",
            used=3.0,
            total=8.0,
            source="node",
            time_unix_nano=T0,
            age_s=1.0,
        ),
    )


def test_each_sweep_replaces_everything() -> None:
    memory = HostMemory(interval_s=10.0)
    _apply(memory, 0.0, fresh("a"), fresh("b"))

    _apply(memory, 10.0, fresh("b", 10.0), fresh("c", 10.0))

    assert [sample.host_name for sample in memory.hosts] == ["b", "c"]


def test_a_failure_is_a_gap() -> None:
    memory = HostMemory(interval_s=10.0)
    _apply(memory, 0.0, fresh())

    _apply(memory, 10.0, failed())

    assert memory.samples == ()
    assert _states(memory) == ["failed"]


def test_without_the_family_the_last_value_is_kept_for_three_intervals() -> None:
    memory = HostMemory(interval_s=10.0)
    _apply(memory, 0.0, fresh())

    seen = []
    for cycle in (1, 2, 3, 4, 5):
        _apply(memory, 10.0 * cycle + 0.1, no_family())
        seen.append((_states(memory)[0], _values(memory)))

    assert seen == [
        ("kept", {"alpha": 3.0}),
        ("kept", {"alpha": 3.0}),
        ("kept", {"alpha": 3.0}),
        ("no_sample", {}),
        ("no_sample", {}),
    ]
    assert memory.totals["no_fresh_sample"] == 5


def test_a_kept_sample_has_the_time_at_which_it_was_read() -> None:
    memory = HostMemory(interval_s=10.0)
    _apply(memory, 0.0, fresh())

    _apply(memory, 10.0, no_family())

    (sample,) = memory.samples
    assert (sample.time_unix_nano, sample.age_s) == (T0, 10.0)


def test_a_value_does_not_outlive_a_failure() -> None:
    memory = HostMemory(interval_s=10.0)
    _apply(memory, 0.0, fresh())
    _apply(memory, 10.0, failed())

    _apply(memory, 20.0, no_family())

    assert _states(memory) == ["no_sample"]


def test_a_host_without_any_value_yet_has_no_sample() -> None:
    memory = HostMemory(interval_s=10.0)

    _apply(memory, 0.0, no_family())

    assert memory.samples == ()


def test_a_kept_sample_is_labelled_for_the_nodes_of_now() -> None:
    memory = HostMemory(interval_s=10.0)
    _apply(memory, 0.0, fresh())

    grown = HostReading(host("alpha", 8080, 8081), "no_family", T0)
    _apply(memory, 10.0, grown)

    assert memory.samples[0].node_ids == ("alpha-8080", "alpha-8081")


def test_a_host_that_goes_is_one_warning_and_one_line_when_it_is_back() -> None:
    memory = HostMemory(interval_s=10.0)

    lines = [
        _apply(memory, 0.0, fresh()),
        _apply(memory, 10.0, failed()),
        _apply(memory, 20.0, failed()),
        _apply(memory, 30.0, fresh("alpha", 30.0)),
        _apply(memory, 40.0, failed()),
    ]

    assert lines == [
        [],
        ["no memory of host alpha until it answers again: alpha: gone"],
        [],
        ["host alpha answers again, after 20 s"],
        ["no memory of host alpha until it answers again: alpha: gone"],
    ]


def test_a_page_without_the_family_is_no_host_that_went() -> None:
    memory = HostMemory(interval_s=10.0)

    assert _apply(memory, 0.0, no_family()) == []


def test_a_host_that_left_while_it_was_down_warns_anew_when_it_comes_back_down() -> None:
    memory = HostMemory(interval_s=10.0)
    _apply(memory, 0.0, failed())
    _apply(memory, 10.0)

    assert len(_apply(memory, 20.0, failed())) == 1


def test_outcomes_and_failures_are_counted() -> None:
    memory = HostMemory(interval_s=10.0)
    odd = HostReading(
        host("c"), "fresh", T0, Memory(1.0, 2.0), bad_lines=2,
        failures=(FetchFailure("timeout", "first raylet"),),
    )  # fmt: skip

    _apply(memory, 0.0, fresh("a"), failed("b"), odd, no_family("d"))

    assert memory.totals == {
        "fresh": 2,
        "failed": 1,
        "no_fresh_sample": 1,
        "bad_lines": 2,
        "failed.refused": 1,
        "failed.timeout": 1,
    }


def test_a_fresh_sample_tells_of_the_raylet_that_failed() -> None:
    memory = HostMemory(interval_s=10.0)
    reading = HostReading(
        host(), "fresh", T0, Memory(1.0, 2.0), failures=(FetchFailure("timeout", "slow"),)
    )

    _apply(memory, 0.0, reading)

    assert [(sample.state, sample.problem) for sample in memory.samples] == [("fresh", "slow")]


_WHOLE = Memory(1.0, 2.0)
_OTHER = Memory(3.0, 4.0)
_HALF = Memory(used=5.0)
_NONE = Memory()


@pytest.mark.parametrize(
    ("source", "node", "machine", "chosen"),
    [
        ("node", _WHOLE, _OTHER, ("node", _WHOLE)),
        ("host", _WHOLE, _OTHER, ("host", _OTHER)),
        ("host", _WHOLE, _NONE, ("node", _WHOLE)),
        ("node", _NONE, _OTHER, ("host", _OTHER)),
        ("node", _HALF, _OTHER, ("host", _OTHER)),
        ("node", _HALF, _NONE, ("node", _HALF)),
        ("host", _HALF, Memory(total=6.0), ("host", Memory(total=6.0))),
        ("node", _NONE, _NONE, (None, _NONE)),
    ],
)
def test_one_family_is_chosen_and_never_a_mixture(
    source: MemorySource, node: Memory, machine: Memory, chosen: tuple[str | None, Memory]
) -> None:
    assert preferred(source, node, machine) == chosen


@pytest.mark.parametrize(
    ("used", "total", "share"),
    [(2.0, 8.0, 0.25), (9.0, 8.0, 1.0), (0.0, 8.0, 0.0), (1.0, 0.0, None), (None, 8.0, None),
     (1.0, None, None)],
)  # fmt: skip
def test_a_share_is_a_fraction_or_unknown(
    used: float | None, total: float | None, share: float | None
) -> None:
    assert HostSample("a", (), 1, "fresh", used, total, "node").share == share


def test_a_clock_that_was_set_back_makes_no_negative_age() -> None:
    memory = HostMemory(interval_s=10.0)
    _apply(memory, 0.0, fresh())

    _apply(memory, -100.0, no_family())

    assert [(sample.state, sample.age_s) for sample in memory.samples] == [("kept", 0.0)]
