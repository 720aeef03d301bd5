# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from nemo_telemetry_actor.errors import ConfigError
from nemo_telemetry_actor.web.access import is_loopback, read_token


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "127.0.0.5", "::1"])
def test_names_of_this_machine_are_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["", "0.0.0.0", "::", "10.0.0.1", "localhost.evil.example"])
def test_nothing_else_is_loopback(host: str) -> None:
    assert not is_loopback(host)


def test_the_white_space_around_a_token_is_no_part_of_it(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(" s3cret\n")

    assert read_token(str(tmp_path / "token")) == "s3cret"


@pytest.mark.parametrize(
    ("content", "said"), [(b"\n", "is empty"), (b"\xff\xfe", "not UTF-8"), (None, "No such file")]
)
def test_a_file_without_a_token_is_an_error(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    if content is not None:
        (tmp_path / "token").write_bytes(content)

    with pytest.raises(ConfigError, match=said):
        read_token(str(tmp_path / "token"))
