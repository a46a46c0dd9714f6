import { context, propagation, ROOT_CONTEXT, trace, type Context, type Link } from '@opentelemetry/api';
import type { McpTraceEvent } from '../trace-events.js';

/**
 * Members of `_meta` that carry the context, without a prefix.
 *
 * @see [SEP-414](https://modelcontextprotocol.io/community/seps/414-request-meta)
 */
const keys = ['traceparent', 'tracestate', 'baggage'];

/** The limit of the W3C for baggage, and far more than the other values need. */
const maxLength = 8192;

/** Returns whether a value may be part of a context: visible ASCII and spaces, of a limited length. */
function isCarried(value: unknown): value is string {
  return typeof value === 'string' && value.length <= maxLength && /^[\x20-\x7E]*$/.test(value);
}

type Meta = Readonly<Record<string, unknown>>;

function metaOf({ params }: McpTraceEvent): Meta {
  const meta = params?.['_meta'];
  return typeof meta === 'object' && meta !== null ? (meta as Meta) : {};
}

/**
 * Returns the members for `_meta` of a sent message, from the propagators of the application; `undefined` without members. A caller that sets
 * `traceparent` decides about `tracestate` as well.
 */
export function injectContext(active: Context, event: McpTraceEvent): Record<string, string> | undefined {
  const carrier: Record<string, string> = {};
  propagation.inject(active, carrier, {
    set: (into, key, value) => {
      if (keys.includes(key) && isCarried(value)) into[key] = value;
    },
  });
  if ('traceparent' in metaOf(event)) delete carrier['tracestate'];
  return Object.keys(carrier).length > 0 ? carrier : undefined;
}

/**
 * Returns the context of a received message: the one that its sender put into `_meta`, with a link to the ambient context of the HTTP request,
 * or the ambient context. Ignores malformed and oversized members. A message over stdio, or over the one event stream of HTTP+SSE, has no ambient
 * context: the stream that it arrives on belongs to an operation that has nothing to do with it.
 */
export function extractContext(event: McpTraceEvent): { parent: Context; links: Link[] } {
  const { transport } = event;
  const ambient = transport === 'stdio' || transport === 'sse' ? ROOT_CONTEXT : context.active();
  const parent = propagation.extract(ambient, metaOf(event), {
    keys: () => keys,
    get: (meta, key) => (keys.includes(key) && isCarried(meta[key]) ? meta[key] : undefined),
  });
  const before = trace.getSpanContext(ambient);
  const after = trace.getSpanContext(parent);
  const isLinked = before && after && trace.isSpanContextValid(before) && before.spanId !== after.spanId;
  return { parent, links: isLinked ? [{ context: before }] : [] };
}
