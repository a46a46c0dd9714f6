import type { Attributes, Histogram, Meter } from '@opentelemetry/api';
import type { TraceEvent } from '../trace-events.js';
import { describeLink, describeMeasurement } from './describe-mcp.js';

/** Bounds of the buckets of all histograms, in seconds, as the conventions require. */
const bounds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/**
 * Creates the histograms of the conventions, and returns a function that records the duration of messages and sessions, in seconds. The side of a message is its role: a server that sends a request is its client.
 *
 * @see [Metrics of the semantic conventions for MCP](https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md#metrics)
 */
export function createRecorder(meter: Meter): (event: TraceEvent, seconds: number, failure: Attributes) => void {
  const create = (name: string, description: string): Histogram =>
    meter.createHistogram(`mcp.${name}.duration`, {
      description,
      unit: 's',
      advice: { explicitBucketBoundaries: bounds },
    });
  const operations = {
    sent: create('client.operation', 'Duration of an MCP request or notification, as its sender observed it'),
    received: create('server.operation', 'Duration of an MCP request or notification, as its receiver observed it'),
  };
  const sessions = {
    client: create('client.session', 'Duration of an MCP session, as the client observed it'),
    server: create('server.session', 'Duration of an MCP session, as the server observed it'),
  };
  return (event, seconds, failure) => {
    if (event.type === 'mcp') operations[event.direction].record(seconds, describeMeasurement(event, failure));
    if (event.type !== 'mcp.session') return;
    const { side, protocolVersion } = event;
    const version = protocolVersion !== undefined && { 'mcp.protocol.version': protocolVersion };
    sessions[side].record(seconds, { ...describeLink(event), ...version, ...failure });
  };
}
