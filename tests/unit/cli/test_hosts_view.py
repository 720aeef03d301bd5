# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The table of hosts: what a row says, what stays in sight, and that it fits the terminal."""

import pytest
from rich.console import Console

from nemo_telemetry_actor.cli.hosts_report import HostsReport, build_hosts_report, unknown_hosts
from nemo_telemetry_actor.cli.hosts_view import counts_text, groups_text, hosts_page, hosts_sheet
from tests.unit.cli.host_rows import GIB, about, failed, host
from tests.unit.cli.states import run, state


def _report(*hosts: dict[str, object], **changes: object) -> HostsReport:
    return build_hosts_report("h:1", state(hosts=about(**changes)), hosts)


def _page(
    report: HostsReport, width: int = 120, height: int | None = None, components: bool = False
) -> str:
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(hosts_page(report, width, height, components=components))
    return capture.get()


def test_a_row_says_how_full_how_old_and_who_is_there() -> None:
    full = host("gpu-1", 0.875, groups={"run-a": "lm_policy,reward_model_policy"})

    (row,) = hosts_sheet(_report(full), 200, 9).rows

    assert row == (
        "gpu-1",
        "875.0 GiB",
        "1,000.0 GiB",
        "87.5% █████████░",
        "3 s",
        "fresh",
        "lm_policy, reward_model_policy",
    )


def test_a_host_without_values_has_dashes_and_its_problem_below() -> None:
    page = _page(_report(failed("gone")))

    (row,) = [line.split() for line in page.splitlines() if line.startswith("gone  ")]
    assert row == ["gone", "-", "-", "-", "-", "failed", "none"]
    assert "\ngone: http://10.0.0.1:8080/metrics: Connection refused\n" in page


def test_a_problem_that_names_its_host_is_not_named_twice() -> None:
    page = _page(_report(failed("gone", "gone: not read within 10 s")))

    assert "\ngone: not read within 10 s\n" in page


@pytest.mark.parametrize(("share", "text"), [(1.0, " 100%"), (0.99996, "99.9%"), (0.0, " 0.0%")])
def test_only_a_full_host_is_shown_as_full(share: float, text: str) -> None:
    (row,) = hosts_sheet(_report(host("n", share)), 60, 9).rows

    assert row[3] == text


def test_the_footer_says_which_way_why_the_problems_and_the_counts() -> None:
    page = _page(_report(host("a"), host("b", 0.9), failed("c"), problems=["no components"]))

    assert page.endswith(
        "problem  no components\n"
        "hosts    2 fresh, 1 failed; fullest b, 90.0%\n"
        "read     from each raylet's page: on Ray 2.60.0 a raylet's page may be read by many\n\n"
    )


def test_of_one_run_the_label_is_shown_of_several_each_that_is_there() -> None:
    both = {"run-a": "lm_policy,critic", "run-b": "vllm_policy"}

    assert groups_text({"run-a": "lm_policy,critic"}, ["run-a"]) == "lm_policy, critic"
    assert groups_text(both, ["run-a", "run-b"]) == "run-a: lm_policy, critic; run-b: vllm_policy"
    assert groups_text({"run-a": "none", "run-b": "b"}, ["run-a", "run-b"]) == "run-b: b"
    assert groups_text({"run-a": "none", "run-b": "none"}, ["run-a", "run-b"]) == "none"


def test_without_an_open_run_groups_are_not_known() -> None:
    rows = [host("n", groups={})]
    report = build_hosts_report("h:1", state(hosts=about(), runs=[run("a", state="ended")]), rows)

    assert hosts_sheet(report, 120, 9).rows[0][-1] == "-"
    assert "groups   not known: no run is open\n" in _page(report)


def test_states_are_counted_in_one_order_and_unknown_ones_too() -> None:
    assert counts_text({"failed": 1, "fresh": 2000, "odd": 3}) == "2,000 fresh, 1 failed, 3 odd"
    assert counts_text({}) == "none"


@pytest.mark.parametrize("width", [30, 50, 80, 120, 1000])
def test_every_value_is_there_and_no_line_is_wider_than_the_terminal(width: int) -> None:
    rows = [host("gpu-node-[1].cluster.example", 0.25, groups={"run-a": "a,b" + ",group" * 20})]

    page = _page(_report(*rows, failed("gone")), width)

    assert max(map(len, page.splitlines())) <= width
    joined = "".join(page.split())
    for value in ("gpu-node-[1].cluster.example", "250.0GiB", "1,000.0GiB", "25.0%", "fresh"):
        assert value in joined
    assert joined.count("group,") == 19


@pytest.mark.parametrize("width", [60, 120])
def test_on_a_screen_hosts_give_way_so_that_the_footer_stays_in_sight(width: int) -> None:
    rows = [*(host(f"n{number:03}", number / 300) for number in range(290))]
    rows += [failed(f"gone{number}") for number in range(10)]

    page = _page(_report(*rows), width, height=24)

    assert len(page.splitlines()) <= 24
    assert page.startswith("hosts\n")
    assert "gone0" in page
    assert "290 fresh, 10 failed" in page
    assert "and 7 more with problems" in page


def test_without_a_screen_every_one_of_many_hosts_is_a_line() -> None:
    rows = [host(f"n{number:03}", number / 300) for number in range(300)]

    page = _page(_report(*rows))

    assert sum(line.startswith("n") for line in page.splitlines()) == 300


def test_components_are_shown_by_size() -> None:
    rows = [host("n", components={"raylet": 300 * 2.0**20, "MyActor": 3.5 * GIB})]

    page = _page(_report(*rows), components=True)

    assert "n     MyActor 3.5 GiB, raylet 300 MiB" in page
    assert "object_store is shared memory" in page


def test_without_components_the_page_says_what_turns_them_on() -> None:
    page = _page(_report(host("n")), components=True)

    assert "hosts.components: true" in page


def test_without_an_actor_the_page_says_so() -> None:
    assert _page(unknown_hosts("h:1", "there is no actor", "start")) == "there is no actor\n"
