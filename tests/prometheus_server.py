# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus server for tests: scrapes what it is told, answers PromQL.

::

    with PrometheusServer(tmp_path, ["127.0.0.1:9464"]) as prometheus:
        prometheus.wait_for('rl_kl{nemo_run_id="r1"}')   # [Sample(labels={...}, value=1.5)]
"""

import json
import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode
from urllib.request import urlopen

import msgspec
import pytest

_POLL_S = 0.1
_LISTENING = re.compile(r'msg="Listening on" address=(\S+)')
_READY = "Server is ready to receive web requests"


class Sample(msgspec.Struct, frozen=True):
    """One element of an instant query's result; `labels` has `__name__` where there is one."""

    labels: dict[str, str]
    value: float


def require_tool(name: str) -> str:
    """Return the path of a Prometheus program; without it skip the test, or fail it in CI."""
    path = shutil.which(name)
    if path is not None:
        return path
    missing = f"{name} is not installed (Debian: apt install prometheus)"
    if os.environ.get("CI") == "true":
        pytest.fail(missing)
    pytest.skip(missing)


class PrometheusServer:
    """Runs `prometheus` on a free loopback port while the context is open.

    Args:
        directory: An empty directory for its configuration and data.
        targets: `host:port` of what it scrapes, at `/metrics`.
        scrape_interval_s: Seconds between two scrapes.
        token_file: A file with the bearer token that the targets want.
        timeout_s: Seconds for the server to get ready, and for each `wait_for`.
    """

    def __init__(
        self,
        directory: Path,
        targets: Sequence[str],
        *,
        scrape_interval_s: float = 0.25,
        token_file: Path | None = None,
        timeout_s: float = 20.0,
    ) -> None:
        self._directory = directory
        self._config = _config(targets, scrape_interval_s, token_file)
        self._timeout_s = timeout_s
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None
        self._ready = threading.Event()
        self._log: list[str] = []
        self._address = ""

    @property
    def url(self) -> str:
        """Where it listens, without a path; empty until it does."""
        return f"http://{self._address}" if self._address else ""

    def __enter__(self) -> Self:
        binary = require_tool("prometheus")
        config = self._directory / "prometheus.yml"
        config.write_text(json.dumps(self._config))  # JSON is YAML
        self._process = subprocess.Popen(
            [
                binary,
                f"--config.file={config}",
                f"--storage.tsdb.path={self._directory / 'data'}",
                "--web.listen-address=127.0.0.1:0",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()
        self._ready.wait(self._timeout_s)
        if not self._log or _READY not in self._log[-1] or not self._address:
            self._stop()
            raise AssertionError("prometheus is not ready:\n" + "".join(self._log))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def query(self, promql: str) -> list[Sample]:
        """Return the result of an instant query for a vector, as it is now."""
        result = self._get("/api/v1/query", {"query": promql})["result"]
        return [Sample(entry["metric"], float(entry["value"][1])) for entry in result]

    def wait_for(self, promql: str) -> list[Sample]:
        """Return the result of an instant query as soon as it is not empty.

        Raises:
            AssertionError: It stayed empty for `timeout_s`; the message has the targets' errors.
        """
        deadline = time.monotonic() + self._timeout_s
        pause = threading.Event()
        while not (samples := self.query(promql)):
            if time.monotonic() > deadline:
                errors = [target["lastError"] for target in self.targets()]
                raise AssertionError(f"no result for {promql!r}; scrape errors: {errors}")
            pause.wait(_POLL_S)
        return samples

    def targets(self) -> list[dict[str, Any]]:
        """Return what it knows of its targets: `health`, `lastError` and more."""
        found: list[dict[str, Any]] = self._get("/api/v1/targets", {})["activeTargets"]
        return found

    def _get(self, path: str, query: Mapping[str, str]) -> Any:
        with urlopen(f"{self.url}{path}?{urlencode(query)}", timeout=self._timeout_s) as answer:
            return json.load(answer)["data"]

    def _read_log(self) -> None:
        assert self._process is not None
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if self._ready.is_set():
                continue  # read on, so that the pipe never fills and stops the server
            self._log.append(line)
            if match := _LISTENING.search(line):
                self._address = match[1]
            if _READY in line:
                self._ready.set()
        self._ready.set()

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if self._reader is not None:
            self._reader.join()
        if process.stderr is not None:
            process.stderr.close()


def _config(
    targets: Sequence[str], scrape_interval_s: float, token_file: Path | None
) -> dict[str, Any]:
    interval = f"{round(scrape_interval_s * 1000)}ms"
    job: dict[str, Any] = {
        "job_name": "nemo",
        "scrape_interval": interval,
        "scrape_timeout": interval,
        "static_configs": [{"targets": list(targets)}],
    }
    if token_file is not None:
        job["authorization"] = {"credentials_file": str(token_file)}
    return {"scrape_configs": [job]}
