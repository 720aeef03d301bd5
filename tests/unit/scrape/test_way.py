# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import pytest

from nemo_telemetry_actor.scrape.way import Via, choose, fallen_back


@pytest.mark.parametrize("version", ["2.52.0", "2.52.1", "2.54.1", "2.56.1", "2.56.9", "2.53.0rc1"])
def test_auto_asks_the_dashboard_where_a_page_is_emptied_by_reading(version: str) -> None:
    way = choose("auto", version)

    assert (way.source, way.may_fall_back) == ("dashboard", True)
    assert version in way.reason


@pytest.mark.parametrize(
    "version",
    ["2.9.3", "2.49.2", "2.51.2", "2.57.0", "2.57.1", "2.60.0", "3.0.0.dev0", "2.60.0+abc", "",
     "unknown", "2", "2.x", "1" * 50],
)  # fmt: skip
def test_auto_reads_the_pages_elsewhere(version: str) -> None:
    assert choose("auto", version).source == "raylet"


@pytest.mark.parametrize("via", ["raylet", "dashboard"])
def test_what_is_configured_is_done_whatever_the_version(via: Via) -> None:
    for version in ("2.54.1", "2.60.0", ""):
        way = choose(via, version)

        assert (way.source, way.may_fall_back) == (via, False)


def test_a_fall_back_says_why_and_why_it_is_not_what_was_wanted() -> None:
    way = fallen_back(choose("auto", "2.54.1"), "Ray runs without one")

    assert way.source == "raylet"
    assert "Ray runs without one" in way.reason
    assert "2.54.1" in way.reason
