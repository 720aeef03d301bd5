# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A short run of the chaos harness; `python -m tests.e2e.chaos.run` is the long one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUN_TIMEOUT_S = 240

pytestmark = pytest.mark.timeout(RUN_TIMEOUT_S + 20)


def test_nothing_is_lost_or_doubled_while_everything_is_killed(tmp_path: Path) -> None:
    seed, kills = 11, 8
    written = tmp_path / "result.json"

    done = subprocess.run(
        [
            *(sys.executable, "-m", "tests.e2e.chaos.run"),
            *("--seed", str(seed), "--kills", str(kills), "--seconds", "25"),
            *("--clients", "4", "--keep", str(tmp_path / "run")),
            *("--result", str(written)),
        ],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RUN_TIMEOUT_S,
        check=False,
    )

    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-4000:]}"
    result = json.loads(written.read_bytes())
    assert result["problems"] == []
    assert result["kills_total"] >= 2
    assert result["exporters"]["otlp"]["acknowledged"] > 100
