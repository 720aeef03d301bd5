# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The scraper reads the Ray that runs, from inside an actor, by its pages and by its dashboard."""

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import psutil  # type: ignore[import-untyped]
import pytest
import ray
from ray._private.utils import get_used_memory

from nemo_telemetry_actor.scrape.fetch import PageFetcher
from nemo_telemetry_actor.scrape.memory import MemorySource
from nemo_telemetry_actor.scrape.ray_nodes import RayCluster, auth_headers
from nemo_telemetry_actor.scrape.scraper import HostScraper, ScrapeSettings
from nemo_telemetry_actor.scrape.way import Via

pytestmark = pytest.mark.timeout(120)

GIB = 2**30

# A driver with a Ray of its own, whose dashboard wants a token.
WITH_DASHBOARD = """
import sys, msgspec, ray
from tests.integration.ray.test_scrape import Reader

ray.init(address="local", include_dashboard=True, dashboard_port=int(sys.argv[1]), num_cpus=2,
         log_to_driver=False, configure_logging=False)
reader = ray.remote(Reader).options(num_cpus=0).remote()
print(msgspec.json.encode(ray.get(reader.compare.remote())).decode())
ray.shutdown()
"""


class Reader:
    """Reads hosts where the telemetry actor would: on the loop of an async actor."""

    async def read(
        self, via: Via = "raylet", source: MemorySource = "node", components: tuple[str, ...] = ()
    ) -> list[dict[str, Any]]:
        """Cycle until there is a sample with these components, or for half a minute."""
        fetcher = PageFetcher(timeout_s=5.0)
        settings = ScrapeSettings(via=via, source=source, components=bool(components))
        scraper = HostScraper(RayCluster(), fetcher, settings)
        for _ in range(60):
            await scraper.run_once()
            if scraper.samples and set(components) <= set(scraper.samples[0].components):
                break
            await asyncio.sleep(0.5)  # Ray's parts report every five seconds, each for itself
        await fetcher.close()
        return [msgspec.to_builtins(host) for host in scraper.hosts]

    async def compare(self) -> dict[str, Any]:
        """Read both ways until they are of one report."""
        pairs: dict[str, Any] = {}
        sources: tuple[MemorySource, ...] = ("node", "host")
        for source in sources:
            for _ in range(20):
                either = [
                    [(h["host_name"], h["node_ids"], h["used"], h["total"], h["source"])
                     for h in await self.read(via, source)]
                    for via in ("raylet", "dashboard")
                ]  # fmt: skip
                pairs[source] = either
                if either[0] == either[1] and either[0][0][2] is not None:
                    break
                await asyncio.sleep(0.5)
        return {"pairs": pairs, "url": await RayCluster().dashboard_url()}

    async def dashboard_url(self) -> str | None:
        return await RayCluster().dashboard_url()


def _used_memory() -> float:
    """What this process sees of the container or the machine, by Ray's own rules."""
    return float(get_used_memory())  # type: ignore[no-untyped-call]


@pytest.fixture
def reader(cluster: str) -> Any:
    return ray.remote(Reader).options(num_cpus=0).remote()


def test_the_page_of_the_running_ray_says_what_the_machine_says(reader: Any) -> None:
    (host,) = ray.get(reader.read.remote())

    (node,) = ray.nodes()  # type: ignore[no-untyped-call]
    assert (host["host_name"], host["node_ids"]) == (socket.gethostname(), (node["NodeID"],))
    assert (host["state"], host["source"], host["problem"]) == ("fresh", "node", "")
    assert host["used"] == pytest.approx(_used_memory(), abs=GIB)
    assert 0 < host["used"] < host["total"] <= psutil.virtual_memory().total


def test_the_machines_own_memory_is_preferred_on_wish(reader: Any) -> None:
    (host,) = ray.get(reader.read.remote(source="host"))

    if host["source"] == "node":
        pytest.skip(f"Ray {ray.__version__} does not report the machine's own memory")
    assert host["total"] == psutil.virtual_memory().total
    assert host["used"] == pytest.approx(psutil.virtual_memory().used, abs=GIB)


def test_the_running_rays_processes_have_components(reader: Any) -> None:
    wanted = ("raylet", "agents", "object_store", "Reader")
    (host,) = ray.get(reader.read.remote(components=wanted))

    assert set(wanted) <= set(host["components"])
    assert all(0 <= value < 4 * GIB for value in host["components"].values())


def test_a_ray_without_a_dashboard_says_so(reader: Any) -> None:
    assert ray.get(reader.dashboard_url.remote()) is None


def test_pages_and_dashboard_yield_the_same_values_and_the_token_is_found(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("0123456789abcdef" * 4 + "\n", encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environ = {
        **os.environ,
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(token),
        "RAY_USAGE_STATS_ENABLED": "0",
        "PYTHONPATH": str(Path(__file__).parents[3]),
    }
    environ.pop("RAY_ADDRESS", None)

    done = subprocess.run(
        [sys.executable, "-c", WITH_DASHBOARD, str(port)],
        env=environ, capture_output=True, text=True, timeout=110, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    found = msgspec.json.decode(done.stdout.splitlines()[-1])
    assert found["url"] == f"127.0.0.1:{port}"
    for pages, dashboard in found["pairs"].values():
        assert pages == dashboard
        assert pages[0][2] is not None


@pytest.mark.parametrize("from_file", [False, True])
def test_rays_token_is_taken_from_where_ray_documents_it(tmp_path: Path, from_file: bool) -> None:
    path = tmp_path / "token"
    path.write_text("abc\n", encoding="utf-8")
    where = {"RAY_AUTH_TOKEN_PATH": str(path)} if from_file else {"RAY_AUTH_TOKEN": " abc "}

    assert auth_headers({"RAY_AUTH_MODE": "token", **where}) == {"Authorization": "Bearer abc"}
