import { context, metrics, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
  type HistogramMetricData,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base';
import { assert, asyncProperty, constantFrom, oneof, record, string } from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { majors } from '../../test/ai-sdk-majors.js';
import { named } from '../../test/tools.js';
import { QuiverError } from '../errors.js';
import { createTool, executeTool } from '../tools/index.js';
import { traceChannels } from '../trace.js';
import type { McpTraceEvent } from '../trace-events.js';
import { instrument, type InstrumentOptions } from './instrument.js';

const exporter = new InMemorySpanExporter();
const metricExporter = new InMemoryMetricExporter(AggregationTemporality.DELTA);
const reader = new PeriodicExportingMetricReader({ exporter: metricExporter, exportIntervalMillis: 1e9 });
let stop: () => void = () => {};

beforeEach(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  propagation.setGlobalPropagator(
    new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()] }),
  );
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
});

afterEach(() => {
  stop();
  exporter.reset();
  for (const api of [trace, context, propagation, metrics]) api.disable();
});

function start(options?: InstrumentOptions): void {
  stop = instrument(options);
}

function spanOf(name: string): ReadableSpan {
  const span = exporter.getFinishedSpans().find((finished) => finished.name === name);
  if (!span)
    throw new Error(
      `No span ${name}, but ${exporter
        .getFinishedSpans()
        .map((one) => one.name)
        .join(', ')}`,
    );
  return span;
}

const parentOf = (name: string): string | undefined => spanOf(name).parentSpanContext?.spanId;
const idOf = (name: string): string => spanOf(name).spanContext().spanId;

const kinds: Readonly<Record<string, 'tool' | 'prompt' | 'resource'>> = {
  'tools/call': 'tool',
  'prompts/get': 'prompt',
  'resources/read': 'resource',
};

const knownMethods = new Set([...Object.keys(kinds), 'ping', 'tools/list']);

function message(
  direction: McpTraceEvent['direction'],
  method: string,
  changes: Partial<McpTraceEvent> = {},
): McpTraceEvent {
  const kind = kinds[method];
  const name = changes.params?.[kind === 'resource' ? 'uri' : 'name'];
  const about = { method, isKnownMethod: knownMethods.has(method), target: kind && { kind, name: name as string } };
  return { type: 'mcp', side: 'client', direction, params: undefined, transport: 'http', ...about, ...changes };
}

const client = traceChannels['quiver:mcp.client'];
const server = traceChannels['quiver:mcp.server'];
const nothing = async (): Promise<unknown> => ({});

/** A tool call from a request to its response, with the attributes that the packages set. */
const call = { params: { name: 'weather', arguments: { city: 'Oslo' } }, requestId: 7, protocolVersion: '2025-11-25' };

const weather = createTool({ ...named('weather'), execute: async () => ({ celsius: 21 }) });

describe('spans of tools', () => {
  it('have the name, kind and attributes of the conventions, without content', async () => {
    start();
    await weather.execute({ city: 'Oslo' }, { toolCallId: 'call-1' });
    const span = spanOf('execute_tool weather');
    expect(span.kind).toBe(SpanKind.INTERNAL);
    expect(span.attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'weather',
      'gen_ai.tool.call.id': 'call-1',
    });
    expect(span.status.code).toBe(SpanStatusCode.UNSET);
  });

  it('contain arguments and results on request, cut at a limit', async () => {
    start({ captureContent: true });
    await weather.execute({ city: 'Oslo' }, {});
    expect(spanOf('execute_tool weather').attributes).toMatchObject({
      'gen_ai.tool.call.arguments': '{"city":"Oslo"}',
      'gen_ai.tool.call.result': '{"celsius":21}',
    });
    exporter.reset();
    await weather.execute({ text: 'x'.repeat(100_000) }, {});
    expect(spanOf('execute_tool weather').attributes['gen_ai.tool.call.arguments']).toHaveLength(32_768);
    exporter.reset();
    await weather.execute({ big: 1n }, {});
    expect(spanOf('execute_tool weather').attributes).not.toHaveProperty('gen_ai.tool.call.arguments');
  });

  it.each([
    [new TypeError('secret'), 'TypeError'],
    [new QuiverError('FILTER_INVALID', 'secret'), 'FILTER_INVALID'],
    [new QuiverError('MCP_REQUEST_TIMEOUT', 'secret'), 'timeout'],
    [new DOMException('secret', 'TimeoutError'), 'timeout'],
    [new DOMException('secret', 'AbortError'), 'canceled'],
    ['secret', '_OTHER'],
  ])('have the class of the error %s, and not its message', async (error, type) => {
    start();
    const failing = createTool({
      ...named('failing'),
      execute: async () => {
        throw error;
      },
    });
    await expect(failing.execute({}, {})).rejects.toBe(error);
    const span = spanOf('execute_tool failing');
    expect(span.attributes['error.type']).toBe(type);
    expect(span.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(JSON.stringify([span.attributes, span.events])).not.toContain('secret');
  });

  it('have the error tool_error for an input that the schema rejects', async () => {
    start();
    const inputSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const;
    const strict = createTool({ ...named('strict'), inputSchema, execute: async () => 1 });
    await executeTool(strict, {});
    expect(spanOf('execute_tool strict').attributes['error.type']).toBe('tool_error');
  });

  it('are parents of the spans inside of the tool', async () => {
    start();
    const outer = createTool({ ...named('outer'), execute: () => weather.execute({}, {}) });
    await outer.execute({}, {});
    expect(parentOf('execute_tool weather')).toBe(idOf('execute_tool outer'));
  });

  it('exist for a tool that passes its context, with the id of its call, to another tool', async () => {
    start();
    const outer = createTool({
      ...named('outer'),
      execute: (_, { toolCallId }) => weather.execute({}, { toolCallId }),
    });
    await outer.execute({}, { toolCallId: 'same' });
    expect(parentOf('execute_tool weather')).toBe(idOf('execute_tool outer'));
  });

  it('are not created inside of a span of another instrumentation for the same call', async () => {
    start();
    const tracer = trace.getTracer('ai');
    for (const key of ['gen_ai.tool.call.id', 'ai.toolCall.id']) {
      await tracer.startActiveSpan('of the AI SDK', { attributes: { [key]: 'call-2' } }, async (span) => {
        await weather.execute({}, { toolCallId: 'call-2' });
        span.end();
      });
      expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(['of the AI SDK']);
      exporter.reset();
    }
  });

  it.each(majors.filter(({ version }) => version < 7))(
    'are not created inside of the spans of AI SDK $version',
    async ({ createModel, generate }) => {
      start();
      const { model } = createModel([{ call: 'weather', input: {} }, { say: 'warm' }]);
      const experimental_telemetry = { isEnabled: true, tracer: trace.getTracer('ai') };
      await generate({ model, tools: { weather }, prompt: 'Weather?', experimental_telemetry });
      const names = exporter.getFinishedSpans().map(({ name }) => name);
      expect(names).toContain('ai.toolCall');
      expect(names).not.toContain('execute_tool weather');
    },
  );

  it('cover a generator until its end, and are active in it', async () => {
    start();
    const stream = createTool({
      ...named('stream'),
      execute: async function* () {
        yield 1;
        yield await weather.execute({}, {});
      },
    });
    for await (const _ of stream.execute({}, {}));
    await Promise.resolve();
    expect(parentOf('execute_tool weather')).toBe(idOf('execute_tool stream'));
  });
});

describe('spans of MCP messages', () => {
  it('have the name, kind and attributes of the conventions', async () => {
    start();
    const about = { ...call, sessionId: 'session', serverAddress: 'example.com', serverPort: 443 };
    await client.trace(message('sent', 'tools/call', about), nothing);
    const span = spanOf('tools/call weather');
    expect(span.kind).toBe(SpanKind.CLIENT);
    expect(span.attributes).toEqual({
      'mcp.method.name': 'tools/call',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'weather',
      'jsonrpc.request.id': '7',
      'mcp.protocol.version': '2025-11-25',
      'mcp.session.id': 'session',
      'network.transport': 'tcp',
      'network.protocol.name': 'http',
      'server.address': 'example.com',
      'server.port': 443,
    });
  });

  it('are of the kind SERVER at the receiver, and name prompts', async () => {
    start();
    await server.trace(
      message('received', 'prompts/get', { params: { name: 'greet' }, requestId: 1, transport: 'stdio' }),
      nothing,
    );
    const span = spanOf('prompts/get greet');
    expect(span.kind).toBe(SpanKind.SERVER);
    expect(span.attributes).toMatchObject({ 'gen_ai.prompt.name': 'greet', 'network.transport': 'pipe' });
  });

  it('contain the URI of a resource as attribute, and in the name on request', async () => {
    start();
    const read = (): Promise<unknown> =>
      client.trace(message('sent', 'resources/read', { params: { uri: 'file:///a' } }), nothing);
    await read();
    expect(spanOf('resources/read').attributes['mcp.resource.uri']).toBe('file:///a');
    stop();
    start({ uriInSpanName: true });
    await read();
    expect(spanOf('resources/read file:///a')).toBeDefined();
  });

  it('have the code and the message of a JSON-RPC error', async () => {
    start();
    const error = Object.assign(new Error('Unknown tool'), { name: 'ProtocolError', code: -32602 });
    await expect(client.trace(message('sent', 'tools/call', call), () => Promise.reject(error))).rejects.toBe(error);
    const span = spanOf('tools/call weather');
    expect(span.attributes).toMatchObject({ 'error.type': '-32602', 'rpc.response.status_code': '-32602' });
    expect(span.status).toEqual({ code: SpanStatusCode.ERROR, message: 'Unknown tool' });
  });

  it('lose names that a client has made up, and cut long ones', async () => {
    start();
    const receive = (method: string, params: object, code: number): Promise<unknown> => {
      const error = Object.assign(new Error('no'.repeat(1e6)), { name: 'ProtocolError', code });
      const event = message('received', method, { params: { ...params }, requestId: 'x'.repeat(1e6) });
      return server.trace(event, () => Promise.reject(error)).catch(() => {});
    };
    await receive('y'.repeat(1e6), {}, -32601);
    await receive('tools/call', { name: 'z'.repeat(1e6) }, -32602);
    await receive('resources/read', { uri: 'u'.repeat(1e6) }, -32002);
    await server.trace(message('received', 'notifications/made-up'), nothing);
    await server.trace(message('received', 'tools/call', { params: { name: 'made up' } }), nothing);
    const spans = exporter.getFinishedSpans();
    expect(spans.map(({ name }) => name)).toEqual(['_OTHER', 'tools/call', 'resources/read', '_OTHER', 'tools/call']);
    expect(JSON.stringify(spans.map(({ attributes, status }) => [attributes, status])).length).toBeLessThan(10_000);
  });

  it('have the error tool_error for an error result', async () => {
    start();
    await client.trace(message('sent', 'tools/call', call), async () => ({ content: [], isError: true }));
    expect(spanOf('tools/call weather').attributes['error.type']).toBe('tool_error');
  });

  it('have the code of an internal error at a receiver that failed, without a message', async () => {
    start();
    await server.trace(message('received', 'ping'), () => Promise.reject(new Error('secret'))).catch(() => {});
    const { attributes, status } = spanOf('ping');
    expect(attributes['error.type']).toBe('-32603');
    expect(status.message).toBeUndefined();
  });

  it('describe the tool of a received call too', async () => {
    start({ captureContent: true });
    await server.trace(message('received', 'tools/call', call), () => weather.execute({}, { toolCallId: '7' }));
    expect(exporter.getFinishedSpans()).toHaveLength(1);
    expect(spanOf('tools/call weather').attributes['gen_ai.tool.call.result']).toBe('{"celsius":21}');
  });

  it('have their own end, also if the tool of a received call fails afterwards', async () => {
    start();
    const failing = createTool({ ...named('weather'), execute: () => Promise.reject(new Error('x')) });
    await server.trace(message('received', 'tools/call', call), async () => {
      await failing.execute({}, { toolCallId: '7' }).catch(() => {});
    });
    expect(spanOf('tools/call weather').status.code).toBe(SpanStatusCode.UNSET);
  });

  it('are parents of a tool that runs on after the response, as a task', async () => {
    start({ captureContent: true });
    let release: (value: string) => void = () => {};
    const slow = createTool({
      ...named('weather'),
      execute: () => new Promise<string>((resolve) => (release = resolve)),
    });
    let output: Promise<unknown> | undefined;
    await server.trace(message('received', 'tools/call', call), async () => {
      output = slow.execute({ city: 'Oslo' }, { toolCallId: '7' });
    });
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(['tools/call weather']);
    release('done');
    await output;
    const tool = spanOf('execute_tool weather');
    expect(parentOf('execute_tool weather')).toBe(idOf('tools/call weather'));
    expect(tool.attributes).toMatchObject({
      'gen_ai.tool.call.arguments': '{"city":"Oslo"}',
      'gen_ai.tool.call.result': 'done',
    });
  });

  it('do not hide tools that a received call runs in addition', async () => {
    start();
    const run = async (): Promise<unknown> => {
      await weather.execute({}, { toolCallId: '7' });
      return weather.execute({}, { toolCallId: '7' });
    };
    await server.trace(message('received', 'tools/call', call), run);
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(['execute_tool weather', 'tools/call weather']);
  });

  it('are one with the span of the remote tool that sends the call', async () => {
    start();
    const remote = createTool({
      ...named('remote_weather'),
      execute: (_, { toolCallId }) => client.trace(message('sent', 'tools/call', { ...call, toolCallId }), nothing),
    });
    await remote.execute({}, {});
    expect(exporter.getFinishedSpans()).toHaveLength(1);
    expect(spanOf('execute_tool remote_weather').attributes).toMatchObject({
      'gen_ai.tool.name': 'remote_weather',
      'mcp.method.name': 'tools/call',
      'jsonrpc.request.id': '7',
    });
  });

  it.each(['ProtocolError', 'tool_error'])('keep a failure of the kind %s when the remote tool fails', async (kind) => {
    start();
    const error = Object.assign(new Error('Unknown'), { name: 'ProtocolError', code: -32602 });
    const respond =
      kind === 'ProtocolError' ? () => Promise.reject(error) : async () => ({ content: [], isError: true });
    const remote = createTool({
      ...named('remote'),
      execute: async (_, { toolCallId }) => {
        await client.trace(message('sent', 'tools/call', { ...call, toolCallId }), respond).catch(() => {});
        throw new QuiverError('MCP_TOOL_ERROR', 'failed');
      },
    });
    await expect(remote.execute({}, {})).rejects.toThrow('failed');
    const { attributes, status } = spanOf('execute_tool remote');
    expect(attributes['error.type']).toBe(kind === 'ProtocolError' ? '-32602' : 'tool_error');
    expect(status.code).toBe(SpanStatusCode.ERROR);
  });

  it('have no failure when the remote tool succeeds with a second message', async () => {
    start();
    const remote = createTool({
      ...named('remote'),
      execute: async (_, { toolCallId }) => {
        const send = (run: () => Promise<unknown>): Promise<unknown> =>
          client.trace(message('sent', 'tools/call', { ...call, toolCallId }), run);
        return send(() => Promise.reject(new TypeError('connection lost'))).catch(() => send(nothing));
      },
    });
    await remote.execute({}, {});
    const { attributes, status } = spanOf('execute_tool remote');
    expect(attributes).not.toHaveProperty('error.type');
    expect(status.code).toBe(SpanStatusCode.UNSET);
  });

  it('stay apart in a server that passes a call on', async () => {
    start();
    const remote = createTool({
      ...named('remote_weather'),
      execute: (_, { toolCallId }) => client.trace(message('sent', 'tools/call', { ...call, toolCallId }), nothing),
    });
    await server.trace(message('received', 'tools/call', call), () => remote.execute({}, { toolCallId: '7' }));
    const [sent, received] = exporter.getFinishedSpans();
    expect([sent?.kind, received?.kind]).toEqual([SpanKind.CLIENT, SpanKind.SERVER]);
    expect(sent?.parentSpanContext?.spanId).toBe(received?.spanContext().spanId);
  });
});

describe('propagation', () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

  it('adds the context to sent messages', async () => {
    start();
    const event = message('sent', 'ping');
    const baggage = propagation.createBaggage({ user: { value: 'a b' } });
    await context.with(propagation.setBaggage(context.active(), baggage), () => client.trace(event, nothing));
    const { traceId, spanId } = spanOf('ping').spanContext();
    expect(event.meta).toEqual({ traceparent: `00-${traceId}-${spanId}-01`, baggage: 'user=a%20b' });
  });

  it('leaves tracestate to a caller that sets traceparent', async () => {
    start();
    const params = { _meta: { traceparent, tracestate: 'a=1', baggage: 'user=a' } };
    await server.trace(message('received', 'tools/list', { params }), () => {
      const event = message('sent', 'ping', { params: { _meta: { traceparent: 'own' } } });
      return client.trace(event, async () => expect(event.meta).not.toHaveProperty('tracestate'));
    });
  });

  it('makes the sender the parent of a received message, with a link to the ambient context', async () => {
    start();
    const params = { _meta: { traceparent, tracestate: 'a=1', baggage: 'user=anna' } };
    let user: string | undefined;
    await trace.getTracer('http').startActiveSpan('POST', async (span) => {
      await server.trace(message('received', 'tools/list', { params }), async () => {
        user = propagation.getActiveBaggage()?.getEntry('user')?.value;
      });
      span.end();
    });
    const span = spanOf('tools/list');
    expect(span.spanContext().traceId).toBe('4bf92f3577b34da6a3ce929d0e0e4736');
    expect(span.parentSpanContext?.spanId).toBe('00f067aa0ba902b7');
    expect(span.parentSpanContext?.traceState?.serialize()).toBe('a=1');
    expect(span.links.map((link) => link.context.spanId)).toEqual([idOf('POST')]);
    expect(user).toBe('anna');
  });

  it('makes the ambient context the parent of a received message without a context', async () => {
    start();
    await trace.getTracer('http').startActiveSpan('POST', async (span) => {
      await server.trace(message('received', 'tools/list'), nothing);
      span.end();
    });
    expect(parentOf('tools/list')).toBe(idOf('POST'));
    expect(spanOf('tools/list').links).toEqual([]);
  });

  it('ignores the ambient context of a message over stdio, where it belongs to another operation', async () => {
    start();
    await trace.getTracer('other').startActiveSpan('other', async (span) => {
      await server.trace(message('received', 'tools/list', { transport: 'stdio' }), nothing);
      span.end();
    });
    expect(parentOf('tools/list')).toBeUndefined();
  });

  it('ignores the ambient context of a message on the event stream of HTTP+SSE, and members that are not of the protocol', async () => {
    start();
    propagation.disable();
    const seen: unknown[] = [];
    propagation.setGlobalPropagator({
      inject: () => {},
      extract: (active, carrier, getter) => (seen.push(getter.get(carrier, 'b3')), active),
      fields: () => [],
    });
    await trace.getTracer('other').startActiveSpan('other', async (span) => {
      await client.trace(message('received', 'ping', { transport: 'sse', params: { _meta: { b3: 'x' } } }), nothing);
      span.end();
    });
    expect(parentOf('ping')).toBeUndefined();
    expect(seen).toEqual([undefined]);
  });

  it('ignores malformed and hostile members', async () => {
    start();
    const hostile = oneof(
      constantFrom(null, 1, {}, ['a'], true, '', '\u0000', 'ä=ö', 'a=%'),
      string({ maxLength: 200 }),
      constantFrom('00-0-0-01', `${traceparent}\r\nx: y`, 'x'.repeat(9000), `user=${'x'.repeat(9000)}`),
    );
    const meta = record({ traceparent: hostile, tracestate: hostile, baggage: hostile });
    await assert(
      asyncProperty(meta, async (_meta) => {
        exporter.reset();
        const run = async (): Promise<number> => 1;
        expect(await server.trace(message('received', 'ping', { params: { _meta } }), run)).toBe(1);
        expect(spanOf('ping').parentSpanContext).toBeUndefined();
      }),
      { numRuns: 50 },
    );
  });
});

describe('metrics', () => {
  async function measure(run: () => Promise<unknown>): Promise<Record<string, HistogramMetricData['dataPoints']>> {
    metricExporter.reset();
    const provider = new MeterProvider({ readers: [reader] });
    start({ meter: provider.getMeter('test') });
    await run();
    await reader.forceFlush();
    const found = metricExporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((one) => one.metrics));
    expect(found.every(({ descriptor }) => descriptor.unit === 's')).toBe(true);
    return Object.fromEntries(found.map((one) => [one.descriptor.name, (one as HistogramMetricData).dataPoints]));
  }

  it('record messages and sessions by role, without ids, URIs and names that a receiver does not know', async () => {
    const unknown = Object.assign(new Error('Unknown'), { name: 'ProtocolError', code: -32602 });
    const noMethod = Object.assign(new Error('Unknown'), { name: 'ProtocolError', code: -32601 });
    const points = await measure(async () => {
      await client.trace(message('sent', 'tools/call', { ...call, sessionId: 's' }), nothing);
      await client.trace(message('sent', 'resources/read', { params: { uri: 'file:///a' } }), nothing);
      await server.trace(message('received', 'tools/call', { ...call, isToolError: true }), nothing);
      const refuse = (method: string, error: Error): Promise<unknown> =>
        server.trace(message('received', method, call), () => Promise.reject(error)).catch(() => {});
      await refuse('tools/call', unknown);
      await refuse('made/up', noMethod);
      await server.trace(message('received', 'notifications/made-up'), nothing);
      await server.trace(message('received', 'tools/call', { params: { name: 'made up' } }), nothing);
      const session = { type: 'mcp.session', transport: 'stdio', protocolVersion: '2025-11-25' } as const;
      await client.trace({ ...session, side: 'client' }, nothing);
      await server.trace({ ...session, side: 'server' }, nothing);
    });
    const of = (name: string): unknown[] => (points[name] ?? []).map(({ attributes }) => attributes);
    const http = { 'network.transport': 'tcp', 'network.protocol.name': 'http' };
    const version = { 'mcp.protocol.version': '2025-11-25' };
    const tool = { 'mcp.method.name': 'tools/call', 'gen_ai.operation.name': 'execute_tool' };
    expect(of('mcp.client.operation.duration')).toEqual([
      { ...http, ...version, ...tool, 'gen_ai.tool.name': 'weather' },
      { ...http, 'mcp.method.name': 'resources/read' },
    ]);
    const code = (value: string): object => ({ 'error.type': value, 'rpc.response.status_code': value });
    expect(of('mcp.server.operation.duration')).toEqual([
      { ...http, ...version, ...tool, 'gen_ai.tool.name': 'weather', 'error.type': 'tool_error' },
      { ...http, ...version, ...tool, ...code('-32602') },
      { ...http, ...version, 'mcp.method.name': '_OTHER', ...code('-32601') },
      { ...http, 'mcp.method.name': '_OTHER' },
      { ...http, ...tool },
    ]);
    expect(of('mcp.client.session.duration')).toEqual([{ 'network.transport': 'pipe', ...version }]);
    expect(of('mcp.server.session.duration')).toEqual([{ 'network.transport': 'pipe', ...version }]);
    const bounds = points['mcp.client.operation.duration']?.[0]?.value.buckets.boundaries;
    expect(bounds).toEqual([0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]);
  });
});

describe('instrument', () => {
  it('records nothing after its end, and ends operations that started before it without a span', async () => {
    start();
    stop();
    await weather.execute({}, {});
    let release: (() => void) | undefined;
    const running = createTool({
      ...named('running'),
      execute: () => new Promise<void>((resolve) => (release = resolve)),
    });
    const output = running.execute({}, {});
    await expect.poll(() => release).toBeDefined();
    start();
    release?.();
    await output;
    expect(exporter.getFinishedSpans()).toEqual([]);
  });

  it('changes nothing without an SDK', async () => {
    for (const api of [trace, context, propagation]) api.disable();
    start();
    const event = message('sent', 'ping');
    expect(await client.trace(event, async () => 5)).toBe(5);
    expect(event.meta).toBeUndefined();
    expect(await weather.execute({}, {})).toEqual({ celsius: 21 });
  });

  it('uses the given tracer', async () => {
    const own = new InMemorySpanExporter();
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(own)] });
    start({ tracer: provider.getTracer('own') });
    await weather.execute({}, {});
    expect(own.getFinishedSpans()).toHaveLength(1);
    expect(exporter.getFinishedSpans()).toEqual([]);
  });
});
