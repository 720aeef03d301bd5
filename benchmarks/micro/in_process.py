# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A `Telemetry` and OpenTelemetry SDK instruments in this process, without Ray.

The core that the actor wraps answers the client's batches in place, on the flush thread.
"""

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from opentelemetry.metrics import Meter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from pytest_benchmark.fixture import BenchmarkFixture

from nemo_telemetry_actor import MetricSpec, Telemetry
from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.catalogue.vocabulary import Vocabulary
from nemo_telemetry_actor.client.membership import Membership
from nemo_telemetry_actor.client.transport import OnDone
from nemo_telemetry_actor.config.fields import TelemetryConfig
from nemo_telemetry_actor.errors import ActorUnavailableError

GAUGE = MetricSpec("gauge", "bench.gauge")
COUNTER = MetricSpec("counter", "bench.counter", "counter")
HISTOGRAM = MetricSpec("histogram", "bench.histogram", "histogram")
TEN = tuple(MetricSpec(f"gauge_{i}", f"bench.gauge_{i}") for i in range(10))
GROUP = "bench"

ONE_ATTRIBUTE = {"rl.env": "math"}
FOUR_ATTRIBUTES = {
    "rl.env": "math",
    "rl.split": "train",
    "rl.difficulty": "hard",
    "rl.source": "competition",
}


class CoreInProcess:
    """Hands batches to a core in the same process and answers at once."""

    def __init__(self, core: TelemetryCore) -> None:
        self._core = core

    def welcome(self, hello: bytes, timeout_s: float) -> bytes:
        return self._core.welcome(hello)

    def ingest(self, payload: bytes, on_done: OnDone) -> None:
        answer = self._core.ingest(payload)
        self._core.commit()
        on_done(answer, None)

    def reset(self) -> None:
        """Nothing to forget: the core does not move."""


class Starved:
    """Holds the flush thread in its first call, as if it never got the processor."""

    def __init__(self) -> None:
        self.release = threading.Event()

    def welcome(self, hello: bytes, timeout_s: float) -> bytes:
        self.release.wait()
        raise ActorUnavailableError("the benchmark is over")

    def ingest(self, payload: bytes, on_done: OnDone) -> None:
        raise ActorUnavailableError("the benchmark has no actor")

    def reset(self) -> None:
        """Nothing to forget."""


def in_process_core() -> TelemetryCore:
    """Return the actor's core with the default configuration and no exporter."""
    return TelemetryCore(
        TelemetryConfig(),
        (),
        time_ns=time.time_ns,
        monotonic=time.monotonic,
        incarnation="bench",
        fresh_run_id=lambda: secrets.token_hex(6),
    )


@contextmanager
def telemetry_in_process(vocabulary: Vocabulary | None = None) -> Iterator[Telemetry]:
    """Yield a client that has joined, with every metric of this module declared."""
    telemetry = Telemetry(Membership(), CoreInProcess(in_process_core()), vocabulary=vocabulary)
    telemetry.register_metric_group(GROUP, [GAUGE, COUNTER, HISTOGRAM, *TEN])
    drained(telemetry)
    yield telemetry
    telemetry.shutdown()


@contextmanager
def starved_telemetry() -> Iterator[Telemetry]:
    """Yield a client whose flush thread does nothing, so that its buffer runs full."""
    transport = Starved()
    telemetry = Telemetry(Membership(), transport)
    telemetry.register_metric_group(GROUP, [GAUGE, COUNTER, HISTOGRAM, *TEN])
    yield telemetry
    transport.release.set()
    telemetry.shutdown(timeout_s=0.1)


def measure(
    benchmark: BenchmarkFixture,
    work: Callable[..., object],
    *args: object,
    rounds: int,
    warmup_rounds: int = 0,
    setup: Callable[[], None] | None = None,
) -> Any:
    """Run `work` once a round, after `setup`; return what its last round returned."""
    pedantic: Callable[..., Any] = benchmark.pedantic
    return pedantic(work, args=args, setup=setup, rounds=rounds, warmup_rounds=warmup_rounds)


def drained(telemetry: Telemetry) -> None:
    """Wait until the client holds nothing: `record` is then measured in its normal state."""
    if not telemetry.flush(timeout_s=30.0):
        raise RuntimeError("the in-process core did not take everything within 30 s")


@contextmanager
def sdk_meter() -> Iterator[tuple[Meter, InMemoryMetricReader]]:
    """Yield a meter of the OpenTelemetry SDK, and the reader that collects from it."""
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    yield provider.get_meter("bench"), reader
    provider.shutdown()


def collected(reader: InMemoryMetricReader) -> None:
    """Collect from the SDK's instruments once, as an export would."""
    if reader.get_metrics_data() is None:
        raise RuntimeError("the SDK collected nothing")


def sdk_call(meter: Meter, kind: str, name: str) -> Callable[..., None]:
    """Return the method that sets, adds to or records into a new instrument."""
    make: dict[str, Callable[[], Any]] = {
        "gauge": lambda: meter.create_gauge(name).set,
        "counter": lambda: meter.create_counter(name).add,
        "histogram": lambda: meter.create_histogram(name).record,
    }
    method: Callable[..., None] = make[kind]()
    return method
