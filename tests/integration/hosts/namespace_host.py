# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Hosts made of namespaces: each with a name, an address, a disk for Ray and a memory of its own.

The first one is where this process is; the others hang on its bridge by a cable each. To be used
in a process that was started by `unshare --pid --net --uts --mount`, with which they all end.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

ADDRESS: Final = "10.99.0.{}"
RAY_PORT: Final = 6379
_LONGEST_START_S: Final = 60.0
_FILES: Final = Path(os.environ.get("RAY_TMPDIR", "/tmp"))
# The files that Ray reads in a container, in the older form, whichever this machine has. And no
# name server: the one of the machine cannot be reached, which costs seconds a question.
_OWN_FILES: Final = """
mount -t tmpfs tmpfs /sys/fs/cgroup && mkdir /sys/fs/cgroup/memory && cd /sys/fs/cgroup/memory &&
echo {used} > memory.usage_in_bytes && echo {total} > memory.limit_in_bytes &&
printf 'total_inactive_file 0\\ntotal_active_file 0\\n' > memory.stat &&
echo '127.0.0.1 localhost' > hosts && echo '{address} {name}' >> hosts && : > resolv.conf &&
mount --bind hosts /etc/hosts && mount --bind resolv.conf /etc/resolv.conf
"""


class NamespaceHost(msgspec.Struct, frozen=True):
    """One host.

    Args:
        number: From 1; the last part of its address.
        name: What `hostname` says there.
        used: Bytes of memory that Ray finds in use.
        total: Bytes of memory that Ray finds there.
        inside: What a command is to be prefixed with to run there.
    """

    number: int
    name: str
    used: int
    total: int
    inside: tuple[str, ...] = ()

    @property
    def address(self) -> str:
        return ADDRESS.format(self.number)

    def run(self, command: str) -> None:
        """Run a shell command there.

        Raises:
            RuntimeError: It failed.
        """
        _run(*self.inside, "sh", "-c", command)

    def start_ray(self, *options: str) -> "subprocess.Popen[bytes]":
        """Start a raylet there; the first host is the head."""
        program = [str(Path(sys.executable).with_name("ray")), "start", "--block"]
        where = (
            ["--head", f"--port={RAY_PORT}", "--include-dashboard=false"]
            if self.number == 1
            else [f"--address={ADDRESS.format(1)}:{RAY_PORT}"]
        )
        own = [f"--node-ip-address={self.address}", "--object-store-memory=80000000"]
        return subprocess.Popen(
            [*self.inside, *program, *where, *own, *options],
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
        )

    @contextmanager
    def cable_cut(self) -> Iterator[None]:
        """Take the host off the network for a while."""
        _run("ip", "link", "set", f"cable{self.number}", "down")
        try:
            yield
        finally:
            _run("ip", "link", "set", f"cable{self.number}", "up")


def first_host(name: str, used: int, total: int) -> NamespaceHost:
    """Make this process's own namespaces the first host, with the bridge."""
    host = NamespaceHost(1, name, used, total)
    socket.sethostname(name)
    host.run("ip link set lo up && ip link add bridge type bridge && ip link set bridge up")
    host.run(f"ip addr add {host.address}/24 dev bridge && ip route add default dev bridge")
    _give_files(host)
    return host


def further_host(number: int, name: str, used: int, total: int) -> NamespaceHost:
    """Make a host and plug its cable in."""
    keeper = subprocess.Popen(["unshare", "--net", "--uts", "--mount", "sleep", "infinity"])
    _wait_until_unshared(keeper.pid)
    inside = ("nsenter", f"--target={keeper.pid}", "--net", "--uts", "--mount", "--")
    host = NamespaceHost(number, name, used, total, inside)
    _run(
        "ip", "link", "add", f"cable{number}", "type", "veth",
        "peer", "name", "eth0", "netns", str(keeper.pid),
    )  # fmt: skip
    _run("ip", "link", "set", f"cable{number}", "master", "bridge", "up")
    host.run(f"hostname {name} && ip link set lo up && ip link set eth0 up")
    host.run(f"ip addr add {host.address}/24 dev eth0")
    host.run(f"ip route add default via {ADDRESS.format(1)}")
    host.run(f"mount -t tmpfs tmpfs {_FILES}")
    _give_files(host)
    return host


def wait_for_port(address: str, port: int) -> None:
    """Wait until somebody listens there.

    Raises:
        TimeoutError: Nobody does within a minute.
    """
    until_s = time.monotonic() + _LONGEST_START_S
    while True:
        try:
            socket.create_connection((address, port), timeout=1.0).close()
        except OSError as error:
            if time.monotonic() > until_s:
                raise TimeoutError(f"nobody listens on {address}:{port}") from error
            time.sleep(0.1)
        else:
            return


def _give_files(host: NamespaceHost) -> None:
    host.run(
        _OWN_FILES.format(used=host.used, total=host.total, address=host.address, name=host.name)
    )


def _wait_until_unshared(pid: int) -> None:
    until_s = time.monotonic() + 10.0
    while Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip() != "sleep":
        if time.monotonic() > until_s:
            raise TimeoutError("unshare did not make a host within 10 s")
        time.sleep(0.01)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
