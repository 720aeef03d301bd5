# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A fixed status source, and an HttpServer on a thread of its own."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from nemo_telemetry_actor.config import HttpConfig, PrometheusConfig
from nemo_telemetry_actor.model.instrument import Declaration
from nemo_telemetry_actor.model.points import (
    HistogramPoint,
    MetricData,
    NumberPoint,
    ResourceData,
    Snapshot,
)
from nemo_telemetry_actor.web.server import HttpServer

_START = 1_700_000_000_000_000_000
_NOW = _START + 60_000_000_000

STEPS = Declaration("rl.steps", "counter", "{step}", "Steps done.")
KL = Declaration("rl.kl.divergence", "gauge", "", 'KL, "as logged".')
OPEN = Declaration("rl.rollouts.open", "up_down_counter", "{rollout}", "Rollouts under way.")
SHARE = Declaration("rl.cache.use", "gauge", "1", "Share of the cache in use.")
SPEED = Declaration("rl.valid_tokens_per_second", "gauge", "{token}/s", "Tokens a second.")
BATCH = Declaration("rl.batch.duration", "histogram", "s", "Time of a batch.", (0.5, 2.0))
REWARD = Declaration("rl.reward", "histogram", "", "Rewards.", (-1.0, 0.0, 1.0))


def two_runs() -> Snapshot:
    """Return two runs; the first has two producers, each with its own counter and histogram."""
    return Snapshot(
        [
            ResourceData(
                {"nemo.run.id": "r1", "service.instance.id": "a:1", "nemo.model": "Qwen3-8B"},
                [
                    MetricData(STEPS, [_number(10)]),
                    MetricData(KL, [_number(0.5), _number(0.25, **{"rl.env": "math \\ code"})]),
                    MetricData(BATCH, [_histogram((1, 2, 1), 5.0)]),
                    MetricData(REWARD, [_histogram((0, 1, 2, 0), -0.5)]),
                ],
            ),
            ResourceData(
                {"nemo.run.id": "r1", "service.instance.id": "b:2", "nemo.model": "Qwen3-8B"},
                [
                    MetricData(STEPS, [_number(32)]),
                    MetricData(OPEN, [_number(3)]),
                    MetricData(BATCH, [_histogram((3, 0, 1), 7.0)]),
                ],
            ),
            ResourceData(
                {"nemo.run.id": "r2", "service.instance.id": "c:3", "nemo.model": "Llama"},
                [
                    MetricData(STEPS, [_number(7)]),
                    MetricData(SHARE, [_number(0.75)]),
                    MetricData(SPEED, [_number(1234.5)]),
                ],
            ),
        ]
    )


class FixedSource:
    """Always shows the same snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def pull_snapshot(self) -> Snapshot:
        return self._snapshot

    def state(self) -> dict[str, object]:
        return {}

    def health(self) -> str | None:
        return None


@contextmanager
def served(
    snapshot: Snapshot, *, prometheus: PrometheusConfig, token_file: str | None = None
) -> Iterator[HttpServer]:
    """Serve a snapshot on loopback while the context is open."""
    http = HttpConfig(port=0, token_file=token_file)
    server = HttpServer(FixedSource(snapshot), http, prometheus)
    server.bind()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.start(), loop).result(10)
        yield server
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(10)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


def _number(value: float, **attributes: str) -> NumberPoint:
    return NumberPoint(attributes, _START, _NOW, value)


def _histogram(counts: tuple[int, ...], total: float) -> HistogramPoint:
    return HistogramPoint({}, _START, _NOW, sum(counts), total, -1.0, 3.0, counts)
