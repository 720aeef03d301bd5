# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Which host comes first, and when something is wrong with the hosts."""

from nemo_telemetry_actor.cli.hosts_report import HostsReport, build_hosts_report
from tests.unit.cli.host_rows import about, failed, host
from tests.unit.cli.states import run, state


def _report(*hosts: dict[str, object], **changes: object) -> HostsReport:
    return build_hosts_report("h:1", state(hosts=about(**changes)), hosts)


def test_hosts_that_do_not_answer_come_first_then_the_fullest() -> None:
    report = _report(
        host("half"), host("full", 0.99), failed("gone"), host("empty", 0.01), host("new", None)
    )

    assert [row["host"] for row in report.hosts] == ["gone", "new", "full", "half", "empty"]


def test_a_host_whose_share_cannot_be_told_is_not_hidden_at_the_end() -> None:
    odd = {**host("odd", 0.1, total_bytes=None), "share": None}

    assert [row["host"] for row in _report(host("full", 1.0), odd).hosts] == ["odd", "full"]


def test_hosts_with_samples_are_healthy_also_those_that_are_kept() -> None:
    report = _report(host("a"), host("b", state="kept"))

    assert (report.healthy, report.trouble, report.next_step) == (True, [], "")
    assert report.counts == {"fresh": 1, "kept": 1}


def test_a_host_without_a_sample_is_trouble_and_named() -> None:
    report = _report(host("a"), failed("gone"), host("new", None))

    assert report.trouble == ["no sample of 2 hosts: gone, new"]
    assert (report.healthy, report.next_step) == (False, "nemo-telemetry doctor")


def test_of_many_hosts_without_a_sample_three_are_named() -> None:
    report = _report(*(failed(f"n{number}") for number in range(9)))

    assert report.trouble == ["no sample of 9 hosts: n0, n1, n2, and 6 more"]


def test_before_the_first_sweep_one_is_asked_to_come_again() -> None:
    report = _report(cycles=0)

    assert report.trouble == ["the first sweep over the hosts is not over yet"]
    assert report.next_step.startswith("nemo-telemetry hosts")


def test_without_any_host_the_scrapers_problems_are_told() -> None:
    report = _report(problems=["Ray does not say which nodes there are"])

    assert report.trouble == ["the actor knows no host", "Ray does not say which nodes there are"]


def test_when_it_is_off_the_report_says_how_to_turn_it_on() -> None:
    report = build_hosts_report("h:1", state(hosts=None), [])

    assert report.trouble == ["host memory is off in the actor's configuration"]
    assert (report.healthy, report.source) == (False, None)
    assert "hosts: true" in report.next_step


def test_open_runs_are_told_and_ended_ones_are_not() -> None:
    runs = [run("a"), run("b", state="ended")]

    report = build_hosts_report("h:1", state(hosts=about(), runs=runs), [host("n")])

    assert report.runs == ["a"]
