# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What counts as unhealthy, and what clients' own series add up to."""

from nemo_telemetry_actor.cli.status_report import (
    CLIENT_DROPPED,
    NONFINITE,
    NonFinite,
    build_report,
    silent_report,
)
from nemo_telemetry_actor.client import groups
from tests.unit.cli.host_rows import about
from tests.unit.cli.states import NOW, S, exporter, own_series, state


def test_an_actor_without_trouble_is_healthy() -> None:
    report = build_report("h:1", state(), [])

    assert (report.healthy, report.trouble, report.next_step) == (True, [], "")


def test_an_exporter_that_is_down_is_trouble_and_the_next_step_is_to_watch() -> None:
    exporters = [exporter("a"), exporter("b", state="down", last_error="refused")]

    report = build_report("h:1", state(exporters=exporters), [])

    assert (report.healthy, report.trouble) == (False, ["b is down"])
    assert "nemo-telemetry status --watch" in report.next_step


def test_a_problem_of_the_actor_is_trouble_and_the_next_step_is_its_configuration() -> None:
    report = build_report("h:1", state(problems=["http.port 9464 cannot be used"]), [])

    assert (report.healthy, report.trouble) == (False, ["http.port 9464 cannot be used"])
    assert "nemo-telemetry check-config" in report.next_step


def test_an_exporter_that_had_nothing_to_send_yet_is_no_trouble() -> None:
    assert build_report("h:1", state(exporters=[exporter("a", state="idle")]), []).healthy


def test_drops_are_added_up_over_clients_by_reason() -> None:
    rows = [
        own_series(CLIENT_DROPPED, 2.0, reason="buffer_full"),
        own_series(CLIENT_DROPPED, 3.0, reason="buffer_full"),
        own_series(CLIENT_DROPPED, 1.0, reason="bad_value"),
    ]

    report = build_report("h:1", state(), rows)

    assert report.client_dropped == {"buffer_full": 5, "bad_value": 1}


def test_nonfinite_values_are_added_up_by_metric_most_first_since_the_earliest() -> None:
    rows = [
        own_series(NONFINITE, 1.0, NOW - 9 * S, rl__metric="rl.loss"),
        own_series(NONFINITE, 4.0, NOW - 5 * S, rl__metric="rl.kl"),
        own_series(NONFINITE, 2.0, NOW - 8 * S, rl__metric="rl.kl"),
    ]

    report = build_report("h:1", state(), rows)

    assert report.nonfinite == [
        NonFinite("rl.kl", 6, NOW - 8 * S),
        NonFinite("rl.loss", 1, NOW - 9 * S),
    ]


def test_the_names_asked_for_are_those_that_clients_record() -> None:
    assert groups.CLIENT_DROPPED.name == CLIENT_DROPPED
    assert groups.NONFINITE.name == NONFINITE


def test_a_silent_actor_is_trouble() -> None:
    report = silent_report("h:1", "there is no actor", "nemo-telemetry start")

    assert (report.healthy, report.actor) == (False, None)


def test_a_problem_of_the_scraper_is_trouble_and_a_host_that_failed_is_not() -> None:
    hosts = about(problems=["Ray does not say which nodes there are"], hosts={"fresh": 1})

    report = build_report("h:1", state(hosts=hosts), [])

    assert report.trouble == ["host memory: Ray does not say which nodes there are"]
    assert report.next_step == "nemo-telemetry doctor"
    assert build_report("h:1", state(hosts=about(hosts={"fresh": 9, "failed": 1})), []).healthy
