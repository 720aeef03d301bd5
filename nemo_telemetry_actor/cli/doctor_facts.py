# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What `nemo-telemetry doctor` finds out, before anything is judged."""

from typing import Any, Literal, TypeAlias, TypeVar

import msgspec

_T = TypeVar("_T")


class Unknown(msgspec.Struct, frozen=True):
    """A fact that could not be had, and why; `next_step` is empty when nobody said one."""

    why: str
    next_step: str = ""


Fact: TypeAlias = _T | Unknown | None
"""None: there is nothing to ask, because what it rests on is missing."""


class Here(msgspec.Struct, frozen=True):
    """This process."""

    package: str
    ray: str
    host: str


class Configuration(msgspec.Struct, frozen=True):
    """The configuration that is wanted.

    Args:
        path: Its file; None for the defaults.
        problem: Why it cannot be used; empty when it can.
        targets: Its OTLP exporters' names, and where each connects to; None where that is not TCP.
    """

    path: str | None
    problem: str = ""
    targets: dict[str, tuple[str, int] | None] = {}


class Node(msgspec.Struct, frozen=True):
    """One living node; port 0 when its metrics are not served."""

    node_id: str
    host: str
    address: str
    port: int


class Cluster(msgspec.Struct, frozen=True):
    """The Ray cluster; `ray` is empty when it does not tell its version."""

    address: str
    ray: str
    nodes: tuple[Node, ...]


class ClockReading(msgspec.Struct, frozen=True):
    """A question for the time, in Unix nanoseconds: asked and answered by our clock, the answer."""

    asked: int
    told: int
    answered: int


class Actor(msgspec.Struct, frozen=True):
    """What the actor answered.

    Args:
        state: Its `state`.
        hosts: Its `hosts`.
        readings: Its clock.
        differences: How its configuration differs; None when none was given to compare.
    """

    state: dict[str, Any]
    hosts: list[dict[str, Any]]
    readings: tuple[ClockReading, ...]
    differences: list[str] | None = None


class Page(msgspec.Struct, frozen=True):
    """One raylet's page as this process sees it.

    `connected` stands for a page that was not read, in order not to empty it.
    """

    host: str
    outcome: Literal["read", "connected", "no_family", "failed"]
    problem: str = ""


class Dashboard(msgspec.Struct, frozen=True):
    """Ray's dashboard: its address, None when there is none, and what is wrong with it."""

    address: str | None
    problem: str = ""
    nodes: int = 0


class Reach(msgspec.Struct, frozen=True):
    """Something on the network or disk, tried from this process; no problem: it answers."""

    name: str
    problem: str = ""
    note: str = ""


class NodeClocks(msgspec.Struct, frozen=True):
    """The clocks of the nodes.

    Args:
        readings: By node.
        silent: Nodes on which nothing answered within the time, and why.
        nodes: How many there are in all.
    """

    readings: dict[str, tuple[ClockReading, ...]]
    silent: dict[str, str]
    nodes: int


class Facts(msgspec.Struct, frozen=True):
    """Everything that the checks judge."""

    here: Here
    configuration: Configuration
    cluster: Fact[Cluster] = None
    actor: Fact[Actor] = None
    pages: Fact[tuple[Page, ...]] = None
    dashboard: Fact[Dashboard] = None
    http: Fact[Reach] = None
    endpoints: Fact[tuple[Reach, ...]] = None
    folders: Fact[tuple[Reach, ...]] = None
    clocks: Fact[NodeClocks] = None
