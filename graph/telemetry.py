"""Traces and metrics over OTLP, for the processes that we start ourselves (`steward serve`, `worker`, `chat`) (O5).

The standard variables decide: with `OTEL_EXPORTER_OTLP_ENDPOINT` set, and the extra `telemetry` installed, spans and
metrics go there; without, nothing is loaded. An embedding service, or `opentelemetry-instrument`, that has configured
an SDK of its own keeps it.
"""

from __future__ import annotations

import os

import structlog

log = structlog.get_logger(__name__)

ENDPOINTS = (
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
)
SERVICE = "steward"


def export_telemetry() -> None:
    """Send spans and metrics to the endpoint that the environment names; call it once, before the first span."""
    if not any(os.environ.get(name) for name in ENDPOINTS):
        return
    try:
        _configure()
    except ImportError:
        log.warning("no telemetry is sent: install the extra `telemetry` (pip install 'steward[telemetry]')")


def _configure() -> None:
    from opentelemetry import metrics, trace
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    # What OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES name wins.
    resource = Resource({"service.name": SERVICE}).merge(OTELResourceDetector().detect())
    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        provider = TracerProvider(resource=resource)
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        trace.set_tracer_provider(provider)
    if not isinstance(metrics.get_meter_provider(), MeterProvider):
        reader = PeriodicExportingMetricReader(OTLPMetricExporter())
        metrics.set_meter_provider(MeterProvider([reader], resource=resource))
