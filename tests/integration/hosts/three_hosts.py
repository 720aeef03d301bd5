# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A driver on the first of three hosts; tells what it saw as JSON.

The policy is on `alpha`, generation on `beta`, and on `gamma` an environment actor builds the
reward model inside itself. Then a cable is cut.
"""

import sys
import time
from typing import Any

import msgspec
import ray
from ray.util.placement_group import PlacementGroup, placement_group

import nemo_telemetry_actor as nta
from nemo_telemetry_actor.actor.lifecycle import find_actor, stop_actor
from tests.host_watch import (
    PageWatcher,
    environment_on,
    first_pushed_unix_nano,
    pushed_labels,
    without_repeats,
)
from tests.integration.hosts.namespace_host import (
    RAY_PORT,
    NamespaceHost,
    first_host,
    further_host,
    wait_for_port,
)
from tests.receivers import OtlpGrpcReceiver

INTERVAL_S = 1.0
LEASE_S = 3.0
TIMEOUT_S = 0.5
MEMORY = {
    "alpha": [1_000_000_000, 3_000_000_000],
    "beta": [1_500_000_000, 4_000_000_000],
    "gamma": [2_000_000_000, 5_000_000_000],
}
TRUE = {"alpha": "lm_policy", "beta": "generation", "gamma": "reward_model_policy"}
RUN = "three-hosts"


def _config(receiver: OtlpGrpcReceiver) -> dict[str, Any]:
    return {
        "http": {"port": 0},
        "hosts": {"interval_s": INTERVAL_S, "timeout_s": TIMEOUT_S},
        "client": {"flush_interval_s": 0.5},
        "limits": {"lease_s": LEASE_S},
        "export": {
            "interval_s": INTERVAL_S,
            "file": None,
            "otlp": {"endpoint": f"http://{receiver.endpoint}"},
        },
    }


def _start_cluster() -> list[NamespaceHost]:
    alpha = first_host("alpha", *MEMORY["alpha"])
    hosts = [alpha, further_host(2, "beta", *MEMORY["beta"])]
    hosts.append(further_host(3, "gamma", *MEMORY["gamma"]))
    alpha.start_ray("--num-cpus=2", '--resources={"alpha": 1}')
    wait_for_port(alpha.address, RAY_PORT)
    for host in hosts[1:]:
        host.start_ray("--num-cpus=2", f'--resources={{"{host.name}": 1}}')
    ray.init(address=f"{alpha.address}:{RAY_PORT}", log_to_driver=False, configure_logging=False)
    until_s = time.monotonic() + 60.0
    while set(MEMORY) - set(ray.cluster_resources()):  # type: ignore[no-untyped-call]
        assert time.monotonic() < until_s, "a raylet did not join the cluster"
        time.sleep(0.1)
    return hosts


def _group_on(host: str) -> PlacementGroup:
    group: PlacementGroup = placement_group([{"CPU": 0.1, host: 0.1}])
    assert group.wait(60)
    return group


def _labels_come(
    telemetry: nta.Telemetry, watcher: PageWatcher, environment: Any
) -> dict[str, Any]:
    first_s = watcher.wait_for(dict.fromkeys(TRUE, "none"), 20.0)
    groups = {host: _group_on(host) for host in ("alpha", "beta")}
    for host, group in groups.items():
        telemetry.register_worker_group_placement(TRUE[host], [(group, 0)])
    registered_s = watcher.wait_for({**TRUE, "gamma": "none"}, 10.0)
    ray.get(environment.build.remote(2, "gamma"))
    # What the environment has flushed is committed; the next sweep shows it.
    built_s = watcher.wait_for(TRUE, 10.0)
    return {
        "first_s": first_s,
        "registered_s": registered_s,
        "built_s": built_s,
        "used": watcher.newest.used,
    }


def _cable_is_cut(host: NamespaceHost, watcher: PageWatcher, seconds: float) -> dict[str, Any]:
    others = {name: label for name, label in TRUE.items() if name != host.name}
    before = len(watcher.history)
    with host.cable_cut():
        gone_s = watcher.wait_for(others, 10.0)
        time.sleep(seconds)
        (row,) = (row for row in ray.get(find_actor().hosts.remote()) if row["host"] == host.name)
    back_s = watcher.wait_for(TRUE, 30.0)
    return {
        "gone_s": gone_s,
        "back_s": back_s,
        "state": row["state"],
        "problem": row["problem"],
        "groups_meanwhile": row["groups"][RUN],
        "history": watcher.history[before:],
    }


def main() -> None:
    _, beta, gamma = _start_cluster()
    with OtlpGrpcReceiver() as receiver:
        telemetry = nta.start(_config(receiver), run_id=RUN)
        environment = environment_on("gamma")  # lives as long as somebody holds it
        url = ray.get(find_actor().state.remote())["http_url"]
        with PageWatcher(f"{url}/metrics", RUN) as watcher:
            seen: dict[str, Any] = {
                "labels_come": _labels_come(telemetry, watcher, environment),
                "beta_is_cut": _cable_is_cut(beta, watcher, 2.0),
                # Longer than the lease of who vouches for the group there.
                "gamma_is_cut": _cable_is_cut(gamma, watcher, LEASE_S + 2.0),
            }
        committed_unix_nano = ray.get(environment.committed_unix_nano.remote())
        telemetry.shutdown()
        stop_actor(timeout_s=10.0)
        pushed = pushed_labels(receiver, RUN)
        labelled_unix_nano = first_pushed_unix_nano(receiver, TRUE["gamma"])
    seen["label_after_s"] = (labelled_unix_nano - committed_unix_nano) / 1e9
    seen["pulled"] = {
        "doubled": msgspec.to_builtins(watcher.doubled),
        "alpha": [labels.get("alpha") for labels in watcher.history],
    }
    seen["pushed"] = {
        "doubled": [each for host in pushed.values() for each in host if len(each) != 1],
        "history": {host: without_repeats(labels) for host, labels in pushed.items()},
        "points": {host: len(labels) for host, labels in pushed.items()},
    }
    sys.stdout.write(msgspec.json.encode(seen).decode() + "\n")


if __name__ == "__main__":
    main()
