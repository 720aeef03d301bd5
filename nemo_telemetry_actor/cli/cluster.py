# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Being a driver of a Ray cluster that runs, for as long as a command takes.

A command never starts a Ray: an actor in it would end with the command. An address at which no
cluster answers is found out in seconds, where Ray itself would try for a quarter of an hour.
"""

import logging
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import click

from nemo_telemetry_actor.cli.failure import CommandFailedError
from nemo_telemetry_actor.cli.progress import working

address_option: Final = click.option(
    "--address",
    metavar="HOST:PORT",
    help="Ray cluster: what `ray start --head` printed, ray://HOST:PORT for Ray Client, or auto "
    "for the one on this machine. RAY_ADDRESS when left out, and auto when that is not set.",
)

_PROBE_TIMEOUT_S: Final = 3.0
_START_OR_NAME: Final = "ray start --head, or give --address HOST:PORT of a cluster that runs"
# What starts every HTTP/2 connection, and with it every gRPC one: the preface, an empty SETTINGS.
_HELLO: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
_FRAME_HEADER_BYTES: Final = 9
_SETTINGS_FRAME: Final = 4


@contextmanager
def cluster(address: str | None) -> Iterator[str]:
    """Be a driver of the cluster at `address` while the block runs; gives its address.

    Raises:
        CommandFailedError: There is none, or it does not let this process in.
    """
    wanted = wanted_address(address, os.environ)
    # Ray tries this often when a token is refused, a second apart; its own default is 20.
    os.environ.setdefault("RAY_NUM_REDIS_GET_RETRIES", "3")
    with working(f"Connecting to Ray ({wanted}) …"):
        check_answers(wanted, found_address(wanted, _find_on_this_machine))
        ray = _connected(wanted)
    try:
        yield ray.get_runtime_context().gcs_address
    finally:
        ray.shutdown()


def ask(answer: Any, timeout_s: float) -> Any:
    """Wait for the actor's answer to a call.

    Raises:
        CommandFailedError: It does not come within the time.
    """
    import ray

    try:
        return ray.get(answer, timeout=timeout_s)
    except (ray.exceptions.RayActorError, ray.exceptions.GetTimeoutError) as error:
        raise CommandFailedError(
            f"the telemetry actor does not answer within {timeout_s:g} s ({_first_line(error)})",
            next_step="nemo-telemetry status, in a moment; if it stays so, nemo-telemetry stop and "
            "nemo-telemetry start",
        ) from error


def wanted_address(address: str | None, environ: Mapping[str, str]) -> str:
    """Return the address to join: the one given, else `RAY_ADDRESS`, else `auto`.

    Raises:
        CommandFailedError: It is none of a cluster that can be joined.
    """
    source, wanted = "--address", address or "auto"
    if wanted == "auto" and environ.get("RAY_ADDRESS"):
        source, wanted = "RAY_ADDRESS", environ["RAY_ADDRESS"]
    if wanted == "local":
        raise CommandFailedError(
            f"{source} is local: that would start a Ray that ends with this command",
            next_step=_START_OR_NAME,
        )
    if wanted.startswith(("http://", "https://")):
        raise CommandFailedError(
            f"{source} is {wanted}, the address of a Ray dashboard; the cluster itself is needed",
            next_step="give --address HOST:PORT as `ray start --head` printed it (mostly port 6379)",
        )
    if wanted != "auto" and _host_and_port(wanted) is None:
        raise CommandFailedError(
            f"{source} is {wanted!r}, which is no HOST:PORT",
            next_step="give --address HOST:PORT as `ray start --head` printed it (mostly port 6379)",
        )
    return wanted


def found_address(wanted: str, find: Callable[[], str]) -> str:
    """Return what to probe for an address; `find` looks for the cluster of this machine.

    Raises:
        CommandFailedError: It is `auto`, and no cluster is known on this machine.
    """
    if wanted != "auto":
        return wanted
    try:
        return find()
    except ConnectionError as error:
        raise CommandFailedError(
            "no Ray cluster runs on this machine", next_step=_START_OR_NAME
        ) from error


def check_answers(wanted: str, address: str) -> None:
    """Check that something that can be a cluster listens, within about three seconds.

    Raises:
        CommandFailedError: Nothing does, or something else.
    """
    host, port = _host_and_port(address) or ("", 0)
    try:
        with socket.create_connection((host, port), _PROBE_TIMEOUT_S) as connection:
            connection.sendall(_HELLO)
            answer = connection.recv(_FRAME_HEADER_BYTES)
    except ConnectionResetError:
        answer = b""
    except OSError as error:
        stale = (
            ", which Ray noted as the last cluster of this machine (ray_current_cluster)"
            if wanted == "auto"
            else ""
        )
        raise CommandFailedError(
            f"no Ray cluster answers at {address}{stale}: {error}", next_step=_START_OR_NAME
        ) from error
    if len(answer) < _FRAME_HEADER_BYTES or answer[3] != _SETTINGS_FRAME:
        raise CommandFailedError(
            f"what listens at {address} is no Ray cluster",
            next_step="give --address HOST:PORT as `ray start --head` printed it (mostly port 6379)",
        )


def explained(address: str, error: BaseException) -> CommandFailedError:
    """Return what to tell people when Ray refuses this process."""
    texts = [str(each) for each in _chain(error)]
    is_refused = any("InvalidAuthToken" in text or "Unauthenticated" in text for text in texts)
    if is_refused or type(error).__name__ == "AuthenticationError":
        return CommandFailedError(
            f"the Ray cluster ({address}) wants a token, and this shell gives none or another",
            next_step="export RAY_AUTH_MODE=token (Ray then reads RAY_AUTH_TOKEN, "
            "RAY_AUTH_TOKEN_PATH or ~/.ray/auth_token), then run this again",
        )
    return CommandFailedError(
        f"the Ray cluster ({address}) does not let this process in: {_first_line(error)}",
        next_step=f"ray status --address {address}; this must run on a node of the cluster, with "
        "its versions of Ray and Python",
    )


def _connected(wanted: str) -> Any:
    import ray

    try:
        ray.init(address=wanted, log_to_driver=False, logging_level=logging.WARNING)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise explained(wanted, error) from error
    return ray


def _find_on_this_machine() -> str:
    from ray._private.services import canonicalize_bootstrap_address  # there is no public way

    found: str | None = canonicalize_bootstrap_address("auto")
    if found is None:
        raise ConnectionError("no cluster found")
    return found


def _host_and_port(address: str) -> tuple[str, int] | None:
    host, _, port = address.removeprefix("ray://").partition("/")[0].rpartition(":")
    if not host or "://" in host or not port.isdecimal() or not 0 < int(port) < 65536:
        return None
    return host.strip("[]"), int(port)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
