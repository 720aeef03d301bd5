# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What is on the wire, and the promise that it stays readable."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from nemo_telemetry_actor.errors import WireError
from nemo_telemetry_actor.model.attributes import encode_attributes
from nemo_telemetry_actor.model.instrument import Declaration, Scope
from nemo_telemetry_actor.wire.messages import (
    WIRE_VERSION,
    Ack,
    Batch,
    GaugePoints,
    Hello,
    HistogramDelta,
    MetricBlock,
    ObservedSet,
    SumDelta,
    Welcome,
    decode,
    encode,
)

STORED = Path(__file__).parents[2] / "data" / "wire" / "v1"

DECLARATION = Declaration(
    "rl.env.wait", "histogram", "s", "Time waited.", (0.5, 2.0), Scope("pkg", "1.2", "https://s")
)
ATTRIBUTES = encode_attributes({"rl.env": "math", "rank": 3, "warm": True})
T0 = 1_790_000_000_000_000_000

MESSAGES: dict[str, msgspec.Struct] = {
    "hello": Hello(
        1,
        "0123456789abcdef0123456789abcdef",
        "0a000000",
        "run-1",
        "4242",
        True,
        {"rl.algorithm": "grpo", "nv.dl.topology.size.tp": 2},
        {"host.name": "node-1", "nv.dl.rank": 0},
        7,
    ),
    "welcome": Welcome(1, "run-1", "feed" * 8, 1.5, 10.0, 65536, 2000, 90.0),
    "batch": Batch(
        1,
        "0123456789abcdef0123456789abcdef",
        12,
        [
            MetricBlock(
                encode(DECLARATION), [HistogramDelta(ATTRIBUTES, [1, 0, 2], 9.5, 0.25, 5.0, T0, T0)]
            ),
            MetricBlock(
                encode(Declaration("rl.env.score", "gauge")),
                [GaugePoints(ATTRIBUTES, [T0, T0 + 1], [0.5, -1.0])],
            ),
            MetricBlock(
                encode(Declaration("rl.env.tokens", "counter", "{token}")),
                [SumDelta(ATTRIBUTES, 128.0, T0, T0 + 10**9)],
            ),
        ],
        [
            ObservedSet(
                encode(Declaration("rl.live", "observable_gauge")), 3, T0, [(ATTRIBUTES, 1.0)]
            )
        ],
        "run",
    ),
    "heartbeat": Batch(1, "0123456789abcdef0123456789abcdef", 13),
    "ack": Ack("refused", 1.0, "a message"),
    "declaration": DECLARATION,
}


@pytest.mark.parametrize("name", MESSAGES)
def test_bytes_of_the_first_version_still_say_the_same(name: str) -> None:
    message = MESSAGES[name]

    assert decode((STORED / f"{name}.bin").read_bytes(), type(message)) == message


@pytest.mark.parametrize("name", MESSAGES)
def test_what_is_sent_starts_with_what_the_first_version_sent(name: str) -> None:
    stored = msgspec.msgpack.decode((STORED / f"{name}.bin").read_bytes())

    assert _starts_with(msgspec.msgpack.decode(encode(MESSAGES[name])), stored)


def _starts_with(sent: Any, stored: Any) -> bool:
    """Whether all fields of old are there and in their places; new ones may follow."""
    if isinstance(stored, list):
        return len(sent) >= len(stored) and all(map(_starts_with, sent, stored))
    return bool(sent == stored)


def test_every_stored_message_is_read_by_a_test() -> None:
    assert {path.stem for path in STORED.glob("*.bin")} == set(MESSAGES)


@pytest.mark.parametrize("kind", [Hello, Welcome, Batch])
def test_a_later_version_is_refused_with_a_remedy(kind: type[msgspec.Struct]) -> None:
    message = next(each for each in MESSAGES.values() if type(each) is kind)
    later = msgspec.structs.replace(message, version=WIRE_VERSION + 1)

    with pytest.raises(WireError, match="install one version of nemo_telemetry_actor"):
        decode(encode(later), kind)


@pytest.mark.parametrize("kind", [Hello, Welcome, Batch, Ack, Declaration])
@pytest.mark.parametrize(
    "payload", [b"", b"\xc1", b"\x90", b"\x80", b"\x01", b"\x93\x01\x02\x03", b"\x91" * 5000]
)
def test_other_bytes_are_refused(payload: bytes, kind: type[Any]) -> None:
    with pytest.raises(WireError, match=f"are no {kind.__name__}"):
        decode(payload, kind)


def test_nesting_without_end_is_refused() -> None:
    deep = msgspec.msgpack.encode(
        [1, "c", "j", "r", "s", False, {"a": msgspec.Raw(b"\x91" * 100_000 + b"\x90")}, {}]
    )

    with pytest.raises(WireError, match="are no Hello"):
        decode(deep, Hello)


def test_text_that_utf8_cannot_carry_is_refused_by_the_reader() -> None:
    with pytest.raises(WireError):
        decode(encode(Ack("ok", 1.0, "x")).replace(b"\xa1x", b"\xa1\xff"), Ack)
