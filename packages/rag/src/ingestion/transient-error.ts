/** Codes of Node's sockets and of undici. */
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

/**
 * PostgreSQL: connection lost (08), transaction rolled back by a conflict (40), no resources (53), server going down (57P).
 *
 * @see [PostgreSQL Error Codes](https://www.postgresql.org/docs/current/errcodes-appendix.html)
 */
const sqlState = /^(?:08|40|53|57P)[0-9A-Z]+$/;

const maxDepth = 8;

/** Whether an error, or one that caused it, may pass: `isRetryable`, a lost connection, HTTP 408, 429 and 5xx. */
export function isTransientError(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > maxDepth) return false;
  const { isRetryable, code, status, statusCode, cause } = error as Record<string, unknown>;
  if (typeof isRetryable === 'boolean') return isRetryable;
  if (typeof code === 'string' && (networkCodes.has(code) || (code.length === 5 && sqlState.test(code)))) return true;
  const httpStatus = status ?? statusCode;
  if (typeof httpStatus === 'number' && (httpStatus === 408 || httpStatus === 429 || httpStatus >= 500)) return true;
  return isTransientError(cause, depth + 1);
}
