# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The Ray actor: a thin shell over the core.

Remote methods take bytes and builtins, by keyword, so that a process with another version of this
package, or none, can call them.
"""

import asyncio
import logging
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import ray

from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.actor.durability import Durability
from nemo_telemetry_actor.actor.hosts import HostSources
from nemo_telemetry_actor.actor.loops import Commits, Loops
from nemo_telemetry_actor.client.identity import fresh_run_id, new_client_id
from nemo_telemetry_actor.config.fields import (
    ExportConfig,
    HostsConfig,
    HttpConfig,
    TelemetryConfig,
)
from nemo_telemetry_actor.config.transfer import decode_config, differences
from nemo_telemetry_actor.errors import ConfigError
from nemo_telemetry_actor.export.build import build_exporters
from nemo_telemetry_actor.placement.resolve import PlacementResolver
from nemo_telemetry_actor.scrape.fetch import PageFetcher
from nemo_telemetry_actor.scrape.ray_nodes import RayCluster
from nemo_telemetry_actor.scrape.scraper import HostScraper, ScrapeSettings
from nemo_telemetry_actor.web.server import HttpServer

_log = logging.getLogger("nemo_telemetry_actor")

_FILE_NAME: Final = "nemo_telemetry.jsonl"
# What is left when a configuration cannot be made to work: clients are answered, people can look.
_BARE: Final = TelemetryConfig(
    export=ExportConfig(prometheus=None, file=None), http=HttpConfig(port=0), hosts=None, state=None
)


class TelemetryActor:
    """One a cluster, named `nemo_telemetry` in the namespace `nemo_telemetry`.

    The constructor does not raise: an exception there would end a detached actor for good. What is
    wrong becomes a problem that `state` shows.

    Args:
        config: `encode_config` of the configuration.
    """

    def __init__(self, *, config: bytes) -> None:
        problems: list[str] = []
        try:
            self._compose(_readable(config, problems), problems)
        except Exception as error:  # noqa: BLE001 — becomes a problem that people see
            _log.exception("the telemetry actor cannot work as configured")
            problems.append(f"nothing is exported, the configuration does not work: {error!r}")
            self._compose(_BARE, problems)
        # Ray runs an async actor's constructor on the event loop that will run its methods.
        self._starting = asyncio.get_running_loop().create_task(self._start())

    def _compose(self, settings: TelemetryConfig, problems: list[str]) -> None:
        exporters = build_exporters(settings.export, default_file=_log_directory() / _FILE_NAME)
        hosts = settings.hosts
        self._fetcher = PageFetcher(timeout_s=hosts.timeout_s) if hosts is not None else None
        self._core = TelemetryCore(
            settings,
            exporters,
            time_ns=time.time_ns,
            monotonic=time.monotonic,
            incarnation=new_client_id(),
            fresh_run_id=fresh_run_id,
            hosts=_host_sources(hosts, self._fetcher),
            durability=_durability(settings),
        )
        self._core.report_itself()
        self._commits = Commits(self._core.commit)
        self._loops = Loops(self._core)
        self._server = HttpServer(self._core, settings.http, settings.export.prometheus)
        self._server.bind()
        if self._server.problem:
            problems.append(self._server.problem)
        self._core.problems = problems
        self._core.http_url = self._server.url

    def __repr__(self) -> str:
        """Say where to look: Ray shows this in its dashboard and before log lines."""
        return f"NemoTelemetry({self._core.http_url or 'no http'})"

    async def _start(self) -> None:
        self._loops.start()
        await self._server.start()

    async def welcome(self, *, hello: bytes) -> bytes:
        """Let a client in: `Hello` in, `Welcome` out."""
        return self._core.welcome(hello)

    async def ingest(self, *, payload: bytes) -> bytes:
        """Take a `Batch`; answers with an `Ack` once its effect is committed."""
        answer = self._core.ingest(payload)
        await self._commits.committed()
        return answer

    async def state(self) -> dict[str, Any]:
        """Return runs, clients, exporters, drops and problems, in builtins, without secrets."""
        return self._core.state()

    async def series(
        self, *, run_id: str | None = None, names: list[str] | None = None
    ) -> list[dict[str, Any]]:
        """Return the newest value of every series: of one run or all, and of named metrics."""
        return self._core.series(run_id, names)

    async def hosts(self) -> list[dict[str, Any]]:
        """Return the memory of every host and who sits there; empty while `hosts` is off."""
        return self._core.hosts()

    async def config_differences(self, *, config: bytes) -> list[str]:
        """Return how the configuration in force differs from another, without secrets."""
        return list(differences(self._core.config, decode_config(config)))

    async def drain(self, *, timeout_s: float) -> dict[str, Any]:
        """Deliver everything and release the exporters, before the actor is ended.

        Returns:
            `delivered`, `exporters` with the last state of each, and how many `clients` are left.
        """
        await self._starting
        self._core.problems.append(
            "ending: nothing is taken any more; `nemo-telemetry stop` ends it"
        )
        await self._loops.stop()
        delivered = await self._core.drain(timeout_s)
        if self._fetcher is not None:
            await self._fetcher.close()
        await self._server.stop()
        return delivered


def _readable(config: bytes, problems: list[str]) -> TelemetryConfig:
    try:
        return decode_config(config)
    except ConfigError as error:
        problems.append(f"the configuration cannot be read, defaults are in force: {error}")
        return TelemetryConfig()


def _host_sources(hosts: HostsConfig | None, fetcher: PageFetcher | None) -> HostSources | None:
    if hosts is None or fetcher is None:
        return None
    settings = ScrapeSettings(
        interval_s=hosts.interval_s,
        timeout_s=hosts.timeout_s,
        source=hosts.source,
        via=hosts.via,
        components=hosts.components,
    )
    scraper = HostScraper(RayCluster(), fetcher, settings)
    return HostSources(scraper, PlacementResolver().resolve)


def _durability(settings: TelemetryConfig) -> Durability:
    state = settings.state
    path = None
    if state is not None:
        path = session_directory() / "nemo_telemetry" / "state.sqlite"
        path = path if state.path is None else Path(state.path).expanduser()
    return Durability(path, monotonic=time.monotonic, time_unix_nano=time.time_ns())


def session_directory() -> Path:
    """Return Ray's session directory on this machine; the same after a restart of the actor."""
    node = getattr(ray._private.worker, "_global_node", None)  # there is no public way
    path = node.get_session_dir_path() if node is not None else None
    return Path(path or tempfile.gettempdir())


def _log_directory() -> Path:
    """Return Ray's log directory on this machine, so that the file is seen in the dashboard."""
    node = getattr(ray._private.worker, "_global_node", None)  # there is no public way
    path = node.get_logs_dir_path() if node is not None else None
    return Path(path or Path(tempfile.gettempdir()) / "nemo_telemetry")
