# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nemo_telemetry_actor.errors import StateError
from nemo_telemetry_actor.state.lock import StateInUseError, StateLock

# Loads as little as it can: a lock that another process holds until its standard input ends.
HOLD = """
import sys
from pathlib import Path
from nemo_telemetry_actor.state.lock import StateLock
StateLock(Path(sys.argv[1]))
print(flush=True)
sys.stdin.read()
"""


@contextmanager
def held_elsewhere(path: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


def test_a_second_process_is_told_who_has_the_file_and_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "state"
    with held_elsewhere(path) as process, pytest.raises(StateInUseError) as caught:
        StateLock(path)

    assert str(caught.value) == (
        f"state file {path} is in use by process {process.pid} of this machine; "
        "give each telemetry actor a state.path of its own, or end the other"
    )


def test_a_killed_holder_leaves_the_lock_to_who_waits_for_it(tmp_path: Path) -> None:
    path = tmp_path / "state"
    with held_elsewhere(path) as process:
        process.kill()

        StateLock(path, wait_s=20.0).release()


def test_a_lock_that_was_let_go_can_be_taken_again(tmp_path: Path) -> None:
    path = tmp_path / "state"

    for _ in range(3):
        StateLock(path).release()

    assert oct(path.with_name("state.lock").stat().st_mode & 0o777) == "0o600"


def test_a_place_where_no_lock_can_be_made_is_a_state_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(StateError, match=r"cannot be locked: .*Not a directory"):
        StateLock(tmp_path / "file" / "state")
