"""The metrics for an OpenTelemetry collector, over HTTP: the counters that Prometheus could ask for, sent instead."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from dame.errors import MissingExtra
from dame.service.metrics import Metrics

PERIOD_SECONDS = 30.0


class Telemetry:
    """Sends the counters of one process now and then, and once more at its end."""

    def __init__(self, metrics: Metrics, endpoint: str, period: float = PERIOD_SECONDS) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
            from opentelemetry.metrics import CallbackOptions, Observation
            from opentelemetry.sdk.metrics import MeterProvider
            from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
            from opentelemetry.sdk.resources import Resource
        except ImportError:
            raise MissingExtra("sending metrics to a collector", "otlp") from None

        def observed(name: str, _options: CallbackOptions) -> Iterable[Any]:
            (found,) = [one for one in metrics.counters() if one.name == name]
            return [Observation(value, dict(labels)) for labels, value in found.values.items()]

        exporter = OTLPMetricExporter(endpoint=f"{endpoint.rstrip('/')}/v1/metrics", timeout=5)
        reader = PeriodicExportingMetricReader(exporter, export_interval_millis=1000 * period)
        resource = Resource.create({"service.name": "dame"})
        self._provider = MeterProvider(metric_readers=[reader], resource=resource, shutdown_on_exit=False)
        meter = self._provider.get_meter("dame")
        for one in metrics.counters():
            meter.create_observable_counter(one.name, [partial(observed, one.name)], description=one.meaning)

    def close(self) -> None:
        """Sends the last counts."""
        self._provider.shutdown(timeout_millis=5000)
