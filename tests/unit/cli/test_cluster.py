# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Which cluster a command joins, and what it says when it cannot, all without Ray."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from nemo_telemetry_actor.cli.cluster import (
    check_answers,
    explained,
    found_address,
    wanted_address,
)
from nemo_telemetry_actor.cli.failure import CommandFailedError

SETTINGS_FRAME = bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))


@contextmanager
def _listener(answer: bytes) -> Iterator[str]:
    """Listen on loopback, and greet one connection with `answer`."""

    def serve() -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(1024)
            connection.sendall(answer)

    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        thread.join()


def _free_address() -> str:
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        return f"127.0.0.1:{listening.getsockname()[1]}"


@pytest.mark.parametrize(
    ("option", "variable", "wanted"),
    [
        ("h:1", "other:2", "h:1"),
        ("ray://h:10001", None, "ray://h:10001"),
        ("[::1]:6379", None, "[::1]:6379"),
        (None, "other:2", "other:2"),
        ("auto", "other:2", "other:2"),
        (None, "", "auto"),
        (None, None, "auto"),
    ],
)
def test_the_option_beats_the_variable_which_beats_auto(
    option: str | None, variable: str | None, wanted: str
) -> None:
    environ = {} if variable is None else {"RAY_ADDRESS": variable}

    assert wanted_address(option, environ) == wanted


@pytest.mark.parametrize(
    ("option", "environ", "complaint"),
    [
        ("local", {}, "--address is local: that would start a Ray that ends with this command"),
        (None, {"RAY_ADDRESS": "local"}, "RAY_ADDRESS is local"),
        (None, {"RAY_ADDRESS": "http://h:8265"}, "RAY_ADDRESS is http://h:8265, the address of a"),
        ("head", {}, "--address is 'head', which is no HOST:PORT"),
        ("head:0", {}, "no HOST:PORT"),
        ("head:70000", {}, "no HOST:PORT"),
        ("anyscale://h:1", {}, "no HOST:PORT"),
    ],
)
def test_an_address_that_is_no_clusters_is_refused(
    option: str | None, environ: dict[str, str], complaint: str
) -> None:
    with pytest.raises(CommandFailedError) as failed:
        wanted_address(option, environ)

    assert complaint in failed.value.message
    assert "--address HOST:PORT" in failed.value.next_step


def test_auto_without_a_cluster_says_to_start_one() -> None:
    def find() -> str:
        raise ConnectionError("none")

    with pytest.raises(CommandFailedError) as failed:
        found_address("auto", find)

    assert failed.value.message == "no Ray cluster runs on this machine"
    assert failed.value.next_step.startswith("ray start --head, or give --address")


def test_auto_is_looked_for_and_an_address_is_not() -> None:
    assert found_address("auto", lambda: "found:1") == "found:1"
    assert found_address("h:2", lambda: "found:1") == "h:2"


@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_what_speaks_grpc_may_be_a_cluster(scheme: str) -> None:
    with _listener(SETTINGS_FRAME) as address:
        check_answers("auto", scheme + address)


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"-ERR\r\n", b""])
def test_what_speaks_something_else_is_no_cluster(answer: bytes) -> None:
    with _listener(answer) as address, pytest.raises(CommandFailedError) as failed:
        check_answers(address, address)

    assert failed.value.message == f"what listens at {address} is no Ray cluster"


def test_a_port_where_nothing_listens_is_no_cluster() -> None:
    address = _free_address()

    with pytest.raises(CommandFailedError) as failed:
        check_answers(address, address)

    assert failed.value.message.startswith(f"no Ray cluster answers at {address}: ")


def test_a_stale_note_of_rays_is_named() -> None:
    with pytest.raises(CommandFailedError) as failed:
        check_answers("auto", _free_address())

    assert "which Ray noted as the last cluster of this machine" in failed.value.message


def test_a_refused_token_is_explained_from_the_cause_of_the_cause() -> None:
    error = ConnectionError("Failed to connect")
    error.__cause__ = RuntimeError("Traceback …\nRPC error: InvalidAuthToken: missing")

    failure = explained("h:1", error)

    assert failure.message.startswith("the Ray cluster (h:1) wants a token")
    assert failure.next_step.startswith("export RAY_AUTH_MODE=token")


def test_any_other_refusal_is_told_in_its_first_line() -> None:
    failure = explained("h:1", RuntimeError("Version mismatch: 2.49 and 2.60\nmore"))

    assert failure.message.endswith("does not let this process in: Version mismatch: 2.49 and 2.60")
    assert failure.next_step.startswith("ray status --address h:1")
