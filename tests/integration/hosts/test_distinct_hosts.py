# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Three hosts, each with a name, an address and a memory of its own, and a driver on the first.

What happens is in `three_hosts.py`; it happens once, and each test looks at one part.
"""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.alone import run_alone
from tests.integration.hosts.three_hosts import INTERVAL_S, LEASE_S, MEMORY, TIMEOUT_S, TRUE

pytestmark = pytest.mark.timeout(180)

NAMESPACES = ("--net", "--uts", "--mount")
# The flush of a client, the tick that commits, an export, and two busy cores.
SLACK_S = 3.0
_CABLE = """
ip link add cable0 type veth peer name cable1 && ip link add bridge type bridge &&
mount -t tmpfs tmpfs /mnt
"""


def _why_not() -> str:
    """Say why hosts cannot be made here, or nothing."""
    missing = [name for name in ("ip", "unshare", "nsenter") if shutil.which(name) is None]
    if missing:
        return f"{', '.join(missing)} not installed (Debian: apt install iproute2 util-linux)"
    if os.geteuid() != 0:
        return "hosts are made of network namespaces, which needs root"
    tried = subprocess.run(
        ["unshare", "--pid", "--fork", *NAMESPACES, "sh", "-c", _CABLE],
        capture_output=True,
        text=True,
        check=False,
    )
    return f"namespaces are refused here: {tried.stderr.strip()}" if tried.returncode else ""


@pytest.fixture(scope="module")
def seen() -> Any:
    if why := _why_not():
        pytest.skip(why)
    script = Path(__file__).with_name("three_hosts.py")
    return run_alone(script, timeout_s=170, namespaces=NAMESPACES)


def test_every_host_has_a_point_at_once(seen: Any) -> None:
    assert seen["labels_come"]["first_s"] < INTERVAL_S + SLACK_S


def test_placement_groups_label_their_hosts_within_an_interval(seen: Any) -> None:
    assert seen["labels_come"]["registered_s"] < INTERVAL_S + SLACK_S


def test_a_group_that_the_driver_never_heard_of_labels_its_host_within_an_interval(
    seen: Any,
) -> None:
    assert seen["label_after_s"] < INTERVAL_S + TIMEOUT_S
    assert {host: labels[-1] for host, labels in seen["pushed"]["history"].items()} == TRUE


def test_each_host_has_its_own_memory(seen: Any) -> None:
    assert seen["labels_come"]["used"] == {host: used for host, (used, _) in MEMORY.items()}


def test_a_cut_cable_costs_the_points_of_its_host_only(seen: Any) -> None:
    cut = seen["beta_is_cut"]
    without_beta = {host: label for host, label in TRUE.items() if host != "beta"}

    assert cut["history"] == [without_beta, TRUE]
    assert (cut["state"], cut["groups_meanwhile"]) == ("failed", "generation")
    assert f"no whole answer within {TIMEOUT_S:g} s" in cut["problem"]
    assert max(cut["gone_s"], cut["back_s"]) < INTERVAL_S + 2 * TIMEOUT_S + SLACK_S


def test_who_is_cut_off_for_longer_than_its_lease_vouches_again_when_it_is_back(seen: Any) -> None:
    cut = seen["gamma_is_cut"]
    without_gamma = {host: label for host, label in TRUE.items() if host != "gamma"}

    assert cut["groups_meanwhile"] == "none"
    # The host may be back before the actor on it has said anything.
    assert cut["history"] in (
        [without_gamma, TRUE],
        [without_gamma, {**TRUE, "gamma": "none"}, TRUE],
    )
    assert cut["back_s"] < INTERVAL_S + LEASE_S + 15.0


def test_at_every_moment_a_host_has_one_point_on_both_sides(seen: Any) -> None:
    assert (seen["pulled"]["doubled"], seen["pushed"]["doubled"]) == ([], [])
    assert seen["pulled"]["alpha"][-1] == "lm_policy"
    assert [each for each in seen["pulled"]["alpha"][1:] if each is None] == []
    assert seen["pushed"]["history"]["alpha"] == ["none", "lm_policy"]
