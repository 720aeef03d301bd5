# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers and times as people read them."""

import pytest

from nemo_telemetry_actor.cli.wording import age, counted, duration


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
