# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import re
from pathlib import Path
from typing import Any

import pytest
import ray

from nemo_telemetry_actor.actor.lifecycle import find_actor
from tests.integration.ray.conftest import RunDriver

README = Path(__file__).parents[3] / "README.md"

pytestmark = pytest.mark.timeout(120)


def test_the_quickstart_of_the_readme_runs_as_it_stands(
    cluster: str, run_driver: RunDriver
) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)

    quickstart = run_driver(code, OTEL_SERVICE_NAME="readme")
    _, errors = quickstart.communicate(timeout=90)

    assert quickstart.returncode == 0, errors
    rows: Any = ray.get(find_actor().series.remote(names=["rl.env.score", "rl.reward.mean"]))
    assert [(row["name"], row["value"]) for row in rows] == [
        ("rl.env.score", 0.8),
        ("rl.reward.mean", 0.52),
    ]
