# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What `stop` says of each exporter."""

from typing import Any

import pytest

from nemo_telemetry_actor.cli.stop import exporter_line
from tests.unit.cli.states import exporter


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"delivered": True}, "a: 12,345 points sent, nothing left"),
        (
            {"delivered": True, "sent": 1, "rejected": 2, "dropped": {"refused": 3}},
            "a: 1 point sent, 2 points rejected by the backend, 3 points dropped, nothing left",
        ),
        (
            {"delivered": False, "backlog_points": 7, "last_error": "refused"},
            "a: 12,345 points sent, left: 7 points, last error: refused",
        ),
        ({"delivered": False}, "a: 12,345 points sent, left: the last totals"),
    ],
)
def test_an_exporters_line_says_what_went_and_what_is_left(
    changes: dict[str, Any], line: str
) -> None:
    assert exporter_line(exporter("a", **changes)) == line
