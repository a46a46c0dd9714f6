import { toErrorMessage } from './errors.js';
import { getDefaultLogger } from './logger.js';
import type { TraceEvent, TraceEvents } from './trace-events.js';

/** Phase of a traced operation; at the end, the event has `result` or `error`. */
export type TracePhase = 'start' | 'end';

/** Publishes the operations of one kind. */
export interface TraceChannel<Event extends TraceEvent> {
  /** Whether the channel has subscribers. Check it before you build an event. */
  readonly isActive: boolean;
  /** Publishes the start of an operation, runs it, and publishes its end. */
  trace<Result>(event: Event, operation: () => Promise<Result>): Promise<Result>;
}

/** The phases that {@link observe} needs; tracing channels have more. */
interface Subscribers {
  readonly start: (event: TraceEvent) => void;
  readonly asyncEnd: (event: TraceEvent) => void;
}

interface Channel extends TraceChannel<TraceEvent> {
  subscribe(subscribers: Subscribers): void;
  unsubscribe(subscribers: Subscribers): void;
}

/** The part of a tracing channel of `node:diagnostics_channel` that is called. */
interface TracingChannel
  extends
    Pick<Channel, 'subscribe' | 'unsubscribe'>,
    Readonly<Record<'start' | 'end' | 'asyncStart' | 'asyncEnd' | 'error', { readonly hasSubscribers: boolean }>> {
  tracePromise<Result>(operation: () => Promise<Result>, event: object): Promise<Result>;
}

/**
 * Returns the channel of a name. In Node its name is the rendezvous of several copies of this package. `process.getBuiltinModule`
 * (Node 20.16, Bun, Deno) needs no static import, which would keep this module from loading elsewhere.
 */
function openChannel(name: keyof TraceEvents): Channel {
  const { process } = globalThis as {
    process?: { getBuiltinModule?: (id: string) => { tracingChannel?: (name: string) => TracingChannel } | undefined };
  };
  const tracing = process?.getBuiltinModule?.('node:diagnostics_channel')?.tracingChannel?.(name);
  return tracing ? createNodeChannel(tracing) : findLocalChannel(name);
}

function createNodeChannel(tracing: TracingChannel): Channel {
  const { start, end, asyncStart, asyncEnd, error } = tracing;
  const phases = [start, asyncEnd, error, end, asyncStart];
  return {
    /** Not `hasSubscribers` of the tracing channel, which some runtimes lack. */
    get isActive() {
      return phases.some(({ hasSubscribers }) => hasSubscribers);
    },
    trace: (event, operation) => tracing.tracePromise(() => runWithin(event, operation), event),
    subscribe: (subscribers) => tracing.subscribe(subscribers),
    unsubscribe: (subscribers) => tracing.unsubscribe(subscribers),
  };
}

/** Returns a channel for runtimes without `node:diagnostics_channel`. */
function createLocalChannel(): Channel {
  const all = new Set<Subscribers>();
  return {
    get isActive() {
      return all.size > 0;
    },
    trace: async (event, operation) => {
      for (const { start } of all) start(event);
      try {
        const result = await runWithin(event, operation);
        event.result = result;
        return result;
      } catch (error) {
        event.error = error;
        throw error;
      } finally {
        for (const { asyncEnd } of all) asyncEnd(event);
      }
    },
    subscribe: (subscribers) => void all.add(subscribers),
    unsubscribe: (subscribers) => void all.delete(subscribers),
  };
}

/** Never throws: an operation that throws at once would have no asynchronous end. */
function runWithin<Result>(event: TraceEvent, operation: () => Promise<Result>): Promise<Result> {
  try {
    return event.run ? event.run(operation) : operation();
  } catch (error) {
    return Promise.reject(error as Error);
  }
}

const localChannels: unique symbol = Symbol.for('quiver.trace.channels') as never;

/** Copies of this package share the channels through the global object: one per name, for the life of the program. */
function findLocalChannel(name: string): Channel {
  const shared = globalThis as { [localChannels]?: Map<string, Channel> };
  const channels = (shared[localChannels] ??= new Map());
  let channel = channels.get(name);
  if (!channel) channels.set(name, (channel = createLocalChannel()));
  return channel;
}

/** The channels of all packages, by name. */
export const traceChannels: { readonly [Name in keyof TraceEvents]: TraceChannel<TraceEvents[Name]> } = {
  'quiver:tool': openChannel('quiver:tool'),
  'quiver:mcp.client': openChannel('quiver:mcp.client'),
  'quiver:mcp.server': openChannel('quiver:mcp.server'),
  'quiver:retrieval': openChannel('quiver:retrieval'),
  'quiver:embedding': openChannel('quiver:embedding'),
  'quiver:ingest': openChannel('quiver:ingest'),
};

/**
 * Calls a function at the start and at the end of every traced operation of all packages: tool calls, MCP messages, queries,
 * embeddings and ingestion. Both calls receive the same event object. Works in every runtime; in Node the same events are
 * available as tracing channels of `node:diagnostics_channel`. An operation that runs when the observation starts or ends has one of
 * the two calls only.
 *
 * An error of the observer, also of an async one, does not affect the operation. The default logger receives the first one.
 *
 * @returns a function that ends the observation
 * @example
 * const stop = observe((event, phase) => {
 *   if (event.type === 'tool' && phase === 'end') console.log(event.toolName, event.error ?? 'ok');
 * });
 */
export function observe(observer: (event: TraceEvent, phase: TracePhase) => void): () => void {
  let hasFailed = false;
  const fail = (error: unknown): void => {
    if (hasFailed) return;
    hasFailed = true;
    getDefaultLogger().error(`An observer of traced operations failed: ${toErrorMessage(error)}`, error);
  };
  const at =
    (phase: TracePhase) =>
    (event: TraceEvent): void => {
      try {
        const returned: unknown = observer(event, phase);
        // The type also accepts async functions.
        if (returned instanceof Promise) returned.catch(fail);
      } catch (error) {
        fail(error);
      }
    };
  const subscribers: Subscribers = { start: at('start'), asyncEnd: at('end') };
  const channels = Object.values(traceChannels) as unknown as Channel[];
  for (const channel of channels) channel.subscribe(subscribers);
  return () => {
    for (const channel of channels) channel.unsubscribe(subscribers);
  };
}
