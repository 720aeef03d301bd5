# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import enum
from typing import Any

import numpy as np
import pytest

from nemo_telemetry_actor.model.attributes import (
    MAX_VALUE_CHARS,
    NO_ATTRIBUTES,
    OVERFLOW_ATTRIBUTES,
    BadAttributeError,
    clean_text,
    decode_attributes,
    encode_attributes,
)


class _Colour(str, enum.Enum):  # noqa: UP042  # as in much training code
    RED = "red"


class _Level(enum.IntEnum):
    HIGH = 3


def test_the_empty_set_has_a_form_of_its_own() -> None:
    assert encode_attributes({}) == NO_ATTRIBUTES
    assert decode_attributes(NO_ATTRIBUTES) == {}


def test_the_overflow_series_is_the_specifications() -> None:
    assert decode_attributes(OVERFLOW_ATTRIBUTES) == {"otel.metric.overflow": True}


def test_keys_are_sorted_whatever_order_they_came_in() -> None:
    assert encode_attributes({"b": 1, "a": 2}) == encode_attributes({"a": 2, "b": 1})
    assert list(decode_attributes(encode_attributes({"b": 1, "a": 2}))) == ["a", "b"]


def test_values_of_different_types_are_different_sets() -> None:
    values: tuple[Any, ...] = (1, 1.0, True, "1", (1,), (1.0,), (True,), ("1",))

    assert len({encode_attributes({"a": value}) for value in values}) == len(values)


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (np.int64(1), 1),
        (np.bool_(True), True),
        (np.float32(0.5), 0.5),
        (np.str_("x"), "x"),
        (np.array(3), 3),
        (_Colour.RED, "red"),
        (_Level.HIGH, 3),
        ([1, 2], (1, 2)),
        ((), ()),
        ([np.int64(1), 2], (1, 2)),
        (2**63 - 1, 2**63 - 1),
        (-(2**63), -(2**63)),
        (2**63, str(2**63)),
        ("unié漢", "unié漢"),
        ("a\ud800b", "a?b"),
        ("x" * (MAX_VALUE_CHARS + 1), "x" * MAX_VALUE_CHARS),
    ],
)
def test_a_value_is_kept_in_its_plain_form(value: Any, kept: Any) -> None:
    decoded = decode_attributes(encode_attributes({"a": value}))["a"]

    assert decoded == kept
    assert type(decoded) is type(kept)


class _Hostile:
    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


class _Endless:
    dtype = None
    ndim = 0

    def item(self) -> "_Endless":
        return self


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"": 1}, "non-empty string, got ''"),
        ({1: 1}, "non-empty string, got 1"),
        ({"a": None}, "has a NoneType"),
        ({"a": {}}, "has a dict"),
        ({"a": b"x"}, "has a bytes"),
        ({"a": [[1]]}, "has a list"),
        ({"a": [1, "x"]}, "mixes types"),
        ({"a": [1, True]}, "mixes types"),
        ({"a": np.array([1, 2])}, "has a ndarray"),
        ({"a": 1j}, "has a complex"),
        ({"a": 10**5000}, "cannot be read: ValueError"),
        ({"a": _Hostile()}, "cannot be read: RuntimeError"),
        ({"a": _Endless()}, "cannot be read: RecursionError"),
        ([1], "cannot be read: AttributeError"),
    ],
)
def test_what_has_no_opentelemetry_form_is_refused(attributes: Any, message: str) -> None:
    with pytest.raises(BadAttributeError, match=message):
        encode_attributes(attributes)


@pytest.mark.parametrize(
    "encoded",
    [
        b"",
        b"\xc1",
        b"\x91\xa1a",
        b"\x92\x01\x01",
        b"\x92\xa1a\xc0",
        b"\x80",
        b"\x91" * 5000,
        b"\x94\xa1b\x01\xa1a\x01",
    ],
)
def test_other_bytes_are_refused(encoded: bytes) -> None:
    with pytest.raises(BadAttributeError):
        decode_attributes(encoded)


@pytest.mark.parametrize(("text", "clean"), [("", ""), ("a", "a"), ("é", "é"), ("\udcff", "?")])
def test_text_can_always_be_sent(text: str, clean: str) -> None:
    assert clean_text(text) == clean
