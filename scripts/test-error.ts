import { expect } from 'vitest';

/**
 * Expects that a call fails with an error of Quiver.
 *
 * @param call - a promise, or a function that throws
 * @param message - a part of the message
 */
export function expectError(call: () => unknown, code: string, message?: string | RegExp): void;
export function expectError(call: PromiseLike<unknown>, code: string, message?: string | RegExp): Promise<void>;
export function expectError(
  call: PromiseLike<unknown> | (() => unknown),
  code: string,
  message: string | RegExp = '',
): void | Promise<void> {
  const part: unknown = typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message);
  if (typeof call !== 'function') return expect(call).rejects.toMatchObject({ code, message: part });
  expect(call).toThrow(expect.objectContaining({ code, message: part }));
}
