# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The status report as tables for a terminal. Pure: a report in, renderables out."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.text import Text

from nemo_telemetry_actor.cli.hosts_view import counts_text, way_text
from nemo_telemetry_actor.cli.sheet import Sheet, cell, render
from nemo_telemetry_actor.cli.status_report import StatusReport
from nemo_telemetry_actor.cli.wording import age, counted

MAX_CLIENTS: Final = 20

_CLIENT_ORDER: Final = {"lost": 0, "live": 1, "closed": 2}


def status_page(report: StatusReport, width: int) -> RenderableType:
    """Return the whole page for a terminal of `width` columns."""
    state = report.actor
    if state is None:
        return Text("\n".join(report.trouble), style="bold red")
    sheets = [
        runs_sheet(state),
        clients_sheet(state),
        exporters_sheet(state),
        drops_sheet(report, state),
        nonfinite_sheet(report, state),
    ]
    parts: list[RenderableType] = [_header(report, state), Text("")]
    for sheet in sheets:
        if sheet.rows or sheet.note:
            parts.append(render(sheet, width))
        if sheet.title == "exporters":
            parts += _last_errors(state)
    return Group(*parts)


def runs_sheet(state: Mapping[str, Any]) -> Sheet:
    """Return the runs, open ones first."""
    now = state["time_unix_nano"]
    rows = []
    for run in sorted(state["runs"], key=lambda run: (run["state"] != "open", run["run_id"])):
        attributes = run["attributes"]
        rows.append(
            (
                run["run_id"],
                run["state"],
                age(run["opened_unix_nano"], run["ended_unix_nano"] or now),
                cell(run["clients"]),
                cell(run["series"]),
                cell(run["points"]),
                cell(attributes.get("rl.algorithm")),
                cell(attributes.get("rl.model")),
            )
        )
    return Sheet(
        "runs",
        ("run", "state", "age#", "clients#", "series#", "points#", "algorithm", "model"),
        tuple(rows),
        note="" if rows else "none yet: a training job opens one with start()",
    )


def clients_sheet(state: Mapping[str, Any]) -> Sheet:
    """Return the clients: lost ones first, at most `MAX_CLIENTS`."""
    now = state["time_unix_nano"]
    clients = sorted(state["clients"], key=_client_order)
    rows = tuple(
        (
            each["client_id"][:8],
            each["state"],
            age(each["heard_unix_nano"], now),
            cell(each["worker_group"]),
            cell(each["rank"]),
            cell(each["host"]),
            str(each["pid"] or "-"),
            each["run_id"],
            cell(each["series"]),
            cell(each["points"]),
        )
        for each in clients[:MAX_CLIENTS]
    )
    more = len(clients) - len(rows)
    return Sheet(
        "clients",
        (
            "client",
            "state",
            "heard#",
            "group",
            "rank#",
            "host",
            "pid#",
            "run",
            "series#",
            "points#",
        ),
        rows,
        note=f"and {more:,} more" if more else "",
    )


def exporters_sheet(state: Mapping[str, Any]) -> Sheet:
    """Return the push exporters."""
    now = state["time_unix_nano"]
    rows = tuple(
        (
            each["name"],
            each["state"],
            cell(each["sent"]),
            cell(each["rejected"]),
            cell(each["failed"]),
            cell(each["backlog_points"]),
            age(each["last_success_unix_nano"], now) if each["last_success_unix_nano"] else "never",
        )
        for each in state["exporters"]
    )
    return Sheet(
        "exporters",
        ("exporter", "state", "sent#", "rejected#", "failed#", "backlog#", "success#"),
        rows,
        note="" if rows else "none that pushes: values are to be had from /metrics only",
    )


def drops_sheet(report: StatusReport, state: Mapping[str, Any]) -> Sheet:
    """Return what was lost: where, why and how much."""
    rows = [
        *_drops("clients, before sending", report.client_dropped),
        *_drops("actor, on arrival", state["ingest"]["dropped"]),
    ]
    for exporter in state["exporters"]:
        rows += _drops(exporter["name"], exporter["dropped"])
    return Sheet("dropped", ("where", "reason", "count#"), tuple(rows))


def nonfinite_sheet(report: StatusReport, state: Mapping[str, Any]) -> Sheet:
    """Return the metrics of which values were NaN or infinite."""
    now = state["time_unix_nano"]
    rows = tuple(
        (each.metric, cell(each.count), age(each.since_unix_nano, now)) for each in report.nonfinite
    )
    return Sheet("NaN or infinite", ("metric", "count#", "first seen, ago#"), rows)


def _header(report: StatusReport, state: Mapping[str, Any]) -> Text:
    now, ingest = state["time_unix_nano"], state["ingest"]
    lines = [
        ("url", state["http_url"] or "none, the HTTP server is off"),
        (
            "up",
            f"{age(state['started_unix_nano'], now)}, version {state['version']}{_lives(state)}",
        ),
        ("process", f"{state['pid']} on {state['host']}, Ray cluster {report.address}"),
        ("holds", f"{ingest['series']:,} series, {counted(ingest['accepted'], 'point')} taken"),
    ]
    text = Text("telemetry actor", style="bold")
    for name, value in lines:
        text.append(f"\n  {name:<8} {value}", style="not bold")
    text.append(f"\n  {'hosts':<8} {hosts_line(state.get('hosts'))}", style="not bold")
    for problem in [*state["problems"], *(state.get("hosts") or {}).get("problems", [])]:
        text.append(f"\n  {'problem':<8} {problem}", style="not bold red")
    return text


def hosts_line(hosts: Mapping[str, Any] | None) -> str:
    """Return how many hosts are in which state, where that is read, and why there."""
    if hosts is None:
        return "off in the configuration"
    counts = counts_text(hosts["hosts"]) if hosts["cycles"] else "not read yet"
    return f"{counts}, {way_text(hosts['source'])} ({hosts['reason']})"


def _last_errors(state: Mapping[str, Any]) -> list[RenderableType]:
    # Not a column: what a backend says is longer than all the other cells together.
    failing = [each for each in state["exporters"] if each["last_error"]]
    lines = [Text(f"{each['name']}: {each['last_error']}", style="red") for each in failing]
    return [*lines, Text("")] if lines else []


def _drops(where: str, by_reason: Mapping[str, int]) -> Iterable[tuple[str, str, str]]:
    return ((where, reason, cell(count)) for reason, count in sorted(by_reason.items()) if count)


def _client_order(client: Mapping[str, Any]) -> tuple[object, ...]:
    return (
        _CLIENT_ORDER.get(client["state"], len(_CLIENT_ORDER)),
        client["run_id"],
        str(client["worker_group"] or ""),
        int(client["rank"] or 0),
        client["client_id"],
    )


def _lives(state: Mapping[str, Any]) -> str:
    restarts = (state.get("durability") or {}).get("restarts", 0)
    return f", restarted {counted(restarts, 'time')}" if restarts else ""
