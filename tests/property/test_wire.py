# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Messages survive the way, between builds of different age too."""

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from nemo_telemetry_actor.errors import WireError
from nemo_telemetry_actor.model.attributes import (
    BadAttributeError,
    decode_attributes,
    encode_attributes,
)
from nemo_telemetry_actor.model.instrument import INSTRUMENT_KINDS, Declaration, Scope
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

# A message is long to make; the profile's number of examples still counts.
fewer = settings(max_examples=max(10, settings().max_examples // 3))

texts = st.text(max_size=5)
int64 = st.integers(-(2**63), 2**63 - 1)
times = st.integers(0, 2**63 - 1)
floats = st.floats(allow_nan=False)
scalars = st.one_of(texts, st.booleans(), int64, floats)
resources = st.dictionaries(texts, st.one_of(scalars, st.lists(texts, max_size=2)), max_size=3)
points = st.one_of(
    st.builds(
        GaugePoints,
        st.binary(max_size=4),
        st.lists(times, max_size=3),
        st.lists(floats, max_size=3),
    ),
    st.builds(SumDelta, st.binary(max_size=4), floats, times, times),
    st.builds(
        HistogramDelta,
        st.binary(max_size=4),
        st.lists(st.integers(0, 9), max_size=3),
        floats,
        floats,
        floats,
        times,
        times,
    ),
)
blocks = st.builds(MetricBlock, st.binary(max_size=4), st.lists(points, max_size=3))
observed = st.builds(
    ObservedSet,
    st.binary(max_size=4),
    times,
    times,
    st.lists(st.tuples(st.binary(max_size=4), floats), max_size=3),
)
hellos = st.builds(
    Hello, st.just(WIRE_VERSION), texts, texts, texts, texts, st.booleans(), resources, resources,
    times,
)  # fmt: skip
welcomes = st.builds(
    Welcome, st.just(WIRE_VERSION), texts, texts, floats, floats, times, times, floats
)
batches = st.builds(
    Batch,
    st.just(WIRE_VERSION),
    texts,
    times,
    st.lists(blocks, max_size=3),
    st.lists(observed, max_size=3),
    st.sampled_from(["", "client", "run"]),
)
acks = st.builds(Ack, st.sampled_from(["ok", "unknown_client", "refused"]), floats, texts)
declarations = st.builds(
    Declaration,
    texts,
    st.sampled_from(INSTRUMENT_KINDS),
    texts,
    texts,
    st.lists(floats, max_size=3).map(tuple),
    st.builds(Scope, texts, texts, texts),
)
messages = st.one_of(hellos, welcomes, batches, acks, declarations)

# Fields that a message may lack, because they came with a default.
OPTIONAL: dict[type[Any], int] = {Hello: 1, Welcome: 0, Batch: 3, Ack: 1, Declaration: 4}


@fewer
@given(message=messages)
def test_a_message_arrives_as_it_was_sent(message: Any) -> None:
    assert decode(encode(message), type(message)) == message


@fewer
@given(message=messages, extra=st.lists(scalars, min_size=1, max_size=3))
def test_a_reader_ignores_fields_that_came_later(message: Any, extra: list[Any]) -> None:
    newer = msgspec.msgpack.encode([*msgspec.msgpack.decode(encode(message)), *extra])

    assert decode(newer, type(message)) == message


@fewer
@given(batch=batches, extra=scalars)
def test_a_reader_ignores_later_fields_inside_a_batch_too(batch: Batch, extra: Any) -> None:
    version, client, sequence, metrics, sets, *rest = msgspec.msgpack.decode(encode(batch))
    grown = [
        [declaration, [[*each, extra] for each in of_metric], extra]
        for declaration, of_metric in metrics
    ]
    newer = [version, client, sequence, grown, [[*each, extra] for each in sets], *rest]

    assert decode(msgspec.msgpack.encode(newer), Batch) == batch


@fewer
@given(message=messages, data=st.data())
def test_a_reader_fills_fields_in_that_did_not_exist_yet(message: Any, data: Any) -> None:
    missing = data.draw(st.integers(0, OPTIONAL[type(message)]))
    fields = msgspec.msgpack.decode(encode(message))
    older = fields[: len(fields) - missing]

    read = decode(msgspec.msgpack.encode(older), type(message))

    names = type(message).__struct_fields__
    kept, filled = names[: len(older)], names[len(older) :]
    defaults = dict(
        zip(
            names[::-1],
            type(message).__struct_defaults__[::-1],
            strict=False,  # only the last fields have one
        )
    )
    assert all(getattr(read, name) == getattr(message, name) for name in kept)
    assert all(encode_plain(getattr(read, name)) == default_of(defaults[name]) for name in filled)


def encode_plain(value: Any) -> bytes:
    return msgspec.msgpack.encode(value)


def default_of(default: Any) -> bytes:
    # msgspec keeps the default of a mutable field as a factory.
    factory = getattr(default, "factory", None)
    return encode_plain(factory() if factory is not None else default)


@fewer
@given(payload=st.binary(max_size=60), message=messages, cut=st.integers(0, 40))
def test_other_bytes_give_a_message_or_a_wire_error(payload: bytes, message: Any, cut: int) -> None:
    for data in (payload, encode(message)[:cut] + payload, payload + encode(message)):
        for kind in OPTIONAL:
            try:
                read = decode(data, kind)
            except WireError:
                continue
            assert type(read) is kind


# ---- attributes

attribute_values = st.one_of(
    scalars,
    st.lists(texts, max_size=3).map(tuple),
    st.lists(st.booleans(), max_size=3).map(tuple),
    st.lists(int64, max_size=3).map(tuple),
    st.lists(floats, max_size=3).map(tuple),
)
attribute_sets = st.dictionaries(st.text(min_size=1, max_size=3), attribute_values, max_size=4)


@given(attributes=attribute_sets)
def test_attributes_come_back_with_their_types(attributes: dict[str, Any]) -> None:
    decoded = decode_attributes(encode_attributes(attributes))

    assert decoded == attributes
    assert {key: repr(value) for key, value in decoded.items()} == {
        key: repr(value) for key, value in attributes.items()
    }


@given(attributes=attribute_sets, data=st.data())
def test_equal_sets_have_equal_bytes_whatever_their_order(
    attributes: dict[str, Any], data: Any
) -> None:
    shuffled = dict(data.draw(st.permutations(list(attributes.items()))))

    assert encode_attributes(shuffled) == encode_attributes(attributes)


@given(first=attribute_sets, second=attribute_sets)
def test_different_sets_have_different_bytes(first: dict[str, Any], second: dict[str, Any]) -> None:
    typed = [{key: repr(value) for key, value in each.items()} for each in (first, second)]

    same = encode_attributes(first) == encode_attributes(second)

    assert same == (typed[0] == typed[1])


any_text = st.text(st.characters(), max_size=4)
any_value = st.recursive(
    st.one_of(
        any_text, st.integers(), st.floats(), st.booleans(), st.none(), st.binary(max_size=2)
    ),
    lambda inner: st.lists(inner, max_size=2),
    max_leaves=4,
)


@given(attributes=st.dictionaries(st.one_of(any_text, st.integers()), any_value, max_size=3))
def test_any_dict_has_canonical_bytes_or_is_refused(attributes: dict[Any, Any]) -> None:
    try:
        encoded = encode_attributes(attributes)
    except BadAttributeError:
        return
    assert encode_attributes(decode_attributes(encoded)) == encoded


@given(payload=st.binary(max_size=40))
def test_any_bytes_are_attributes_or_refused(payload: bytes) -> None:
    try:
        attributes = decode_attributes(payload)
    except BadAttributeError:
        return
    assert encode_attributes(attributes) == payload
