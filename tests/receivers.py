# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Real OTLP receivers on loopback that keep what they get and answer as a test scripts it.

They run on threads of their own, so they serve any event loop, any process and plain code::

    with OtlpGrpcReceiver() as receiver:
        receiver.script(PartialSuccess(3, "too old"), Hang())
        ...  # send to receiver.endpoint
        assert len(receiver.points("rl.reward")) == 500
"""

import gzip
import ssl
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent import futures
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

import grpc
import msgspec
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2_grpc import (
    MetricsServiceServicer,
    add_MetricsServiceServicer_to_server,
)

_HANG_LIMIT_S = 60.0


class PartialSuccess(msgspec.Struct, frozen=True):
    """Takes the message, refuses some of its points."""

    rejected: int
    message: str = ""


class GrpcRefusal(msgspec.Struct, frozen=True):
    """Refuses a gRPC call, with a `RetryInfo` when a delay is given."""

    code: grpc.StatusCode
    message: str = ""
    retry_delay_s: float | None = None


class HttpRefusal(msgspec.Struct, frozen=True):
    """Answers an HTTP request with these bytes."""

    status: int
    headers: Mapping[str, str] = {}
    body: bytes = b""


class Hang(msgspec.Struct, frozen=True):
    """Takes the message and never answers."""


ScriptedAnswer: TypeAlias = PartialSuccess | GrpcRefusal | HttpRefusal | Hang


class ReceivedPoint(msgspec.Struct, frozen=True):
    """One data point as it arrived; `value` is `None` for a histogram, whose `data` has all."""

    resource: dict[str, Any]
    attributes: dict[str, Any]
    start_time_unix_nano: int
    time_unix_nano: int
    value: float | None
    data: Any


class Tls(msgspec.Struct, frozen=True):
    """Key and certificate as PEM files; a server with `client_ca` wants a client's as well."""

    key: Path
    certificate: Path
    client_ca: Path | None = None


class _Receiver:
    """What both protocols share: requests and their headers in order, and the script."""

    def __init__(self) -> None:
        self.requests: list[ExportMetricsServiceRequest] = []
        self.headers: list[dict[str, str]] = []
        self._arrived = threading.Condition()
        self._answers: deque[ScriptedAnswer] = deque()
        self._ending = threading.Event()

    def script(self, *answers: ScriptedAnswer) -> None:
        """Answer the next requests so, one each; after these everything is taken."""
        self._answers.extend(answers)

    @property
    def is_stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._ending.is_set()

    def points(self, name: str) -> list[ReceivedPoint]:
        """Return the points of a metric in order of arrival."""
        return list(points_of(tuple(self.requests), name))

    def wait_for_points(self, name: str, count: int, timeout_s: float = 10.0) -> bool:
        """Block until this many points of a metric have come; tell whether they did."""
        with self._arrived:
            return self._arrived.wait_for(lambda: len(self.points(name)) >= count, timeout_s)

    def _take(
        self, request: ExportMetricsServiceRequest, headers: dict[str, str]
    ) -> ScriptedAnswer | None:
        with self._arrived:
            self.requests.append(request)
            self.headers.append(headers)
            self._arrived.notify_all()
            return self._answers.popleft() if self._answers else None


class OtlpGrpcReceiver(_Receiver):
    """An OTLP/gRPC server; `endpoint` is `host:port` of a free port on loopback."""

    def __init__(
        self, *, tls: Tls | None = None, max_message_bytes: int = -1, port: int = 0
    ) -> None:
        super().__init__()
        self._server = grpc.server(
            futures.ThreadPoolExecutor(4),
            options=[("grpc.max_receive_message_length", max_message_bytes)],
        )
        add_MetricsServiceServicer_to_server(_Servicer(self), self._server)  # type: ignore[no-untyped-call]
        if tls is None:
            self.port = self._server.add_insecure_port(f"127.0.0.1:{port}")
        else:
            self.port = self._server.add_secure_port(f"127.0.0.1:{port}", _grpc_tls(tls))
        self.endpoint = f"127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Close the port and every connection; a second call does nothing."""
        self._ending.set()
        self._server.stop(grace=None).wait()

    def answer(self, request: ExportMetricsServiceRequest, context: Any) -> Any:
        """Serve one call."""
        headers = dict(context.invocation_metadata())
        match self._take(request, headers):
            case PartialSuccess() as partial:
                return _response(partial)
            case GrpcRefusal() as refusal:
                _refuse(refusal, context)
            case Hang():
                self._ending.wait(_HANG_LIMIT_S)
            case HttpRefusal() as refusal:
                raise TypeError(f"{refusal} cannot be said over gRPC")
            case None:
                pass
        return ExportMetricsServiceResponse()


class _Servicer(MetricsServiceServicer):
    def __init__(self, receiver: OtlpGrpcReceiver) -> None:
        self._receiver = receiver

    def Export(self, request: ExportMetricsServiceRequest, context: Any) -> Any:  # noqa: N802  # gRPC's name
        return self._receiver.answer(request, context)


class OtlpHttpReceiver(_Receiver):
    """An OTLP/HTTP server; `endpoint` is the full URL of a free port on loopback."""

    def __init__(
        self, *, tls: Tls | None = None, max_message_bytes: int | None = None, port: int = 0
    ) -> None:
        super().__init__()
        self.paths: list[str] = []
        self.max_message_bytes = max_message_bytes
        self._server = _HttpServer(("127.0.0.1", port), self)
        scheme = "http"
        if tls is not None:
            scheme = "https"
            context = _http_tls(tls)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_port
        self.endpoint = f"{scheme}://127.0.0.1:{self.port}/v1/metrics"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Close the port; a connection that is still open takes no further request."""
        self._ending.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str, headers: dict[str, str], body: bytes) -> HttpRefusal:
        """Serve one request."""
        self.paths.append(path)
        if headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        response = ExportMetricsServiceResponse()
        match self._take(ExportMetricsServiceRequest.FromString(body), headers):
            case HttpRefusal() as refusal:
                return refusal
            case PartialSuccess() as partial:
                response = _response(partial)
            case Hang():
                self._ending.wait(_HANG_LIMIT_S)
            case GrpcRefusal() as refusal:
                raise TypeError(f"{refusal} cannot be said over HTTP")
            case None:
                pass
        protobuf = {"Content-Type": "application/x-protobuf"}
        return HttpRefusal(200, protobuf, response.SerializeToString())


def _grpc_tls(tls: Tls) -> Any:
    pair = (tls.key.read_bytes(), tls.certificate.read_bytes())
    if tls.client_ca is None:
        return grpc.ssl_server_credentials([pair])
    return grpc.ssl_server_credentials([pair], tls.client_ca.read_bytes(), True)


def _http_tls(tls: Tls) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls.certificate, tls.key)
    if tls.client_ca is not None:
        context.load_verify_locations(tls.client_ca)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


class _HttpServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], receiver: OtlpHttpReceiver) -> None:
        super().__init__(address, _Handler)
        self.receiver = receiver


class _Handler(BaseHTTPRequestHandler):
    server: _HttpServer
    protocol_version = "HTTP/1.1"
    # Headers and body leave in two writes; Nagle would hold the second for 40 ms.
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        receiver = self.server.receiver
        if receiver.is_stopped:
            self.close_connection = True
            return
        length = int(self.headers.get("Content-Length") or 0)
        limit = receiver.max_message_bytes
        if limit is not None and length > limit:
            # As proxies do: refuse by the length alone, without reading the body.
            self.close_connection = True
            self._send(HttpRefusal(413, {"Connection": "close"}))
            return
        headers = {key.lower(): value for key, value in self.headers.items()}
        body = self._body(length)
        self._send(receiver.answer(self.path, headers, body))

    def _body(self, length: int) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(length)
        body = bytearray()
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return bytes(body)

    def _send(self, answer: HttpRefusal) -> None:
        try:
            self.send_response(answer.status)
            for key, value in answer.headers.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)
        except ConnectionError:  # a sender that gave up on a hanging answer
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # http.server's name
        """Say nothing: a test's output is its own."""


def points_of(
    requests: Iterable[ExportMetricsServiceRequest], name: str
) -> Iterator[ReceivedPoint]:
    """Yield the points of a metric in requests, in order."""
    for request in requests:
        for resource_metrics in request.resource_metrics:
            resource = plain_attributes(resource_metrics.resource.attributes)
            for scope_metrics in resource_metrics.scope_metrics:
                for metric in scope_metrics.metrics:
                    if metric.name == name:
                        yield from _points(metric, resource)


def plain_attributes(pairs: Iterable[Any]) -> dict[str, Any]:
    """Return OTLP attributes as a plain dict."""
    return {pair.key: _plain(pair.value) for pair in pairs}


def _points(metric: Any, resource: dict[str, Any]) -> Iterator[ReceivedPoint]:
    kind = metric.WhichOneof("data")
    for point in getattr(metric, kind).data_points:
        yield ReceivedPoint(
            resource=resource,
            attributes=plain_attributes(point.attributes),
            start_time_unix_nano=point.start_time_unix_nano,
            time_unix_nano=point.time_unix_nano,
            value=None if kind == "histogram" else getattr(point, point.WhichOneof("value")),
            data=point,
        )


def _plain(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return [_plain(item) for item in value.array_value.values]
    return getattr(value, kind)


def _response(partial: PartialSuccess) -> ExportMetricsServiceResponse:
    response = ExportMetricsServiceResponse()
    response.partial_success.rejected_data_points = partial.rejected
    response.partial_success.error_message = partial.message
    return response


def _refuse(refusal: GrpcRefusal, context: Any) -> None:
    if refusal.retry_delay_s is not None:
        info = RetryInfo()
        info.retry_delay.FromNanoseconds(int(refusal.retry_delay_s * 1e9))
        status = Status(code=refusal.code.value[0], message=refusal.message)
        status.details.add().Pack(info)
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(refusal.code, refusal.message)
