# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from nemo_telemetry_actor.model.placement import MAX_BUNDLE_INDEX, bundle_refs


class FakeId:
    def __init__(self, text: str) -> None:
        self._text = text

    def hex(self) -> str:
        return self._text


class FakeGroup:
    def __init__(self, text: str = "ab01") -> None:
        self.id = FakeId(text)


def test_bundles_become_ids_and_indexes_each_once_in_order() -> None:
    a, b = FakeGroup("aa"), FakeGroup("bb")

    refs = bundle_refs([(b, 1), (a, 0), (b, 1), (FakeGroup("aa"), 0), (a, 2)])

    assert refs == (("bb", 1), ("aa", 0), ("aa", 2))


def test_any_iterable_and_any_whole_number_will_do() -> None:
    def pairs() -> Iterator[tuple[FakeGroup, Any]]:
        yield FakeGroup(), np.int64(3)

    refs = bundle_refs(pairs())

    assert refs == (("ab01", 3),)
    assert type(refs[0][1]) is int


def test_a_group_without_workers_has_no_bundles() -> None:
    assert bundle_refs([]) == ()


@pytest.mark.parametrize(
    ("bundles", "why"),
    [
        ([(FakeGroup(), 0), (None, 1)], r"bundles\[1\] has a NoneType .*register_worker_group_nod"),
        ([("ab01", 0)], r"bundles\[0\] has a str where a placement group is wanted"),
        ([(FakeGroup("no hex"), 0)], r"bundles\[0\] has a FakeGroup"),
        ([(FakeGroup(""), 0)], r"bundles\[0\] has a FakeGroup"),
        ([(FakeGroup("f" * 36), 0)], r"bundles\[0\] has Ray's empty placement group"),
        ([(FakeGroup(), -1)], r"bundle index -1; it must be from 0"),
        ([(FakeGroup(), MAX_BUNDLE_INDEX + 1)], r"bundle index 2147483648"),
        ([(FakeGroup(), 1.0)], r"bundle index 1\.0; it must be an integer"),
        ([(FakeGroup(), True)], r"bundle index True; it must be an integer"),
        ([(FakeGroup(), "0")], r"bundle index '0'; it must be an integer"),
        ([FakeGroup()], r"must be pairs"),
        ([(FakeGroup(), 0, 0)], r"must be pairs"),
        (None, r"must be pairs"),
    ],
)
def test_a_bad_pair_is_refused_with_its_place_and_the_reason(bundles: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        bundle_refs(bundles)
