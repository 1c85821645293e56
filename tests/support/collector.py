"""A receiver of OpenTelemetry's OTLP over HTTP, as a collector has one: it parses what comes and keeps it."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric
from opentelemetry.proto.trace.v1.trace_pb2 import Span

Attributes = dict[str, Any]


class Collector:
    """Runs in a thread of its own on a free port. Later metrics of a name replace earlier ones, as totals do."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.resources: list[Attributes] = []
        self.bodies: list[bytes] = []
        """Everything that came, as it came, unzipped."""
        self._metrics: dict[str, Metric] = {}
        received = self._received

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                received(
                    self.path,
                    gzip.decompress(body) if self.headers.get("content-encoding") == "gzip" else body,
                )
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def points(self, name: str) -> list[tuple[Attributes, Any]]:
        """The data points of a metric with their attributes; none where it never came."""
        metric = self._metrics.get(name)
        if metric is None:
            return []
        kind = metric.WhichOneof("data") or ""
        return [(attributes_of(point.attributes), point) for point in getattr(metric, kind).data_points]

    def values(self, name: str, *keys: str) -> dict[Any, Any]:
        """Of a counter or gauge: its values by these attributes."""
        return {_named(found, keys): point.as_int for found, point in self.points(name)}

    def counts(self, name: str, *keys: str) -> dict[Any, int]:
        """Of a histogram: how many measurements, by these attributes."""
        counted: dict[Any, int] = {}
        for found, point in self.points(name):
            counted[_named(found, keys)] = counted.get(_named(found, keys), 0) + point.count
        return counted

    def _received(self, path: str, body: bytes) -> None:
        self.bodies.append(body)
        if path == "/v1/traces":
            for of_resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.resources.append(attributes_of(of_resource.resource.attributes))
                for scope in of_resource.scope_spans:
                    self.spans.extend(scope.spans)
        elif path == "/v1/metrics":
            self._metrics.update(_metrics(body))


def _metrics(body: bytes) -> Iterator[tuple[str, Metric]]:
    for of_resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
        for scope in of_resource.scope_metrics:
            for metric in scope.metrics:
                yield metric.name, metric


def attributes_of(pairs: Any) -> Attributes:
    """A list of key and value as a dictionary."""
    return {pair.key: _value(pair) for pair in pairs}


def _value(pair: KeyValue) -> Any:
    kind = pair.value.WhichOneof("value")
    return getattr(pair.value, kind) if kind else None


def _named(attributes: Attributes, keys: tuple[str, ...]) -> Any:
    values = tuple(attributes.get(key) for key in keys)
    return values[0] if len(values) == 1 else values
