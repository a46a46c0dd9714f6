import { appendFileSync } from 'node:fs';
import { context, metrics, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  CompositePropagator,
  ExportResultCode,
  W3CBaggagePropagator,
  W3CTraceContextPropagator,
} from '@opentelemetry/core';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  SimpleSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import { instrument } from '@quiver/core/otel';

/** A finished span of any process. */
export interface SpanRecord {
  process: string;
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId?: string | undefined;
  attributes: Record<string, unknown>;
  links: string[];
  milliseconds: number;
}

/** Points of a metric: its attributes and the number of measurements. */
export type Measurements = Record<string, { attributes: Record<string, unknown>; count: number }[]>;

/** Starts tracing in this process. Spans go to a file, as JSON lines. An application uses an OTLP exporter instead. */
export function startTelemetry(process: string, file: string): { measure(): Promise<Measurements> } {
  const exporter: SpanExporter = {
    export(spans, done) {
      for (const span of spans) appendFileSync(file, `${JSON.stringify(toRecord(process, span))}\n`);
      done({ code: ExportResultCode.SUCCESS });
    },
    shutdown: async () => {},
  };
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  propagation.setGlobalPropagator(
    new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()] }),
  );
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: metricExporter, exportIntervalMillis: 3_600_000 });
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  instrument();
  return {
    async measure() {
      await reader.forceFlush();
      const found = metricExporter
        .getMetrics()
        .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((one) => one.metrics));
      const toPoint = ({ attributes, value }: { attributes: object; value: unknown }) => ({
        attributes: { ...attributes },
        count: (value as { count: number }).count,
      });
      return Object.fromEntries(found.map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints.map(toPoint)]));
    },
  };
}

function toRecord(process: string, span: ReadableSpan): SpanRecord {
  const { name, kind, attributes, links, duration, parentSpanContext } = span;
  const { traceId, spanId } = span.spanContext();
  return {
    process,
    name,
    kind,
    traceId,
    spanId,
    parentSpanId: parentSpanContext?.spanId,
    attributes,
    links: links.map((link) => link.context.spanId),
    milliseconds: duration[0] * 1000 + duration[1] / 1e6,
  };
}
