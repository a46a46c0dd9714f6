/** Protocol family: up to 2025-11-25 with a handshake, from 2026-07-28 without. */
export type Era = 'legacy' | 'modern';

/** Protocol versions of the legacy era, newest first. */
export const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'] as const;

/** Legacy version of a request without `MCP-Protocol-Version` header. */
export const DEFAULT_LEGACY_VERSION = '2025-03-26';

/** Only version with batches; the next one removed them. */
export const BATCH_VERSION = '2025-03-26';

/** First version whose clients accept events without data. */
export const EMPTY_EVENTS_VERSION = '2025-11-25';

/** First version with error -32042, which names pages that the user has to open. */
export const REQUIRED_PAGES_VERSION = '2025-11-25';

/** Protocol version of the modern era: no handshake, every request describes its client. */
export const MODERN_VERSION = '2026-07-28';

/**
 * Keys of `_meta` that the modern era reserves.
 *
 * Spelled out here, and compared with the SDK's constants by a test: importing the SDK for a string costs 75 ms at start-up.
 */
export const metaKeys = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
} as const;

/**
 * Key of the gateways that a request has passed, in its `_meta`: the ids of all, as in `Via` and `CDN-Loop`. Proxies of other makers keep it.
 *
 * @see [RFC 8586, section 2 – CDN-Loop](https://www.rfc-editor.org/rfc/rfc8586.html#section-2)
 */
export const viaKey = 'quiver/via';

/**
 * Key of a failed input request in `_meta` of its response. The protocol has no error for it: the response is a canceled elicitation, and
 * servers that know the key receive the code and the message.
 */
export const failureKey = 'quiver/error';

/**
 * Identifier of the tasks extension, in the `extensions` of both sides' capabilities.
 *
 * @see [SEP-2663, tasks](https://modelcontextprotocol.github.io/ext-tasks/specification/2026-07-28/tasks.html)
 */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** States of a task. */
export const taskStatuses = ['working', 'input_required', 'completed', 'failed', 'cancelled'] as const;

export type TaskStatus = (typeof taskStatuses)[number];

export const errorCodes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** A refused HTTP request; the status says why. */
  refused: -32000,
  sessionNotFound: -32001,
  headerMismatch: -32020,
  missingClientCapability: -32021,
  unsupportedVersion: -32022,
  /** 2025-11-25 only. */
  urlElicitationRequired: -32042,
} as const;

/** The levels of log messages, least severe first (RFC 5424). */
export const loggingLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;

export type LoggingLevel = (typeof loggingLevels)[number];

export function isLoggingLevel(value: unknown): value is LoggingLevel {
  return loggingLevels.includes(value as LoggingLevel);
}
