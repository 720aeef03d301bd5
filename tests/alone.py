# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Running a script that has a Ray of its own, so that nothing of it outlives the test.

A process has one Ray only, and a test's Ray must not meet another one: the script gets a directory
of its own for Ray's files, and as root a PID namespace, with which all that it started ends.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

_ROOT = Path(__file__).parents[1]
_SHOWN_CHARS = 4000


def run_alone(
    script: Path, *arguments: str, timeout_s: float, namespaces: Sequence[str] = ()
) -> Any:
    """Run a script, which prints one line of JSON at its end; return what it says.

    Args:
        script: Runs with the environment of this process, without its Ray.
        arguments: What it is given.
        timeout_s: Seconds after which it is killed.
        namespaces: Further options of `unshare`; they need root.
    """
    # Short: Ray's sockets are below it, whose names have 107 characters at most.
    with tempfile.TemporaryDirectory(prefix="nta", dir="/tmp", ignore_cleanup_errors=True) as files:
        process = subprocess.Popen(
            [*_unshare(namespaces), sys.executable, str(script), *arguments],
            env=_environ(files),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            said, complaints = process.communicate(timeout=timeout_s)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
    assert process.returncode == 0, complaints[-_SHOWN_CHARS:]
    return msgspec.json.decode(said.splitlines()[-1])


def _unshare(namespaces: Sequence[str]) -> list[str]:
    unshare = shutil.which("unshare")
    if os.geteuid() != 0 or unshare is None:
        return []
    return [unshare, "--pid", "--fork", "--kill-child", "--mount-proc", *namespaces]


def _environ(files: str) -> dict[str, str]:
    environ = {key: value for key, value in os.environ.items() if key != "RAY_ADDRESS"}
    return {
        **environ,
        "PYTHONPATH": str(_ROOT),
        "RAY_AUTH_MODE": "disabled",
        "RAY_TMPDIR": files,
        "RAY_USAGE_STATS_ENABLED": "0",
    }
