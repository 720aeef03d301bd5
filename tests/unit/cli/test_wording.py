# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers and times as people read them."""

import pytest

from nemo_telemetry_actor.cli.wording import age, counted, duration, listed, size


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-3.0, "0 s"),
        (59.9, "59 s"),
        (60, "1 min 0 s"),
        (3599, "59 min 59 s"),
        (3600, "1 h 0 min"),
        (86_399, "23 h 59 min"),
        (90_000, "1 d 1 h"),
    ],
)
def test_a_duration_has_its_two_largest_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_an_age_is_the_time_between_two_nanosecond_times() -> None:
    assert age(1_000_000_000, 6_900_000_000) == "5 s"


def test_one_has_no_plural() -> None:
    assert (counted(1, "point"), counted(2000, "point")) == ("1 point", "2,000 points")


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 MiB"), (310 * 2**20, "310 MiB"), (2**30, "1.0 GiB"), (2015.62 * 2**30, "2,015.6 GiB")],
)
def test_bytes_are_binary(number: float, text: str) -> None:
    assert size(number) == text


def test_a_long_list_is_cut_and_says_so() -> None:
    assert listed(["a", "b", "c"]) == "a; b; c"
    assert listed(["a", "b", "c", "d", "e"], 3, ", ") == "a, b, c, and 2 more"
    assert listed([]) == ""
