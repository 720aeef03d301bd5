# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""An OTLP backend in a process of its own, that misbehaves and can be killed.

It writes a message down before it answers, so that "taken" has a meaning whatever happens next.
``python -m tests.e2e.chaos.receiver PROTOCOL PORT LOG SEED CALM``: it misbehaves unless `CALM`
exists.
"""

import os
import random
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias

import grpc
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)

from tests.e2e.chaos.model import TOTALS, Message, Point
from tests.receivers import (
    GrpcRefusal,
    HttpRefusal,
    OtlpGrpcReceiver,
    OtlpHttpReceiver,
    PartialSuccess,
    ScriptedAnswer,
    plain_attributes,
)

# What becomes of a message: taken; taken, but not answered in time; refused for good.
Fate: TypeAlias = Literal[b"T", b"U", b"R"]

_Way: TypeAlias = Callable[[ExportMetricsServiceRequest, float], ScriptedAnswer | None]

_LONGER_THAN_THE_EXPORTER_WAITS_S = 4.0
_TOO_LARGE = "Received message larger than max (5000000 vs. 4194304)"
_HTTP_STATUS = {
    grpc.StatusCode.UNAVAILABLE: 503,
    grpc.StatusCode.RESOURCE_EXHAUSTED: 429,
    grpc.StatusCode.INVALID_ARGUMENT: 400,
}
_HEADER = struct.Struct("<cII")
_POINTS_THAT_ARE_MANY = 60


class Moods:
    """Takes most messages, and treats each of the others as one backend or another would.

    Args:
        log: Where to write down what is taken.
        seed: What it does follows from this.
        calm: While this file exists it takes everything.
    """

    def __init__(self, log: Path, seed: str, calm: Path) -> None:
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._draw = random.Random(seed)
        self._calm = calm
        self._lock = threading.Lock()

    def treat(self, request: ExportMetricsServiceRequest) -> ScriptedAnswer | None:
        """Do something with a message, and return the answer in terms of gRPC."""
        with self._lock:
            ways = self._ways(*count_points(request))
            (way,) = self._draw.choices(list(ways), [weight for weight, _ in ways.values()])
            delay_s = self._draw.uniform(0.0, 0.02)
        if self._calm.exists():
            way = "take"
        return ways[way][1](request, delay_s)

    def _ways(self, once: int, totals: int) -> dict[str, tuple[int, _Way]]:
        """Return what may become of a message of so many points, each way with its weight."""
        unavailable, exhausted = grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED
        is_large = once + totals > _POINTS_THAT_ARE_MANY
        # What is refused or rejected is lost, which only points that come once can be judged by.
        is_of_its_time = once > 1 and not totals
        return {
            "take": (80, self._take_and_answer),
            "throttle": (3, _refuse(unavailable, "busy", 0.3)),
            "exhaust": (2, _refuse(exhausted, "quota", 0.5)),
            "fail": (1, _refuse(unavailable, "no upstream")),
            "find too large": (5 * is_large, _refuse(exhausted, _TOO_LARGE)),
            "hang": (2, _hang),
            "take and hang": (2, self._take_and_hang),
            "refuse for good": (is_of_its_time, self._refuse_for_good),
            "reject half": (3 * is_of_its_time, self._reject_half),
        }

    def _take_and_answer(
        self, request: ExportMetricsServiceRequest, delay_s: float
    ) -> ScriptedAnswer | None:
        self._write(b"T", 0, request)
        # As a network does; and a kill may come between what is written and the answer.
        time.sleep(delay_s)
        return None

    def _take_and_hang(
        self, request: ExportMetricsServiceRequest, delay_s: float
    ) -> ScriptedAnswer | None:
        self._write(b"U", 0, request)
        return _hang(request, delay_s)

    def _refuse_for_good(
        self, request: ExportMetricsServiceRequest, _: float
    ) -> ScriptedAnswer | None:
        self._write(b"R", 0, request)
        return GrpcRefusal(grpc.StatusCode.INVALID_ARGUMENT, "not this one")

    def _reject_half(
        self, request: ExportMetricsServiceRequest, delay_s: float
    ) -> ScriptedAnswer | None:
        once, _ = count_points(request)
        self._write(b"T", once // 2, request)
        time.sleep(delay_s)
        return PartialSuccess(once // 2, "too old")

    def _write(self, fate: Fate, rejected: int, request: ExportMetricsServiceRequest) -> None:
        body = request.SerializeToString()
        os.write(self._log, _HEADER.pack(fate, rejected, len(body)) + body)


class GrpcBackend(OtlpGrpcReceiver):
    """Answers over gRPC as its mood is."""

    def __init__(self, port: int, moods: Moods) -> None:
        super().__init__(port=port)
        self._moods = moods

    def _take(
        self, request: ExportMetricsServiceRequest, headers: dict[str, str]
    ) -> ScriptedAnswer | None:
        return self._moods.treat(request)


class HttpBackend(OtlpHttpReceiver):
    """Answers over HTTP as its mood is."""

    def __init__(self, port: int, moods: Moods) -> None:
        super().__init__(port=port)
        self._moods = moods

    def _take(
        self, request: ExportMetricsServiceRequest, headers: dict[str, str]
    ) -> ScriptedAnswer | None:
        answer = self._moods.treat(request)
        return _over_http(answer) if isinstance(answer, GrpcRefusal) else answer


def _over_http(refusal: GrpcRefusal) -> HttpRefusal:
    if refusal.message == _TOO_LARGE:
        return HttpRefusal(413)
    status = _HTTP_STATUS[refusal.code]
    # Whole seconds are all that the header can say.
    return HttpRefusal(status, {"Retry-After": "1"} if refusal.retry_delay_s else {})


def _refuse(code: grpc.StatusCode, why: str, retry_delay_s: float | None = None) -> _Way:
    return lambda _request, _delay_s: GrpcRefusal(code, why, retry_delay_s)


def _hang(_request: ExportMetricsServiceRequest, _: float) -> ScriptedAnswer | None:
    time.sleep(_LONGER_THAN_THE_EXPORTER_WAITS_S)
    return GrpcRefusal(grpc.StatusCode.UNAVAILABLE, "nobody hears this any more")


def count_points(request: ExportMetricsServiceRequest) -> tuple[int, int]:
    """Return how many points come once, and how many are totals."""
    once = totals = 0
    for metric, _ in _metrics(request):
        count = len(getattr(metric, metric.WhichOneof("data")).data_points)
        if metric.name in TOTALS:
            totals += count
        else:
            once += count
    return once, totals


def read_log(path: Path) -> Iterator[Message]:
    """Yield what one life of the receiver took or refused for good; a torn end is no message."""
    data = path.read_bytes()
    at = 0
    while at + _HEADER.size <= len(data):
        fate, rejected, size = _HEADER.unpack_from(data, at)
        at += _HEADER.size
        if at + size > len(data):
            return
        request = ExportMetricsServiceRequest.FromString(data[at : at + size])
        at += size
        yield message_of(request, fate, rejected)


def message_of(
    request: ExportMetricsServiceRequest, fate: bytes = b"T", rejected: int = 0
) -> Message:
    """Return a message as the model sees it."""
    return Message(list(_points(request)), rejected, fate == b"R", fate == b"U")


def _metrics(request: ExportMetricsServiceRequest) -> Iterator[tuple[Any, dict[str, Any]]]:
    for of_resource in request.resource_metrics:
        resource = plain_attributes(of_resource.resource.attributes)
        for of_scope in of_resource.scope_metrics:
            for metric in of_scope.metrics:
                yield metric, resource


def _points(request: ExportMetricsServiceRequest) -> Iterator[Point]:
    for metric, resource in _metrics(request):
        if not metric.name.startswith("chaos."):
            continue
        kind = metric.WhichOneof("data")
        for point in getattr(metric, kind).data_points:
            attributes = plain_attributes(point.attributes)
            yield Point(
                metric.name,
                resource["nemo.run.id"],
                resource["service.instance.id"],
                resource.get("rl.worker_group"),
                attributes["client"],
                attributes.get("stream", ""),
                point.start_time_unix_nano,
                point.time_unix_nano,
                (point.count, point.sum, tuple(point.bucket_counts))
                if kind == "histogram"
                else point.as_double,
            )


if __name__ == "__main__":
    _, protocol, port, log, seed, calm = sys.argv
    moods = Moods(Path(log), seed, Path(calm))
    backend = GrpcBackend(int(port), moods) if protocol == "grpc" else HttpBackend(int(port), moods)
    with backend:
        threading.Event().wait()
