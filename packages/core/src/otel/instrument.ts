import {
  context,
  createContextKey,
  metrics,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Link,
  type Meter,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { unchecked, booleanValue, checkOptions, type OptionChecks } from '../options.js';
import { observe } from '../trace.js';
import type { McpTraceEvent, ToolTraceEvent, TraceEvent } from '../trace-events.js';
import { captureInput, captureOutput } from './capture-content.js';
import { describeFailure, type Failure } from './describe-error.js';
import { describeEndOfMessage, describeMessage, nameOfMessage, nameOfRejected } from './describe-mcp.js';
import { describeEnd, describeOperation, type InnerEvent } from './describe-operation.js';
import { createRecorder } from './metrics.js';
import { extractContext, injectContext } from './propagation.js';

/** The part of a `Tracer` of OpenTelemetry that is called. */
export interface TracerLike {
  startSpan(name: string, options?: object, context?: object): object;
}

/** The part of a `Meter` of OpenTelemetry that is called. */
export interface MeterLike {
  createHistogram(name: string, options?: object): object;
}

/** Options of `instrument()`. */
export interface InstrumentOptions {
  /** Tracer of OpenTelemetry. Default: the one of the global provider. */
  tracer?: TracerLike | undefined;
  /** Meter of OpenTelemetry. Default: the one of the global provider. */
  meter?: MeterLike | undefined;
  /** Whether spans contain arguments and results of tools, texts of queries, and documents. Default `false`. */
  captureContent?: boolean | undefined;
  /** Whether the names of spans contain the URIs of resources. Default `false`: there may be any number of them. */
  uriInSpanName?: boolean | undefined;
}

const checks: OptionChecks<InstrumentOptions> = {
  ...unchecked<InstrumentOptions>()('tracer', 'meter'),
  captureContent: booleanValue,
  uriInSpanName: booleanValue,
};

/** Name of the instrumentation scope. */
const scope = '@quiver/core';

/** The tool call that surrounds an operation. */
interface EnclosingCall {
  readonly span: Span;
  readonly id: string;
  /**
   * Event of the same call that its span describes too, once: the message that carries a call describes its tool, and the call of a remote tool its
   * message.
   */
  accepts: 'tool' | 'message' | undefined;
  /** Failure of the message that the span describes too. It becomes that of the span if the tool fails: the tool may send a second message. */
  failure?: Failure | undefined;
}

const enclosingCall = createContextKey('quiver enclosing tool call');

/** Span of an operation that starts. */
interface StartedSpan {
  readonly span: Span;
  /** Whether the span belongs to another event or instrumentation, which ends it. */
  readonly isShared?: boolean;
  /** Call of a tool, or call whose span describes the message. */
  readonly call?: EnclosingCall;
}

/** An operation between its start and its end. Sessions have no span. */
interface Running extends Partial<StartedSpan> {
  /** Time on the clock of `performance.now()`. */
  readonly startedAt: number;
}

/**
 * Turns the events of all Quiver packages into spans and metrics of OpenTelemetry, by the semantic conventions for generative AI and for
 * MCP, and propagates the context between MCP clients and servers in `_meta`.
 *
 * It records names, durations, counts and kinds of errors. Content is recorded with `captureContent` only; tokens and headers never. Needs
 * the package `@opentelemetry/api`, and a registered SDK: without one nothing is recorded.
 *
 * @throws `OPTIONS_INVALID`
 * @returns a function that ends the instrumentation
 * @example
 * const stop = instrument();
 */
export function instrument(options: InstrumentOptions = {}): () => void {
  checkOptions('instrument', options, checks);
  const { captureContent = false, uriInSpanName = false } = options;
  // The types above describe the parts that are called.
  const tracer = (options.tracer ?? trace.getTracer(scope)) as Tracer;
  const record = createRecorder((options.meter ?? metrics.getMeter(scope)) as Meter);
  const running = new WeakMap<TraceEvent, Running>();

  /** Starts a span, and makes it the active one of the operation. */
  const activate = (event: TraceEvent, active: Context, started: StartedSpan): void => {
    const { span } = started;
    running.set(event, { startedAt: performance.now(), ...started });
    if (captureContent && span.isRecording()) span.setAttributes(captureInput(event));
    const before = event.run;
    const run = <Result>(body: () => Result): Result => context.with(active, body);
    event.run = before ? (body) => before(() => run(body)) : run;
  };

  const startTool = (event: ToolTraceEvent): void => {
    const outer = context.active();
    const before = outer.getValue(enclosingCall) as EnclosingCall | undefined;
    const isOfMessage = before?.accepts === 'tool' && before.id === event.toolCallId;
    if (isOfMessage) before.accepts = undefined;
    const shared = isOfMessage ? before.span : findSpanOfCall(outer, event.toolCallId, before);
    const span = shared ?? startInner(event);
    // A server that passes a call on has a span for each message.
    const call: EnclosingCall = { span, id: event.toolCallId, accepts: isOfMessage ? undefined : 'message' };
    const active = trace.setSpan(outer, span).setValue(enclosingCall, call);
    activate(event, active, { span, isShared: shared !== undefined, call });
  };

  const startInner = (event: InnerEvent): Span => {
    const { name, attributes, isClient } = describeOperation(event);
    const kind = isClient ? SpanKind.CLIENT : SpanKind.INTERNAL;
    return tracer.startSpan(name, { kind, attributes }, context.active());
  };

  const startSent = (event: McpTraceEvent): void => {
    const outer = context.active();
    const call = outer.getValue(enclosingCall) as EnclosingCall | undefined;
    const isOfCall = call?.accepts === 'message' && call.id === event.toolCallId;
    if (isOfCall) call.accepts = undefined;
    const span = isOfCall ? call.span : startMessage(event, SpanKind.CLIENT, outer);
    if (isOfCall) span.setAttributes({ ...describeMessage(event), 'gen_ai.tool.name': undefined });
    const active = trace.setSpan(outer, span);
    const meta = injectContext(active, event);
    if (meta) event.meta = { ...event.meta, ...meta };
    activate(event, active, isOfCall ? { span, isShared: true, call } : { span });
  };

  const startReceived = (event: McpTraceEvent): void => {
    const { parent, links } = extractContext(event);
    const span = startMessage(event, SpanKind.SERVER, parent, links);
    const active = trace.setSpan(parent, span);
    const isCall = event.target?.kind === 'tool' && event.requestId !== undefined;
    const call: EnclosingCall = { span, id: String(event.requestId), accepts: 'tool' };
    activate(event, isCall ? active.setValue(enclosingCall, call) : active, { span });
  };

  const startMessage = (event: McpTraceEvent, kind: SpanKind, parent: Context, links: Link[] = []): Span =>
    tracer.startSpan(nameOfMessage(event, uriInSpanName), { kind, attributes: describeMessage(event), links }, parent);

  const start = (event: TraceEvent): void => {
    if (event.type === 'mcp.session') running.set(event, { startedAt: performance.now() });
    else if (event.type === 'tool') startTool(event);
    else if (event.type === 'mcp') (event.direction === 'sent' ? startSent : startReceived)(event);
    else {
      const span = startInner(event);
      activate(event, trace.setSpan(context.active(), span), { span });
    }
  };

  const end = (event: TraceEvent): void => {
    const operation = running.get(event);
    // It started before the instrumentation.
    if (!operation) return;
    running.delete(event);
    const failure = describeFailure(event);
    record(event, (performance.now() - operation.startedAt) / 1000, failure?.attributes ?? {});
    if (!operation.span || event.type === 'mcp.session') return;
    const isLate = event.type === 'tool' && operation.isShared === true && !operation.span.isRecording();
    const span = isLate ? startLate(event, operation.startedAt, operation.span) : operation.span;
    const isShared = operation.isShared === true && !isLate;
    if (span.isRecording()) {
      span.setAttributes(event.type === 'mcp' ? describeEndOfMessage(event) : describeEnd(event));
      if (captureContent) span.setAttributes(captureOutput(event));
      const rejected = event.type === 'mcp' && failure && nameOfRejected(event, failure.attributes);
      if (rejected) span.updateName(rejected);
      const shown = failureOfSpan(event, failure, { ...operation, isShared });
      if (shown) {
        const { attributes, message } = shown;
        span.setAttributes(attributes);
        span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) });
      }
    }
    if (!isShared) span.end();
  };

  /** Starts the span of a tool that ran on after the response to its request, as a task, with the time at which the tool started. */
  const startLate = (event: ToolTraceEvent, startedAt: number, parent: Span): Span => {
    const { name, attributes } = describeOperation(event);
    const startTime = performance.timeOrigin + startedAt;
    const span = tracer.startSpan(name, { attributes, startTime }, trace.setSpan(ROOT_CONTEXT, parent));
    if (captureContent) span.setAttributes(captureInput(event));
    return span;
  };

  return observe((event, phase) => (phase === 'start' ? start(event) : end(event)));
}

/** Returns the failure that the span of an operation shows at the end of the operation. */
function failureOfSpan(
  { type }: TraceEvent,
  failure: Failure | undefined,
  { isShared, call }: Pick<Running, 'isShared' | 'call'>,
): Failure | undefined {
  if (type === 'tool') {
    // The owner of a span decides what a failed tool means: a round that requires input cancels the tool.
    return failure && (call?.failure ?? (isShared ? undefined : failure));
  }
  if (!call) return failure;
  call.failure = failure;
  return undefined;
}

/**
 * Returns the span with which another instrumentation, such as the one of the AI SDK, describes a tool call. It is recognized by the id of
 * the call.
 */
function findSpanOfCall(active: Context, toolCallId: string, enclosing: EnclosingCall | undefined): Span | undefined {
  const span = trace.getSpan(active);
  if (!span || span === enclosing?.span) return undefined;
  // Spans of the SDK can be read, which the API does not declare.
  const { attributes } = span as { attributes?: Attributes };
  const id = attributes?.['gen_ai.tool.call.id'] ?? attributes?.['ai.toolCall.id'];
  return id === toolCallId ? span : undefined;
}
