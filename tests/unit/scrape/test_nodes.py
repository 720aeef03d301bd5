# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
from ipaddress import IPv6Address
from typing import Any

import pytest

from nemo_telemetry_actor.scrape.nodes import HostTarget, NodeTarget, hosts_of, page_url
from tests.unit.scrape.builders import row


def test_a_living_node_is_a_host() -> None:
    assert hosts_of([row()]) == (
        HostTarget("alpha", ("n1",), (NodeTarget("n1", "alpha", "10.0.0.1", 8080),)),
    )


def test_hosts_are_sorted_by_name() -> None:
    rows = [row(NodeManagerHostname=name, NodeManagerAddress=name) for name in ("c", "a", "b")]

    assert [host.host_name for host in hosts_of(rows)] == ["a", "b", "c"]


@pytest.mark.parametrize("alive", [False, None, 0, "no"])
def test_a_node_that_is_not_alive_is_left_out(alive: Any) -> None:
    assert hosts_of([row(Alive=alive)]) == ()


@pytest.mark.parametrize("hostname", ["", "  ", None, 7])
def test_without_a_host_name_the_address_stands_for_it(hostname: Any) -> None:
    assert hosts_of([row(NodeManagerHostname=hostname)])[0].host_name == "10.0.0.1"


def test_a_row_that_says_nothing_is_left_out() -> None:
    assert hosts_of([{}, {"Alive": True}, row(NodeManagerHostname="", NodeManagerAddress="")]) == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"MetricsExportPort": 0},
        {"MetricsExportPort": None},
        {"MetricsExportPort": -1},
        {"MetricsExportPort": 70000},
        {"MetricsExportPort": True},
        {"MetricsExportPort": "8080"},
        {"NodeManagerAddress": ""},
        {"NodeManagerAddress": None},
    ],
)
def test_a_node_that_cannot_be_read_still_counts_for_the_label(changes: dict[str, Any]) -> None:
    hosts = hosts_of([row(), row("n2", **changes)])

    assert [(host.node_ids, len(host.raylets)) for host in hosts] == [(("n1", "n2"), 1)]


def test_raylets_that_share_a_machine_are_one_host() -> None:
    hosts = hosts_of([row(), row("n2", MetricsExportPort=8081)])

    assert [(host.node_ids, [r.port for r in host.raylets]) for host in hosts] == [
        (("n1", "n2"), [8080, 8081])
    ]


def test_two_rows_of_one_address_and_port_are_one_raylet() -> None:
    rows = [row(Alive=False), row("n1"), row("n2"), row("n3", NodeManagerHostname="renamed")]

    assert [(h.host_name, h.node_ids, len(h.raylets)) for h in hosts_of(rows)] == [
        ("alpha", ("n1", "n2", "n3"), 1)
    ]


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("10.0.0.1", "http://10.0.0.1:8080/metrics"),
        ("node-1.example_net", "http://node-1.example_net:8080/metrics"),
        ("fd00::1", "http://[fd00::1]:8080/metrics"),
        ("[fd00::1]", "http://[fd00::1]:8080/metrics"),
        ("::1", "http://[::1]:8080/metrics"),
        ("fe80::1%eth0", "http://[fe80::1%25eth0]:8080/metrics"),
        # Which of its two forms Python writes depends on its version.
        ("::ffff:10.0.0.1", f"http://[{IPv6Address('::ffff:10.0.0.1')}]:8080/metrics"),
    ],
)
def test_an_address_becomes_a_url(address: str, url: str) -> None:
    assert page_url(address, 8080) == url


@pytest.mark.parametrize(
    "address",
    ["", "a b", "a/b", "user@host", "host:80", "fd00:::1", "fe80::1%a/b", "fe80::1%é", "fe80::1%", "[::1", "é",
     "-a", "a?b", "a#b", "a\nb"],
)  # fmt: skip
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        page_url(address, 8080)


@pytest.mark.parametrize("port", [0, -1, 65536])
def test_a_port_that_is_none_is_refused(port: int) -> None:
    with pytest.raises(ValueError, match="from 1 to 65535"):
        page_url("10.0.0.1", port)
