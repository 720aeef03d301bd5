# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The status page: what is on it, in which order, and that it fits the terminal."""

from typing import Any

import pytest
from rich.console import Console

from nemo_telemetry_actor.cli.status_report import CLIENT_DROPPED, build_report, silent_report
from nemo_telemetry_actor.cli.status_view import clients_sheet, runs_sheet, status_page
from tests.unit.cli.host_rows import about
from tests.unit.cli.states import NOW, S, client, exporter, own_series, run, state


def _page(actor: dict[str, Any], width: int = 120, own: list[dict[str, Any]] | None = None) -> str:
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(status_page(build_report("h:1", actor, own or []), width))
    return capture.get()


def _cells(page: str, start: str) -> list[str]:
    (line,) = [line for line in page.splitlines() if line.startswith(start)]
    return [cell for cell in line.split("  ") if cell.strip()]


def test_the_head_says_where_since_when_and_how_much() -> None:
    page = _page(state())

    assert page.startswith(
        "telemetry actor\n"
        "  url      http://127.0.0.1:9464\n"
        "  up       2 h 0 min, version 0.1.0\n"
        "  process  99 on head, Ray cluster h:1\n"
        "  holds    7 series, 1,500 points taken\n"
        "  hosts    2 fresh, from each raylet's page (on Ray 2.60.0 a raylet's page may be read by "
    )


@pytest.mark.parametrize(
    ("hosts", "line"),
    [
        (None, "off in the configuration"),
        (about(cycles=0), "not read yet, from each raylet's page (on Ray 2.60.0"),
        (
            about(source="dashboard", reason="why", hosts={"fresh": 9, "failed": 1}),
            "9 fresh, 1 failed, from Ray's dashboard (why)",
        ),
    ],
)
def test_the_line_of_the_hosts_says_how_many_and_which_way(
    hosts: dict[str, Any] | None, line: str
) -> None:
    assert f"  hosts    {line}" in _page(state(hosts=hosts))


def test_a_problem_of_the_scraper_is_in_the_head() -> None:
    page = _page(state(hosts=about(problems=["Ray does not answer"])))

    assert "  problem  Ray does not answer\n" in page


def test_problems_are_in_the_head() -> None:
    page = _page(state(problems=["http.port 9464 cannot be used"], http_url=None))

    assert "  url      none, the HTTP server is off\n" in page
    assert "  problem  http.port 9464 cannot be used\n" in page


def test_a_run_is_a_row_and_brackets_in_a_name_are_no_markup() -> None:
    cells = [cell.strip() for cell in _cells(_page(state()), "run-a")]

    assert cells == [
        "run-a",
        "open",
        "1 h 2 min",
        "2",
        "7",
        "1,500",
        "grpo",
        "Qwen/Qwen3-8B [fp8]",
    ]


def test_open_runs_come_first_and_an_ended_one_is_as_old_as_it_got() -> None:
    ended = run("a", state="ended", opened_unix_nano=NOW - 90 * S, ended_unix_nano=NOW - 30 * S)

    rows = runs_sheet(state(runs=[ended, run("b")])).rows

    assert [row[:3] for row in rows] == [("b", "open", "1 h 2 min"), ("a", "ended", "1 min 0 s")]


def test_lost_clients_come_first_and_twenty_are_shown() -> None:
    live = [client(f"live{i:04}", rank=i) for i in range(25)]
    lost = client("lost0000", state="lost", rank=99)
    closed = client("closed00", state="closed")

    sheet = clients_sheet(state(clients=[closed, *live, lost]))

    assert [row[0] for row in sheet.rows] == ["lost0000", *(f"live{i:04}" for i in range(19))]
    assert sheet.note == "and 7 more"


def test_a_client_without_group_and_rank_is_shown() -> None:
    rows = clients_sheet(state(clients=[client("c", worker_group=None, rank=None)])).rows

    assert rows == (("c", "live", "4 s", "-", "-", "node-1", "4321", "run-a", "3", "12"),)


def test_an_exporters_account_is_a_row_and_its_last_error_a_line() -> None:
    down = exporter(
        "otlp b",
        state="down",
        sent=0,
        failed=3,
        backlog_points=42,
        last_success_unix_nano=0,
        last_error="connection refused",
    )

    page = _page(state(exporters=[exporter("otlp a"), down]))

    assert [cell.strip() for cell in _cells(page, "otlp a")][1:] == [
        "up",
        "12,345",
        "0",
        "0",
        "0",
        "2 s",
    ]
    assert [cell.strip() for cell in _cells(page, "otlp b  ")][1:] == [
        "down",
        "0",
        "0",
        "3",
        "42",
        "never",
    ]
    assert "\notlp b: connection refused\n" in page


def test_drops_name_the_place_and_the_reason() -> None:
    actor = state(
        exporters=[exporter("otlp a", dropped={"queue_full": 8})],
        ingest={"accepted": 1, "duplicate_batches": 0, "dropped": {"too_old": 2}, "series": 1},
    )

    page = _page(actor, own=[own_series(CLIENT_DROPPED, 5.0, reason="buffer_full")])

    dropped = page[page.index("dropped\nwhere") :]
    assert [line.split("  ")[0] for line in dropped.splitlines()[3:6]] == [
        "clients, before sending",
        "actor, on arrival",
        "otlp a",
    ]


def test_what_is_empty_takes_no_room() -> None:
    page = _page(state(runs=[], clients=[], exporters=[]))

    assert "none yet: a training job opens one with start()" in page
    assert [word for word in ("clients\n", "dropped", "NaN", "─") if word in page] == []


@pytest.mark.parametrize("width", [30, 50, 80, 120, 1000])
def test_every_value_is_there_and_no_line_is_wider_than_the_terminal(width: int) -> None:
    actor = state(exporters=[exporter("otlp grpc " + "very-long-host-name." * 5)])

    page = _page(actor, width)

    assert max(map(len, page.splitlines())) <= width
    joined = "".join(page.split())
    for value in ("run-a", "1,500", "Qwen/Qwen3-8B[fp8]", "c0ffee00", "12,345", "node-1"):
        assert value in joined


def test_without_an_actor_the_page_says_so() -> None:
    console = Console(width=80, color_system=None)
    with console.capture() as capture:
        console.print(status_page(silent_report("h:1", "there is no actor", "start"), 80))

    assert capture.get() == "there is no actor\n"
