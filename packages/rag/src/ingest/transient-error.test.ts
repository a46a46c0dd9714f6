import { expect, it } from 'vitest';
import { isTransientError } from './ingest-target.js';

const caused = (cause: unknown): Error => new Error('The store failed.', { cause: new Error('inner', { cause }) });

it.each([
  { isRetryable: true },
  { code: 'ECONNRESET' },
  { code: 'VECTOR_STORE_FAILED', details: { isTransient: true } },
  { status: 503 },
  { statusCode: 429 },
])('an error with %j may pass, also as the cause of another', (error) => {
  expect(isTransientError(error)).toBe(true);
  expect(isTransientError(caused(error))).toBe(true);
});

it.each([
  { isRetryable: false, statusCode: 503 },
  { code: 'VECTOR_STORE_FAILED', details: { isTransient: false } },
  { code: 'VECTOR_DIMENSION_MISMATCH' },
  { status: 401 },
  new Error('plain'),
  'text',
  undefined,
])('an error such as %j stays', (error) => {
  expect(isTransientError(error)).toBe(false);
  expect(isTransientError(caused(error))).toBe(false);
});

it('a chain of causes that never ends is no reason to hang', () => {
  const error = new Error('circle');
  error.cause = error;
  expect(isTransientError(error)).toBe(false);
});
