# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A driver with a Ray of its own, three raylets on this machine; tells what it saw as JSON.

It lives in a process of its own, since one process has one Ray.
"""

import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import ray
from ray.cluster_utils import Cluster

import nemo_telemetry_actor as nta
from nemo_telemetry_actor.actor.lifecycle import find_actor, stop_actor
from tests.host_watch import (
    PageWatcher,
    environment_on,
    pushed_labels,
    without_repeats,
)
from tests.receivers import OtlpGrpcReceiver

INTERVAL_S = 1.0
LEASE_S = 3.0
TIMEOUT_S = 0.4
HOST = socket.gethostname()
RUN = "one-machine"


def _config(receiver: OtlpGrpcReceiver) -> dict[str, Any]:
    return {
        "http": {"port": 0},
        "hosts": {"interval_s": INTERVAL_S, "timeout_s": TIMEOUT_S},
        "client": {"flush_interval_s": 0.5, "observe_interval_s": 1.0},
        "limits": {"lease_s": LEASE_S},
        "export": {
            "interval_s": INTERVAL_S,
            "file": None,
            "otlp": {"endpoint": f"http://{receiver.endpoint}"},
        },
    }


def _nodes() -> list[dict[str, Any]]:
    return [row for row in ray.nodes() if row["Alive"]]  # type: ignore[no-untyped-call]


def _host() -> dict[str, Any]:
    (host,) = ray.get(find_actor().hosts.remote())
    return dict(host)


def _until(condition: Callable[[], bool], timeout_s: float) -> bool:
    until_s = time.monotonic() + timeout_s
    while time.monotonic() < until_s:
        if condition():
            return True
        time.sleep(0.05)
    return False


class Story:
    """What happens, one method a chapter; each returns what it saw."""

    def __init__(
        self, cluster: Cluster, nodes: list[Any], telemetry: nta.Telemetry, watcher: PageWatcher
    ) -> None:
        self.cluster = cluster
        self.nodes = nodes
        self.telemetry = telemetry
        self.watcher = watcher

    def begins(self) -> dict[str, Any]:
        seconds = self.watcher.wait_for({HOST: "none"}, 10.0)
        host = _host()
        return {"first_s": seconds, "raylets": host["raylets"], "nodes": len(host["node_ids"])}

    def labels_change(self) -> list[float]:
        """Groups on two raylets come and go: `a`, `a,b`, `b`, and none."""
        head, second = (node.node_id for node in self.nodes[:2])
        course: list[tuple[str, Callable[[], None]]] = [
            ("a", lambda: self.telemetry.register_worker_group_nodes("a", [second])),
            ("a,b", lambda: self.telemetry.register_worker_group_nodes("b", [head])),
            ("b", lambda: self.telemetry.forget_worker_group_nodes("a")),
            ("none", lambda: self.telemetry.forget_worker_group_nodes("b")),
        ]
        seconds = []
        for label, change in course:
            change()
            seconds.append(self.watcher.wait_for({HOST: label}, 10.0))
        return seconds

    def environment_builds_and_is_killed(self) -> dict[str, Any]:
        environment = environment_on("second")
        pid = ray.get(environment.pid.remote())
        building = environment.build.remote(2, "second")
        labelled_s = self.watcher.wait_for({HOST: "reward_model_policy"}, 30.0)
        where = ray.get(building)
        self.telemetry.flush(20.0)
        _until(lambda: len(self._resident()) >= 4, 10.0)
        resident = self._resident()
        os.kill(pid, signal.SIGKILL)
        ended_s = self.watcher.wait_for({HOST: "none"}, LEASE_S + 10.0)
        return {
            "labelled_s": labelled_s,
            "ended_s": ended_s,
            "is_on_second": set(where) == {self.nodes[1].node_id},
            "resident": resident,
        }

    def _resident(self) -> list[Any]:
        rows = ray.get(find_actor().series.remote(names=["rl.process.memory.rss"]))
        return sorted([row["worker_group"] or "", row["rank"], row["value"]] for row in rows)

    def pages_hang(self) -> dict[str, Any]:
        """Each raylet's page hangs for a while: the first one that is asked is among them."""
        problems = []
        for row in _nodes():
            with _stopped(_listener(row["MetricsExportPort"])):
                begun = ray.get(find_actor().state.remote())["hosts"]["cycles"]
                _until(lambda begun=begun: _cycles() >= begun + 3, 15.0)  # type: ignore[misc]
                host = _host()
                problems.append([host["state"], host["problem"]])
        return {"seen": problems, "labels": self.watcher.newest.labels}

    def raylet_is_killed(self) -> dict[str, Any]:
        """What sat on it is gone when Ray has noticed; its page is refused at once."""
        node = self.nodes[1]
        self.telemetry.register_worker_group_nodes("lost", [node.node_id])
        self.watcher.wait_for({HOST: "lost"}, 10.0)
        (raylet,) = node.all_processes["raylet"]
        os.kill(raylet.process.pid, signal.SIGKILL)
        seconds = self.watcher.wait_for({HOST: "none"}, 45.0)
        self.telemetry.forget_worker_group_nodes("lost")
        return {"seconds": seconds, "raylets": _host()["raylets"]}

    def node_is_removed(self) -> dict[str, Any]:
        node = self.nodes[2]
        self.telemetry.register_worker_group_nodes("stays", [self.nodes[0].node_id])
        self.telemetry.register_worker_group_nodes("goes", [node.node_id])
        self.watcher.wait_for({HOST: "goes,stays"}, 10.0)
        self.cluster.remove_node(node)
        seconds = self.watcher.wait_for({HOST: "stays"}, 10.0)
        return {"seconds": seconds, "raylets": _host()["raylets"]}

    def ends(self) -> float:
        """The driver says goodbye: its run has no hosts any more."""
        self.telemetry.shutdown()
        return self.watcher.wait_for({}, 10.0)


def _cycles() -> int:
    return int(ray.get(find_actor().state.remote())["hosts"]["cycles"])


def _listener(port: int) -> Any:
    """The process that serves a raylet's page: its agent."""
    import psutil  # type: ignore[import-untyped]  # Ray brings it, and is to be imported first

    for process in psutil.Process().children(recursive=True):
        for connection in process.net_connections("tcp"):
            if connection.status == psutil.CONN_LISTEN and connection.laddr.port == port:
                return process
    raise LookupError(f"nobody listens on {port}")


@contextmanager
def _stopped(process: Any) -> Iterator[None]:
    process.suspend()
    try:
        yield
    finally:
        process.resume()


def main() -> None:
    cluster = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 2, "include_dashboard": False, "resources": {"head": 1}},
    )
    try:
        with OtlpGrpcReceiver() as receiver:
            nodes = [
                cluster.head_node,
                cluster.add_node(num_cpus=2, resources={"second": 1}),
                cluster.add_node(num_cpus=1),
            ]
            ray.init(address=cluster.address, log_to_driver=False, configure_logging=False)
            telemetry = nta.start(_config(receiver), run_id=RUN)
            url = ray.get(find_actor().state.remote())["http_url"]
            with PageWatcher(f"{url}/metrics", RUN) as watcher:
                story = Story(cluster, nodes, telemetry, watcher)
                seen: dict[str, Any] = {
                    chapter.__name__: chapter()
                    for chapter in (
                        story.begins,
                        story.labels_change,
                        story.environment_builds_and_is_killed,
                        story.pages_hang,
                        story.raylet_is_killed,
                        story.node_is_removed,
                        story.ends,
                    )
                }
            stop_actor(timeout_s=10.0)
            pushed = pushed_labels(receiver, RUN)
            rss = [point.resource for point in receiver.points("rl.process.memory.rss")]
            seen["pulled"] = {
                "history": watcher.history,
                "doubled": msgspec.to_builtins(watcher.doubled),
                "scrapes": watcher.scrapes,
            }
            seen["pushed"] = {
                "hosts": list(pushed),
                "doubled": [each for each in pushed[HOST] if len(each) != 1],
                "history": without_repeats(pushed[HOST]),
                "points": len(pushed[HOST]),
            }
            seen["rss_resources"] = sorted(
                {(r.get("rl.worker_group", ""), r.get("nv.dl.rank", -1)) for r in rss}
            )
    finally:
        ray.shutdown()
        cluster.shutdown()  # type: ignore[no-untyped-call]  # as Ray has it
    sys.stdout.write(msgspec.json.encode(seen).decode() + "\n")


if __name__ == "__main__":
    main()
