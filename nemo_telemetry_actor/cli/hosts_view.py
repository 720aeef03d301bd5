# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The hosts as a table for a terminal. Pure: a report in, renderables out."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Console, Group, RenderableType
from rich.text import Text

from nemo_telemetry_actor.cli.hosts_report import HostsReport
from nemo_telemetry_actor.cli.sheet import Sheet, fits, render
from nemo_telemetry_actor.cli.wording import duration, size

MAX_PROBLEMS: Final = 10
MAX_PROBLEMS_ON_SCREEN: Final = 3
_BAR_CELLS: Final = 10
_NONE: Final = "none"
_STATES: Final = ("fresh", "kept", "no_sample", "failed")


def hosts_page(
    report: HostsReport, width: int, height: int | None = None, *, components: bool = False
) -> RenderableType:
    """Return the whole page for a terminal of `width` columns.

    Args:
        report: What to show.
        width: Columns.
        height: Lines; hosts that find no room are counted. None shows all.
        components: Whether to show what the processes of each host hold.
    """
    if report.source is None:
        return Text("\n".join(report.trouble), style="bold red")
    if height is None:
        return _page(report, width, len(report.hosts), components, MAX_PROBLEMS)

    # The footer must stay in sight, so hosts give way; the most that fit are searched for.
    def page(most: int) -> Group:
        return _page(report, width, most, components, MAX_PROBLEMS_ON_SCREEN)

    few, many = 0, len(report.hosts)
    while few < many:
        middle = (few + many + 1) // 2
        if _lines(page(middle), width) <= height:
            few = middle
        else:
            many = middle - 1
    return page(few)


def hosts_sheet(report: HostsReport, width: int, most: int) -> Sheet:
    """Return at most `most` hosts, with bars where they fit."""
    shown = report.hosts[:most]
    more = len(report.hosts) - len(shown)
    plain, with_bars = (
        Sheet(
            "hosts",
            ("host", "used#", "total#", "share", "age#", "state", "groups~"),
            tuple(_row(host, report.runs, bar) for host in shown),
            note=f"and {more:,} more" if more else "",
        )
        for bar in (False, True)
    )
    return with_bars if fits(with_bars, width) else plain


def components_sheet(report: HostsReport, most: int) -> Sheet:
    """Return what the processes of each host hold, largest first."""
    rows = tuple(
        (host["host"], _components(host["components"]))
        for host in report.hosts[:most]
        if host["components"]
    )
    return Sheet(
        "components",
        ("host", "resident memory by component~"),
        rows,
        note="object_store is shared memory and is part of the others already"
        if rows
        else "none known: they are read with hosts.components: true, from raylets' pages only",
    )


def counts_text(counts: Mapping[str, int]) -> str:
    """Return `3 fresh, 1 failed`; `none` when there are no hosts."""
    known = [name for name in _STATES if counts.get(name)]
    others = sorted(set(counts) - set(_STATES))
    names = [f"{counts[name]:,} {_state(name)}" for name in [*known, *others]]
    return ", ".join(names) or _NONE


def groups_text(groups: Mapping[str, str], runs: Sequence[str]) -> str:
    """Return the label of a host; of several runs each that has one, with the run's id."""
    spaced = {run: label.replace(",", ", ") for run, label in groups.items()}
    if not spaced:
        return "-"
    if len(runs) <= 1:
        return next(iter(spaced.values()))
    here = [f"{run}: {label}" for run, label in spaced.items() if label != _NONE]
    return "; ".join(here) or _NONE


def way_text(source: str | None) -> str:
    """Return whom the values come from."""
    ways = {"raylet": "from each raylet's page", "dashboard": "from Ray's dashboard"}
    return ways.get(source or "", f"from {source}")


def _page(report: HostsReport, width: int, most: int, components: bool, problems: int) -> Group:
    parts = [render(hosts_sheet(report, width, most), width)]
    if components:
        parts.append(render(components_sheet(report, most), width))
    return Group(*parts, _footer(report, problems), Text(""))


def _footer(report: HostsReport, most: int) -> Text:
    text = Text()
    failing = [host for host in report.hosts if host["problem"]]
    for host in failing[:most]:
        told = host["problem"]
        # What is told of a page names its address, which is not always the host's name.
        name = "" if told.startswith(f"{host['host']}:") else f"{host['host']}: "
        text.append(f"{name}{told}\n", style="red")
    if len(failing) > most:
        text.append(f"and {len(failing) - most:,} more with problems\n", style="red")
    for problem in report.problems:
        text.append(f"problem  {problem}\n", style="red")
    text.append(f"hosts    {counts_text(report.counts)}{_fullest(report)}\n")
    if not report.runs:
        text.append("groups   not known: no run is open\n")
    text.append(f"read     {way_text(report.source)}: {report.reason}")
    return text


def _fullest(report: HostsReport) -> str:
    shares = [(host["share"], host["host"]) for host in report.hosts if host["share"] is not None]
    if not shares:
        return ""
    share, name = max(shares, key=lambda each: each[0])
    return f"; fullest {name}, {_percent(share).strip()}"


def _row(host: Mapping[str, Any], runs: Sequence[str], bar: bool) -> tuple[str, ...]:
    age_s = host["age_s"]
    return (
        host["host"],
        _size(host["used_bytes"]),
        _size(host["total_bytes"]),
        _share(host["share"], bar),
        "-" if age_s is None else duration(age_s),
        _state(host["state"]),
        groups_text(host["groups"], runs),
    )


def _share(share: float | None, bar: bool) -> str:
    if share is None:
        return "-"
    number = _percent(share)
    filled = min(_BAR_CELLS, round(share * _BAR_CELLS))
    return f"{number} {'█' * filled}{'░' * (_BAR_CELLS - filled)}" if bar else number


def _percent(share: float) -> str:
    """Return a share with one decimal; full is shown only for what is full, never by rounding."""
    return f"{min(share, 0.999):>5.1%}" if share < 1 else " 100%"


def _size(bytes_: float | None) -> str:
    return "-" if bytes_ is None else size(bytes_)


def _state(state: str) -> str:
    return state.replace("_", " ")


def _components(components: Mapping[str, float]) -> str:
    largest = sorted(components.items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{name} {size(value)}" for name, value in largest)


def _lines(page: RenderableType, width: int) -> int:
    # A console of its own: measuring must not depend on where the page goes.
    console = Console(width=width, color_system=None, force_terminal=False)
    return len(console.render_lines(page, pad=False))
