# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import math
from collections import UserDict
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nemo_telemetry_actor.catalogue.efficiency import CATEGORIES
from nemo_telemetry_actor.catalogue.vocabulary import default_vocabulary, group_specs
from nemo_telemetry_actor.model.scalar import to_float
from nemo_telemetry_actor.tee.rules import TeeRules

VOCABULARY = default_vocabulary()
RULES = TeeRules(VOCABULARY)
KIND_OF = {spec.key: spec.kind for spec in group_specs(VOCABULARY)}


class _Hostile:
    """Raises whenever it is asked anything."""

    dtype: Any = None

    def _refuse(self, *_args: object) -> Any:
        raise RuntimeError("no")

    __float__ = __int__ = __index__ = __len__ = __iter__ = __bool__ = item = _refuse
    __lt__ = __gt__ = __le__ = __ge__ = __getattr__ = _refuse


class _HostileAtHash(_Hostile):
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    def __hash__(self) -> int:
        raise RuntimeError("no")


known_keys = st.sampled_from(
    [row.logger_key for row in VOCABULARY.teed()]
    + [f"efficiency/{category}_s" for category in CATEGORIES]
    + ["efficiency/efficiency_pct", "efficiency/efficiency_pct_is_per_step"]
    + ["a_s", "a_time_s", "_s", "_time_s", "b_s"]
)
keys = st.one_of(
    known_keys,
    known_keys.map(np.str_),
    st.text(max_size=6),
    st.text(max_size=3).map(lambda text: text + "_s"),
    st.integers(),
    st.none(),
    st.binary(max_size=3),
    st.tuples(st.integers()),
    st.builds(_Hostile),
)
numbers = st.one_of(
    st.floats(),
    st.integers(),
    st.just(10**400),
    st.floats(width=32).map(np.float32),
    st.integers(-9, 9).map(np.int64),
    st.floats().map(np.array),
    st.decimals(),
    st.fractions(),
)
others = st.one_of(
    st.booleans(),
    st.none(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.complex_numbers(),
    st.lists(st.floats(), max_size=3),
    st.lists(st.floats(), max_size=3).map(np.array),
    st.dictionaries(st.text(max_size=2), st.floats(), max_size=2),
    st.builds(_Hostile),
    st.builds(_HostileAtHash),
    st.sampled_from([object(), float, Decimal("sNaN"), Fraction(10**400), np.bool_(True)]),
)
mappings = st.dictionaries(keys, numbers | others, max_size=30).flatmap(
    lambda metrics: st.sampled_from([metrics, UserDict(metrics), MappingProxyType(metrics)])
)
prefixes = st.sampled_from(["train", "", "timing/setup"])
oddities = st.one_of(
    st.none(), st.text(), st.integers(), st.builds(_HostileAtHash), st.lists(st.integers())
)


@given(metrics=mappings, prefix=prefixes)
def test_whatever_is_logged_gives_floats_of_known_series(metrics: Any, prefix: str) -> None:
    for family in RULES.families(prefix):
        for values, attributes in family(metrics):
            assert values
            assert values.keys() <= KIND_OF.keys()
            assert all(type(value) is float for value in values.values())
            assert attributes is None or all(
                type(key) is str and type(text) is str for key, text in attributes.items()
            )


@given(metrics=mappings)
def test_a_counter_gets_only_finite_deltas_that_did_not_fall(metrics: Any) -> None:
    for family in RULES.families("train"):
        for values, _ in family(metrics):
            for key, value in values.items():
                if KIND_OF[key] == "counter":
                    assert value >= 0
                    assert math.isfinite(value)


@given(metrics=st.dictionaries(known_keys, numbers | others, max_size=30))
def test_no_declared_number_vanishes(metrics: dict[str, Any]) -> None:
    """Declared numbers = values given out + counter deltas that fell or are not finite."""
    expected = {}
    for row in VOCABULARY.teed():
        number = to_float(metrics.get(row.logger_key))
        if number is None or (row.kind == "counter" and not 0 <= number < math.inf):
            continue
        expected[row.registry_key] = number

    rows: Any = RULES.families("train")[1](metrics)

    wanted = pytest.approx(expected, abs=0, rel=0, nan_ok=True)
    assert rows == ([(wanted, None)] if expected else [])


@given(metrics=mappings, prefix=prefixes)
def test_no_two_rows_of_a_dict_are_the_same_series(metrics: Any, prefix: str) -> None:
    for family in RULES.families(prefix):
        series = [
            (key, repr(attributes)) for values, attributes in family(metrics) for key in values
        ]
        assert len(series) == len(set(series))


@given(prefix=oddities)
def test_any_prefix_gives_a_tuple_of_families(prefix: object) -> None:
    assert isinstance(RULES.families(prefix), tuple)


@given(metrics=oddities, prefix=prefixes)
def test_what_is_no_mapping_gives_nothing(metrics: Any, prefix: str) -> None:
    assert [family(metrics) for family in RULES.families(prefix)] == [
        [] for _ in RULES.families(prefix)
    ]


@given(value=numbers | others)
def test_any_object_is_a_float_or_no_number(value: object) -> None:
    number = to_float(value)

    assert number is None or type(number) is float
