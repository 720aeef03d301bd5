# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import json
from typing import Any

import pytest

from nemo_telemetry_actor.scrape.dashboard import (
    STALE_AFTER_S,
    NodeMemory,
    SummaryReader,
    parse_summary,
    summary_url,
)
from nemo_telemetry_actor.scrape.failures import FetchFailure
from nemo_telemetry_actor.scrape.families import Memory
from nemo_telemetry_actor.scrape.nodes import HostTarget
from nemo_telemetry_actor.scrape.reading import HostReading, Sweep
from nemo_telemetry_actor.testing import FakeClock
from tests.unit.scrape.builders import DATA

_REAL = (DATA / "dashboard" / "nodes-2.60.0.json").read_bytes()
_HEAD = "fbc44a3537447c3fca3a6d237078952ef452d92b5a4d88acefdd43c0"
_WORKER = "3847487fd633aceae3adb0c2e2a6adc8cfd15eb169a57069d70ad982"


def _node(node_id: str = "n1", **changes: Any) -> dict[str, Any]:
    return {"now": 1.5, "mem": [8, 5, 37.5, 3], "raylet": {"nodeId": node_id}, **changes}


def _body(*nodes: Any, result: bool = True) -> bytes:
    return json.dumps({"result": result, "msg": "said", "data": {"summary": nodes}}).encode()


def _parsed(body: bytes) -> dict[str, NodeMemory]:
    nodes = parse_summary(body)
    assert not isinstance(nodes, FetchFailure)
    return dict(nodes)


def _outcome(reader: SummaryReader, body: bytes, *node_ids: str) -> tuple[str, Memory]:
    swept = reader.read([HostTarget("alpha", node_ids or ("n1",), ())], body)
    assert isinstance(swept, Sweep)
    (reading,) = swept.readings
    return reading.outcome, reading.node


def test_a_real_summary_says_what_the_pages_of_that_moment_said() -> None:
    assert _parsed(_REAL) == {
        _HEAD: NodeMemory(
            1796075620.86864,
            Memory(2.182057984e09, 2.5276514304e10),
            Memory(2.899652608e09, 2.5276514304e10),
        ),
        _WORKER: NodeMemory(
            1796075619.003224,
            Memory(2.178162688e09, 2.5276514304e10),
            Memory(2.9200384e09, 2.5276514304e10),
        ),
    }


@pytest.mark.parametrize(
    ("mem", "memory"),
    [
        ([8, 5, 37.5, 3], Memory(3.0, 8.0)),
        ([8, 5], Memory(total=8.0)),
        ([None, 5, 37.5, 3], Memory(used=3.0)),
        ([8, 5, 1, -3], Memory(total=8.0)),
        ([True, 5, 1, "3"], Memory()),
        ([], Memory()),
        (None, Memory()),
        ({"used": 3}, Memory()),
    ],
)
def test_memory_of_any_shape_is_read_as_far_as_it_goes(mem: Any, memory: Memory) -> None:
    assert _parsed(_body(_node(mem=mem)))["n1"].node == memory


def test_a_node_that_cannot_be_read_costs_only_itself() -> None:
    odd: list[Any] = [None, 7, {}, {"raylet": None}, {"raylet": {}}, {"raylet": {"nodeId": 7}}]

    assert list(_parsed(_body(*odd, _node("n2")))) == ["n2"]


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[]", b"{}", b'{"result": true}', b'{"result": true, "data": {}}',
     b'{"result": true, "data": {"summary": 7}}', b"\xff", _body(_node(), result=False),
     _body(_node())[:-3]],
)  # fmt: skip
def test_what_is_no_summary_is_a_failure(body: bytes) -> None:
    failure = parse_summary(body)

    assert isinstance(failure, FetchFailure)
    assert failure.kind == "bad_json"


def test_a_host_takes_the_first_of_its_nodes_that_has_memory() -> None:
    clock = FakeClock()
    reader = SummaryReader(monotonic=clock.monotonic, now=clock.time_ns)
    body = _body(_node("n1", mem=None), _node("n2"), _node("n3", mem=[9, 9, 9, 9]))

    assert _outcome(reader, body, "n0", "n1", "n2", "n3") == ("fresh", Memory(3.0, 8.0))


def test_a_host_of_which_nothing_is_reported_yet_is_not_down() -> None:
    clock = FakeClock()
    reader = SummaryReader(monotonic=clock.monotonic, now=clock.time_ns)

    assert _outcome(reader, _body(), "n1") == ("no_family", Memory())


def test_a_report_that_stands_still_is_a_gap_until_it_moves_again() -> None:
    clock = FakeClock()
    reader = SummaryReader(monotonic=clock.monotonic, now=clock.time_ns)

    seen = []
    for advance_s, now in [(0.0, 1.0), (STALE_AFTER_S, 1.0), (1.0, 1.0), (10.0, 1.0), (1.0, 2.0)]:
        clock.advance(advance_s)
        seen.append(_outcome(reader, _body(_node(now=now)))[0])

    assert seen == ["fresh", "fresh", "failed", "failed", "fresh"]


def test_a_node_beside_one_that_stands_still_speaks_for_the_host() -> None:
    clock = FakeClock()
    reader = SummaryReader(monotonic=clock.monotonic, now=clock.time_ns)
    _outcome(reader, _body(_node("n1"), _node("n2")), "n1", "n2")
    clock.advance(STALE_AFTER_S + 1)

    body = _body(_node("n1"), _node("n2", now=9.0, mem=[9, 0, 0, 4]))

    assert _outcome(reader, body, "n1", "n2") == ("fresh", Memory(4.0, 9.0))


def test_the_dashboard_of_another_cluster_is_not_believed() -> None:
    clock = FakeClock()
    reader = SummaryReader(monotonic=clock.monotonic, now=clock.time_ns)

    failure = reader.read([HostTarget("alpha", ("n1",), ())], _body(_node("theirs")))

    assert isinstance(failure, FetchFailure)
    assert failure.kind == "foreign"


def test_an_answer_that_is_no_summary_is_no_sweep() -> None:
    clock = FakeClock()
    reader = SummaryReader(monotonic=clock.monotonic, now=clock.time_ns)

    assert isinstance(reader.read([], b"<html>"), FetchFailure)


def test_a_reading_has_the_time_of_the_reader() -> None:
    clock = FakeClock()
    reader = SummaryReader(monotonic=clock.monotonic, now=clock.time_ns)
    alpha = HostTarget("alpha", ("n1",), ())

    swept = reader.read([alpha], _body(_node(hostMem=[6, 9])))

    assert swept == Sweep(
        (HostReading(alpha, "fresh", clock.time_ns(), Memory(3.0, 8.0), Memory(6.0, 9.0)),)
    )


@pytest.mark.parametrize(
    "dashboard",
    ["127.0.0.1:8265", "http://127.0.0.1:8265", "http://127.0.0.1:8265/"],
)
def test_an_address_becomes_a_url(dashboard: str) -> None:
    assert summary_url(dashboard) == "http://127.0.0.1:8265/nodes?view=summary"
