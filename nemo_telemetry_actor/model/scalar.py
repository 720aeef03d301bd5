# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Which objects are numbers: one rule for the tee, `record` and the instruments.

Training code hands over whatever it computed: floats, numpy and torch scalars, arrays of one
element. numpy and torch are recognised by their shape as objects and never imported.
"""

import math
import sys
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

_NUMPY_TIME_KINDS: Final = frozenset("mM")
_BITS: Final = (8, 16, 32, 64)


def to_float(value: object) -> float | None:
    """Return the number that a value stands for, or None when it stands for none.

    Numbers are `int`, `float` and their subclasses, `Decimal`, `Fraction`, and any array or tensor
    of exactly one element (numpy, torch, jax), through its `.item()`. Booleans of any library are
    flags, text is never parsed, and containers, complex numbers and times are no numbers. NaN and
    infinities are returned as they are; a finite number too large for a float gives None.

    Never raises, whatever it is given. Reading a tensor that lives on a device waits for it.
    """
    kind: Any = type(value)
    if kind is float:
        return value  # type: ignore[return-value]  # exactly a float, as just checked
    try:
        if issubclass(kind, (int, float)):
            return _plain(value, kind)
        if _is_numpy_number(kind):
            return float(value)  # type: ignore[arg-type]  # a number of numpy, as just checked
        return _foreign(value, kind)
    except Exception:  # noqa: BLE001 — foreign code ran, and what it may raise is not ours to know
        return None


def _plain(value: Any, kind: type) -> float | None:
    # The methods of int and float themselves: a subclass may override __float__ with anything.
    if issubclass(kind, float):
        return float.__float__(value)
    return None if kind is bool else int.__float__(value)


@lru_cache(maxsize=64)
def _is_numpy_number(kind: type) -> bool:
    """Whether a type is exactly one of numpy's real numbers that a float holds.

    They are what training code logs most after floats, and three times quicker to read this way.
    """
    numpy = sys.modules.get("numpy")
    names = ("float16", "float32", *(f"{sign}int{bits}" for sign in ("", "u") for bits in _BITS))
    return numpy is not None and any(getattr(numpy, name, None) is kind for name in names)


def _foreign(value: Any, kind: type) -> float | None:
    if issubclass(kind, (Decimal, Fraction)):
        return _converted(value)
    # Looked up on the type, so that an object that answers to every name is not taken for an array.
    if not (hasattr(kind, "dtype") and hasattr(kind, "item")):
        return None
    if getattr(value.dtype, "kind", None) in _NUMPY_TIME_KINDS:
        return None  # numpy gives nanoseconds as a bare int
    item = value.item()
    item_kind = type(item)
    if issubclass(item_kind, (int, float)):
        return _plain(item, item_kind)
    # numpy's longdouble and the small floats of ml_dtypes are their own items.
    if item_kind is kind or issubclass(item_kind, (Decimal, Fraction)):
        return None if issubclass(item_kind, (str, bytes)) else _converted(item)
    return None


def _converted(value: Any) -> float | None:
    number = float.__float__(float(value))
    if math.isinf(number) and value != number:
        return None
    return number
