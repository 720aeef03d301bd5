# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Watching: reads and shows until the keyboard says stop."""

from nemo_telemetry_actor.cli.status_report import StatusReport, build_report, silent_report
from nemo_telemetry_actor.cli.watching import watch
from tests.unit.cli.states import state


def test_watching_shows_each_report_and_returns_the_last() -> None:
    first = silent_report("h:1", "there is no actor", "start")
    second = build_report("h:1", state(), [])
    reports = iter([first, second])
    shown: list[StatusReport] = []

    def wait() -> None:
        if len(shown) == 2:
            raise KeyboardInterrupt

    last = watch(lambda: next(reports), shown.append, wait)

    assert (shown, last) == ([first, second], second)


def test_a_report_interrupted_half_way_leaves_the_one_before() -> None:
    report = build_report("h:1", state(), [])
    answers = iter([report])

    def read() -> StatusReport:
        for answer in answers:
            return answer
        raise KeyboardInterrupt

    assert watch(read, lambda _: None, lambda: None) == report
