import { describe, expect, it } from 'vitest';
import type * as Errors from './errors.js';
import { isQuiverError, QuiverError, toErrorMessage } from './index.js';

describe('QuiverError', () => {
  it('carries a code, a cause and details', () => {
    const cause = new Error('underneath');
    const error = new QuiverError('SOME_CODE', 'It failed.', { cause, details: { limit: 3 } });
    expect(error).toMatchObject({
      name: 'QuiverError',
      code: 'SOME_CODE',
      message: 'It failed.',
      cause,
      details: { limit: 3 },
    });
    expect('cause' in new QuiverError('SOME_CODE', 'x')).toBe(false);
  });

  it('is recognized by code, also from another copy of the package', async () => {
    const otherPath = './errors.ts?copy';
    const other = (await import(/* @vite-ignore */ otherPath)) as typeof Errors;
    const foreign = new other.QuiverError('SOME_CODE', 'x');
    expect(foreign).not.toBeInstanceOf(QuiverError);
    expect(isQuiverError(foreign)).toBe(true);
    expect(isQuiverError(foreign, 'SOME_CODE')).toBe(true);
    expect(isQuiverError(foreign, 'OTHER_CODE')).toBe(false);
  });

  it('is not confused with look-alikes', () => {
    for (const value of [new Error('x'), { code: 'SOME_CODE' }, null, undefined, 'SOME_CODE'])
      expect(isQuiverError(value)).toBe(false);
  });
});

describe('toErrorMessage', () => {
  it.each([
    [new Error('boom'), 'boom'],
    [new TypeError(), 'TypeError'],
    ['text', 'text'],
    [null, 'null'],
    [undefined, 'undefined'],
    [Object.freeze({ message: 'frozen' }), 'frozen'],
    [{ status: 500 }, '{"status":500}'],
    [Symbol('s'), 'Symbol(s)'],
    [1n, '1'],
  ])('reads %s', (thrown, message) => {
    expect(toErrorMessage(thrown)).toBe(message);
  });

  it('does not fail on a value that cannot be shown', () => {
    const circular: { self?: unknown } = {};
    circular.self = circular;
    expect(toErrorMessage(circular)).toBe('unknown error');
  });
});
