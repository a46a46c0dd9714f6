import { QuiverError } from '@quiver/core';
import { isObject } from '../../protocol/json-rpc.js';

/**
 * Counts the failures of a tool since its last success, in the messages that led to a call: error results and calls with invalid
 * arguments, as AI SDK 5, 6 and 7 write them.
 */
export function countFailures(messages: readonly unknown[] = [], toolName: string): number {
  let failures = 0;
  for (const message of messages.toReversed()) {
    if (!isObject(message) || !Array.isArray(message['content'])) continue;
    for (const part of (message['content'] as unknown[]).toReversed()) {
      if (!isObject(part) || part['type'] !== 'tool-result' || part['toolName'] !== toolName) continue;
      if (!isFailure(part['output'])) return failures;
      failures += 1;
    }
  }
  return failures;
}

function isFailure(output: unknown): boolean {
  if (!isObject(output)) return false;
  const { type, value } = output;
  if (type === 'error-text' || type === 'error-json') return true;
  // A `ToolFailure`, after it became JSON.
  return type === 'json' && isObject(value) && value['error'] === true && 'validationErrors' in value;
}

/** Returns the error for a model that used up its retries. */
export function retriesExceeded(toolName: string, maxRetries: number | undefined, cause?: Error): QuiverError {
  const last = cause ? ` The last failure: ${cause.message}` : '';
  return new QuiverError(
    'MCP_TOOL_RETRIES_EXCEEDED',
    `The tool '${toolName}' failed more than ${maxRetries} times in a row (\`maxRetries\`). Do not call it again in this run.${last}`,
    { cause, details: { toolName, maxRetries } },
  );
}
