# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The page of the doctor: one entry a check, what to do below it, and it fits the terminal."""

import pytest
from rich.console import Console

from nemo_telemetry_actor.cli.doctor_check import Check, report
from nemo_telemetry_actor.cli.doctor_view import doctor_page

CHECKS = [
    Check("Ray", "ok", "2.60.0 here and in the cluster"),
    Check(
        "otlp/grpc http://a-very-long-name.example:4317", "failed", "down [x]", "see the backend"
    ),
    Check("clock: nodes", "warning", "no answer of 1 node", "ray status"),
    Check("dashboard", "skipped", "there is no cluster to ask"),
]


def _page(width: int) -> str:
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(doctor_page(report("h:1", CHECKS), width))
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def test_a_check_is_a_line_and_what_to_do_is_below_it() -> None:
    assert _page(100) == (
        "ok        Ray          2.60.0 here and in the cluster\n"
        "failed   otlp/grpc http://a-very-long-name.example:4317\n"
        "  down [x]\n"
        "  next: see the backend\n"
        "warning   clock: nodes no answer of 1 node\n"
        "                       next: ray status\n"
        "skipped   dashboard    there is no cluster to ask\n"
        "\n"
        "1 ok, 1 warning, 1 failed, 1 skipped"
    )


@pytest.mark.parametrize("width", [25, 50, 80, 1000])
def test_everything_is_there_and_no_line_is_wider_than_the_terminal(width: int) -> None:
    page = _page(width)

    assert max(map(len, page.splitlines())) <= width
    joined = "".join(page.split())
    for check in CHECKS:
        for text in (check.name, check.found, check.next_step):
            assert "".join(text.split()) in joined
