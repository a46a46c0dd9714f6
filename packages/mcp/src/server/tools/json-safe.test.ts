import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { toJsonSafe } from './json-safe.js';

test('returns a value with a JSON form for any input', () => {
  fc.assert(
    fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true }), (value) => {
      expect(() => JSON.stringify(toJsonSafe(value))).not.toThrow();
    }),
  );
});

test('returns JSON values unchanged', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      expect(JSON.stringify(toJsonSafe(value))).toBe(JSON.stringify(value));
    }),
  );
});

test('circular references are cut, equal siblings are not', () => {
  const shared = { a: 1 };
  const circular: Record<string, unknown> = { first: shared, second: shared };
  circular['self'] = circular;
  expect(toJsonSafe(circular)).toEqual({ first: { a: 1 }, second: { a: 1 } });
});

test('reads the informative getters of an AI SDK result, except for one that throws', () => {
  class Result {
    get text() {
      return 'yes';
    }
    get finishReason() {
      return 'stop';
    }
    get object(): never {
      throw new Error('no object was asked for');
    }
    get request() {
      return { headers: { authorization: 'Bearer secret' } };
    }
  }
  expect(toJsonSafe(new Result())).toEqual({ text: 'yes', finishReason: 'stop' });
});

test('dates, errors, maps, sets and big integers become text, objects and arrays', () => {
  const value = {
    date: new Date(0),
    never: new Date(Number.NaN),
    error: new TypeError('bad'),
    map: new Map<unknown, number>([
      ['a', 1],
      [{ toString: 0 }, 2],
    ]),
    set: new Set([1]),
    big: 12n,
    list: [undefined, () => 1, 1],
  };
  expect(toJsonSafe(value)).toEqual({
    date: '1970-01-01T00:00:00.000Z',
    never: null,
    error: { name: 'TypeError', message: 'bad' },
    map: { a: 1, '{"toString":0}': 2 },
    set: [1],
    big: '12',
    list: [null, null, 1],
  });
});
