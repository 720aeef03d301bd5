# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import pytest

from nemo_telemetry_actor.web.accept import accepts_gzip, wants_openmetrics

PROMETHEUS_2 = (
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)
PROMETHEUS_3 = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
    "application/openmetrics-text;version=0.0.1;q=0.4,"
    "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1"
)


@pytest.mark.parametrize("accept", [PROMETHEUS_2, PROMETHEUS_3, "Application/OpenMetrics-Text"])
def test_a_scraper_that_prefers_openmetrics_gets_it(accept: str) -> None:
    assert wants_openmetrics(accept)


@pytest.mark.parametrize(
    "accept",
    [
        "",
        "*/*",
        "text/html,*/*;q=0.8",
        "text/plain",
        "text/plain, application/openmetrics-text;q=0.2",
        "application/openmetrics-text;q=0",
        "application/openmetrics-text;q=much",
    ],
)
def test_everyone_else_gets_text(accept: str) -> None:
    assert not wants_openmetrics(accept)


@pytest.mark.parametrize(
    ("header", "expected"),
    [("gzip, deflate", True), ("br;q=1, GZIP;q=0.5", True), ("gzip;q=0", False), ("", False)],
)
def test_gzip_is_sent_only_to_who_takes_it(header: str, expected: bool) -> None:
    assert accepts_gzip(header) is expected
