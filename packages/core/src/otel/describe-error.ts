import type { Attributes } from '@opentelemetry/api';
import { isQuiverError, toErrorMessage } from '../errors.js';
import type { McpTraceEvent, TraceEvent } from '../trace-events.js';

/** A peer may send a message of any length. */
const maxMessageLength = 1024;

/** Failure of an operation. */
export interface Failure {
  readonly attributes: Attributes;
  /** Message of a JSON-RPC error. Other messages may contain arguments and results. */
  readonly message?: string | undefined;
}

/** Returns the failure of an operation; `undefined` for a success. */
export function describeFailure(event: TraceEvent): Failure | undefined {
  if (event.type === 'mcp') return describeFailedMessage(event);
  if ('error' in event) return { attributes: { 'error.type': classify(event.error) } };
  return event.type === 'tool' && isErrorOutput(event.result)
    ? { attributes: { 'error.type': 'tool_error' } }
    : undefined;
}

function describeFailedMessage(event: McpTraceEvent): Failure | undefined {
  const { direction, target, error, isToolError, isCanceled } = event;
  if (isCanceled) return { attributes: { 'error.type': 'canceled' } };
  if (!('error' in event)) {
    const isError = isToolError === true || (target?.kind === 'tool' && isErrorOutput(event.result));
    return isError ? { attributes: { 'error.type': 'tool_error' } } : undefined;
  }
  const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown };
  if (name === 'ProtocolError' && Number.isInteger(code)) {
    const attributes = { 'error.type': String(code), 'rpc.response.status_code': String(code) };
    return { attributes, message: toErrorMessage(error).slice(0, maxMessageLength) };
  }
  // The receiver responds with an internal error, without details.
  if (direction === 'received') return { attributes: { 'error.type': '-32603', 'rpc.response.status_code': '-32603' } };
  return { attributes: { 'error.type': classify(error) } };
}

/** A result of MCP with `isError`, or a `ToolFailure`. */
function isErrorOutput(output: unknown): boolean {
  if (typeof output !== 'object' || output === null) return false;
  const { isError, error, validationErrors } = output as Record<string, unknown>;
  return isError === true || (error === true && validationErrors !== undefined);
}

/** Returns a class of errors: `timeout`, `canceled`, the code of a `QuiverError`, or the name of the error. */
function classify(error: unknown): string {
  const { name } = (error ?? {}) as { name?: unknown };
  if (name === 'TimeoutError' || name === 'RequestTimeoutError') return 'timeout';
  if (name === 'AbortError') return 'canceled';
  if (isQuiverError(error)) return error.code.endsWith('_TIMEOUT') ? 'timeout' : error.code;
  return error instanceof Error && typeof name === 'string' && name.length <= 64 ? name : '_OTHER';
}
