const networkCodes = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_SOCKET',
]);

const maxDepth = 8;

/**
 * Returns whether an error, or one that caused it, may pass: `isRetryable`, `details.isTransient` of a store's error, a lost connection,
 * HTTP 408, 429 and 5xx.
 */
export function isTransientError(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > maxDepth) return false;
  const { isRetryable, code, status, statusCode, cause, details } = error as Record<string, unknown>;
  if (typeof isRetryable === 'boolean') return isRetryable;
  if ((details as { isTransient?: unknown } | undefined)?.isTransient === true) return true;
  if (typeof code === 'string' && networkCodes.has(code)) return true;
  const httpStatus = status ?? statusCode;
  if (typeof httpStatus === 'number' && (httpStatus === 408 || httpStatus === 429 || httpStatus >= 500)) return true;
  return isTransientError(cause, depth + 1);
}
