# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""From the rows of `ray.nodes()` to the hosts that are to be read.

A host is what has one `host.name`. Raylets that share it are one host: its memory is read once,
from the first raylet that answers, and its label names the groups of all its nodes.
"""

import ipaddress
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

_HOST_NAME: Final = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]{0,252})")
_MAX_PORT: Final = 65535


class NodeTarget(msgspec.Struct, frozen=True):
    """One raylet that serves a page."""

    node_id: str
    host_name: str
    address: str
    port: int


class HostTarget(msgspec.Struct, frozen=True):
    """One host.

    Args:
        host_name: `NodeManagerHostname`, or the address where Ray knows none.
        node_ids: Every living node there, also those that serve no page.
        raylets: Those that do, in Ray's order; may be empty.
    """

    host_name: str
    node_ids: tuple[str, ...]
    raylets: tuple[NodeTarget, ...]


def hosts_of(rows: Iterable[Mapping[str, Any]]) -> tuple[HostTarget, ...]:
    """Group the living nodes by host, sorted by name. Never raises for what a row holds.

    Two rows with one address and port are one raylet: the later row's node id joins the host of
    the earlier one. A row with neither host name nor address is left out.
    """
    node_ids: dict[str, list[str]] = {}
    raylets: dict[str, list[NodeTarget]] = {}
    owners: dict[tuple[str, int], str] = {}
    for row in rows:
        if row.get("Alive") is not True:
            continue
        address, port = _text(row.get("NodeManagerAddress")), _port(row.get("MetricsExportPort"))
        host_name = _text(row.get("NodeManagerHostname")) or address
        node_id = _text(row.get("NodeID"))
        if not host_name:
            continue
        if address and port:
            owner = owners.get((address, port))
            if owner is not None:
                node_ids[owner].append(node_id)
                continue
            owners[address, port] = host_name
            raylets.setdefault(host_name, []).append(NodeTarget(node_id, host_name, address, port))
        node_ids.setdefault(host_name, []).append(node_id)
    return tuple(
        HostTarget(name, tuple(dict.fromkeys(filter(None, ids))), tuple(raylets.get(name, ())))
        for name, ids in sorted(node_ids.items())
    )


def page_url(address: str, port: int) -> str:
    """Return the address of a raylet's page.

    Raises:
        ValueError: The address is neither an IP address nor a host name, or the port is none.
    """
    if not 1 <= port <= _MAX_PORT:
        raise ValueError(f"{port} is no port; it must be from 1 to {_MAX_PORT}")
    return f"http://{_authority(address)}:{port}/metrics"


def _authority(address: str) -> str:
    bare = address[1:-1] if address.startswith("[") and address.endswith("]") else address
    if ":" not in bare:
        if not _HOST_NAME.fullmatch(bare):
            raise ValueError(f"{address!r} is neither an IP address nor a host name")
        return bare
    ip = ipaddress.IPv6Address(bare)
    zone = ip.scope_id
    if zone is not None and not _HOST_NAME.fullmatch(zone):
        raise ValueError(f"{address!r} has a zone that is no interface")
    plain = str(ip).partition("%")[0]
    return f"[{plain}%25{zone}]" if zone is not None else f"[{plain}]"


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _port(value: object) -> int:
    """Return the port, or 0 for what is none."""
    is_port = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _MAX_PORT
    return value if is_port and isinstance(value, int) else 0
