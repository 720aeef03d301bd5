# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import enum
import math
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from nemo_telemetry_actor.model.scalar import to_float


class _Level(enum.IntEnum):
    HIGH = 3


class _LyingFloat(float):
    def __float__(self) -> float:
        raise RuntimeError("no")


class _TorchLike:
    """Has what a torch tensor has: dtype without `kind`, `ndim`, `item`."""

    dtype: Any = object()

    def __init__(self, *values: Any) -> None:
        self.values = values

    def item(self) -> Any:
        if len(self.values) != 1:
            raise RuntimeError("a Tensor with 2 elements cannot be converted to Scalar")
        return self.values[0]


class _TextArray(str):
    """An array type whose one element is text of the same type."""

    __slots__ = ()
    dtype: Any = object()

    def item(self) -> Any:
        return self


class _HostileItem:
    dtype: Any = object()

    def item(self) -> Any:
        raise SystemError("no")


class _HostileDtype:
    item = None

    @property
    def dtype(self) -> Any:
        raise ZeroDivisionError


class _HostileClass:
    @property  # type: ignore[misc]  # the hostility under test
    def __class__(self) -> Any:
        raise ValueError("no class")


class _HostileFloat:
    def __float__(self) -> float:
        raise RuntimeError("no")


class _HostileDecimal(Decimal):
    def __float__(self) -> float:
        raise RuntimeError("no")


class _Chameleon:
    def __getattr__(self, name: str) -> Any:
        return lambda: 1.0


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.5, 1.5),
        (0.0, 0.0),
        (3, 3.0),
        (-7, -7.0),
        (_Level.HIGH, 3.0),
        (_LyingFloat(2.5), 2.5),
        (math.inf, math.inf),
        (-math.inf, -math.inf),
        (Decimal("0.25"), 0.25),
        (Decimal("Infinity"), math.inf),
        (Fraction(1, 4), 0.25),
        (np.float64(1.5), 1.5),
        (np.float32(0.5), 0.5),
        (np.float16(0.5), 0.5),
        (np.longdouble(0.5), 0.5),
        (np.int64(7), 7.0),
        (np.uint8(7), 7.0),
        (np.array(2.5), 2.5),
        (np.array([2.5]), 2.5),
        (np.array([[3]]), 3.0),
        (np.array(Decimal("0.5"), dtype=object), 0.5),
        (_TorchLike(0.5), 0.5),
        (_TorchLike(4), 4.0),
    ],
    ids=repr,
)
def test_every_kind_of_number_becomes_its_float(value: object, expected: float) -> None:
    number = to_float(value)

    assert number == expected
    assert type(number) is float


@pytest.mark.parametrize(
    "value",
    [
        True,
        False,
        np.bool_(True),
        np.array(True),
        _TorchLike(True),
        "1.0",
        "nan",
        np.str_("1.0"),
        b"1",
        np.bytes_(b"1"),
        bytearray(b"1"),
        None,
        [1.0],
        (1.0,),
        {1.0},
        {"a": 1.0},
        1 + 0j,
        np.complex64(1),
        np.array([1.0, 2.0]),
        np.array([]),
        np.array([(1, 2)], dtype=[("a", int), ("b", int)]),
        np.array("1.0"),
        np.array(None, dtype=object),
        np.datetime64("2026-01-01", "ns"),
        np.timedelta64(5, "ns"),
        np.datetime64("NaT", "s"),
        _TorchLike(1.0, 2.0),
        _TorchLike("1.0"),
        _TextArray("1.0"),
        float,
        np.float32,
        object(),
    ],
    ids=repr,
)
def test_what_is_no_number_gives_none(value: object) -> None:
    assert to_float(value) is None


@pytest.mark.parametrize(
    "value", [math.nan, Decimal("NaN"), np.float32("nan"), _TorchLike(math.nan)]
)
def test_nan_is_kept(value: object) -> None:
    number = to_float(value)

    assert number is not None
    assert math.isnan(number)


@pytest.mark.parametrize(
    "value",
    [
        10**400,
        -(10**400),
        Decimal("1e400"),
        Decimal("sNaN"),
        Fraction(10**400),
        _TorchLike(10**400),
    ],
    ids=repr,
)
def test_a_finite_number_beyond_a_float_is_refused_and_not_called_infinite(value: object) -> None:
    assert to_float(value) is None


@pytest.mark.parametrize(
    "make",
    [
        _HostileItem,
        _HostileDtype,
        _HostileClass,
        _HostileFloat,
        lambda: _HostileDecimal(1),
        _Chameleon,
    ],
)
def test_a_hostile_object_gives_none(make: Any) -> None:
    assert to_float(make()) is None


def test_neither_numpy_nor_torch_is_imported() -> None:
    code = (
        "import sys, nemo_telemetry_actor.model.scalar as s; s.to_float(1);"
        "sys.exit(bool({'numpy', 'torch'} & set(sys.modules)))"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
