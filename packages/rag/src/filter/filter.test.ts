import { readFileSync } from 'node:fs';
import { isQuiverError } from '@quiver/core';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LocalVector } from '../stores/local/index.js';
import { anyFilter } from '../../../devtools/src/stores/any-filter.ts';
import { ToyVector } from '../stores/toy-vector.fixture.js';
import {
  checkFilter,
  createFilterTest,
  evaluateFilter,
  filterOperators,
  logicalOperators,
  parseFilter,
} from './index.js';

function matches(filter: unknown, metadata: unknown): boolean {
  return evaluateFilter(parseFilter(filter), metadata);
}

function refusal(filter: unknown): string {
  try {
    parseFilter(filter);
  } catch (error) {
    if (isQuiverError(error, 'FILTER_INVALID')) return error.message;
    throw error;
  }
  throw new Error(`accepted: ${String(JSON.stringify(filter))}`);
}

const now = new Date('2024-05-06T07:08:09.010Z');
const book = {
  title: 'It’s 100% sure',
  year: 2020,
  price: 12.5,
  sold: '5',
  none: null,
  zero: 0,
  inStock: true,
  tags: ['a', 'b', 5],
  empty: [],
  author: { name: 'Ada', born: { year: 1815 } },
  editions: [
    { year: 1999, copies: 10 },
    { year: 2005, copies: 1 },
  ],
  at: now.toISOString(),
  'dotted.key': 'literal',
  big: '😀',
  "x') = '' OR 1=1 --": 'harmless',
};

describe('a filter', () => {
  test.each<[string, unknown, boolean]>([
    ['equal value', { year: 2020 }, true],
    ['types count', { sold: 5 }, false],
    ['types count the other way', { year: '2020' }, false],
    ['true is not 1', { inStock: 1 }, false],
    ['several fields', { year: 2020, inStock: true }, true],
    ['several fields, one wrong', { year: 2020, inStock: false }, false],
    ['-0 is 0', { zero: -0 }, true],
    ['null equals null', { none: null }, true],
    ['null equals missing', { absent: null }, true],
    ['null is not 0', { zero: null }, false],
    ['null is not an empty list', { empty: null }, false],
    ['$ne', { year: { $ne: 2021 } }, true],
    ['$ne where missing', { absent: { $ne: 1 } }, true],
    ['$ne null means present and not null', { none: { $ne: null } }, false],
    ['$ne over a list means no element', { tags: { $ne: 'a' } }, false],
    ['range', { price: { $gt: 12, $lte: 12.5 } }, true],
    ['range over another type', { sold: { $gt: 1 } }, false],
    ['range over strings', { title: { $gte: 'It' } }, true],
    ['strings are ordered by code point', { big: { $gt: '\uffff' } }, true],
    ['one element in the range', { tags: { $gt: 4 } }, true],
    ['$in', { year: { $in: [1, 2020] } }, true],
    ['$in with null where missing', { absent: { $in: [null] } }, true],
    ['$in of nothing', { year: { $in: [] } }, false],
    ['$nin of nothing', { year: { $nin: [] } }, true],
    ['$nin where missing', { absent: { $nin: [1] } }, true],
    ['a list is $in', { tags: ['z', 'b'] }, true],
    ['$all', { tags: { $all: ['a', 5] } }, true],
    ['$all, one missing', { tags: { $all: ['a', 'z'] } }, false],
    ['$all of nothing', { tags: { $all: [] } }, false],
    ['$exists', { none: { $exists: true } }, true],
    ['$exists of a nested field', { 'author.born.year': { $exists: true } }, true],
    ['$exists false', { 'author.born.month': { $exists: false } }, true],
    ['inherited keys do not exist', { toString: { $exists: true } }, false],
    ['nested object', { author: { born: { year: 1815 } } }, true],
    ['dotted path', { 'author.name': 'Ada' }, true],
    ['key that contains a dot', { 'dotted.key': 'literal' }, true],
    ['index into a list', { 'editions.1.year': 2005 }, true],
    ['hostile key', { "x') = '' OR 1=1 --": 'harmless' }, true],
    ['$contains in a string, any case', { title: { $contains: 'SURE' } }, true],
    ['$contains is literal', { title: { $contains: '100%' } }, true],
    ['$contains knows no wildcards', { title: { $contains: 'I_’s' } }, false],
    ['$contains an element', { tags: { $contains: 5 } }, true],
    ['$contains is no part of an element', { author: { $contains: 'A' } }, false],
    ['$contains all of a list', { tags: { $contains: ['a', 'b'] } }, true],
    ['$size', { tags: { $size: 3 } }, true],
    ['$size 0', { empty: { $size: 0 } }, true],
    ['$size of no list', { title: { $size: 14 } }, false],
    ['$elemMatch on one element', { editions: { $elemMatch: { year: { $lt: 2000 }, copies: 10 } } }, true],
    ['$elemMatch across elements', { editions: { $elemMatch: { year: { $lt: 2000 }, copies: 1 } } }, false],
    ['$elemMatch on values', { tags: { $elemMatch: { $eq: 'a' } } }, true],
    ['$elemMatch with operators', { tags: { $elemMatch: { $gt: 4, $lt: 6 } } }, true],
    ['$elemMatch with $or', { tags: { $elemMatch: { $or: [{ $eq: 9 }, { $eq: 'b' }] } } }, true],
    ['$elemMatch on no list', { year: { $elemMatch: { $eq: 2020 } } }, false],
    ['$regex', { title: { $regex: '^it.s', $options: 'i' } }, true],
    ['$options before $regex', { title: { $options: 'i', $regex: '^it.s' } }, true],
    ['$regex without $options', { title: { $regex: '^it' } }, false],
    ['RegExp', { title: /SURE$/i }, true],
    ['RegExp in $not', { title: { $not: /^x/ } }, true],
    ['$regex over a number', { year: { $regex: '2' } }, false],
    ['$not where missing', { absent: { $not: { $gt: 5 } } }, true],
    ['$not around the root', { $not: { year: 2020 } }, false],
    ['$nor', { $nor: [{ year: 1 }, { absent: 2 }] }, true],
    ['$or of nothing', { $or: [] }, false],
    ['$and of nothing', { $and: [] }, true],
    ['$nor of nothing', { $nor: [] }, true],
    ['$and of one', { $and: [{ year: 2020 }] }, true],
    ['a key beside $or counts', { $or: [{ year: 2020 }], title: 'other' }, false],
    ['both keys of a branch count', { $or: [{ year: 2020, title: 'other' }, { year: 1 }] }, false],
    ['a key beside a nested $or counts', { $and: [{ $or: [{ year: 2020 }], title: 'other' }] }, false],
    ['date', { at: now }, true],
    ['date range', { at: { $gt: new Date(0) } }, true],
    ['nothing', {}, true],
    ['JSON text', '{"year":{"$gt":2000}}', true],
    ['object without prototype', Object.assign(Object.create(null), { year: 2020 }), true],
  ])('%s', (_name, filter, expected) => {
    expect(matches(filter, book)).toBe(expected);
  });

  test('reads Date objects in metadata as their ISO strings', () => {
    expect(matches({ at: now.toISOString() }, { at: now })).toBe(true);
    expect(matches({ at: { $lte: now } }, { at: [now] })).toBe(true);
  });
});

describe('what is not surely understood is refused', () => {
  const deep = (levels: number): unknown => {
    let filter: unknown = { a: 1 };
    for (let level = 1; level < levels; level++) filter = { $and: [filter] };
    return filter;
  };
  const cyclic: Record<string, unknown> = {};
  cyclic['$not'] = cyclic;

  test.each<[unknown, RegExp]>([
    [{ tenant: undefined }, /compared with undefined \(in the filter at tenant\)/],
    [undefined, /plain object, not undefined/],
    [null, /plain object, not null/],
    [[{ a: 1 }], /plain object, not a list/],
    [{ $and: [{ a: 1 }, { b: { $gt: Number.NaN } }] }, /\$and\[1\]\.b\.\$gt/],
    [{ a: Infinity }, /Infinity/],
    [{ a: () => 1 }, /a function/],
    [{ a: Symbol('s') }, /a symbol/],
    [{ [Symbol('s')]: 1 }, /Symbols cannot be keys/],
    [{ a: 1n }, /compared with 1/],
    [{ a: new Map() }, /an instance of a class/],
    [new URL('http://localhost'), /an instance of a class/],
    [{ a: new Date(Number.NaN) }, /instance of a class/],
    ['{"__proto__": {"a": 1}}', /'__proto__' cannot be a field/],
    [{ 'a.constructor.b': 1 }, /'constructor' cannot be a field/],
    [{ a: { prototype: 1 } }, /'prototype' cannot be a field/],
    [{ '': 1 }, /must have a name/],
    [{ a: { $foo: 1 } }, /Unsupported operator: \$foo \(in/],
    [{ a: { $gtt: 1 } }, /Unsupported operator: \$gtt\. Did you mean \$gt\? \(in the filter at a\.\$gtt\)/],
    [{ $adn: [] }, /Did you mean \$and\?/],
    [{ a: { $ge: 1 } }, /Unsupported operator: \$ge \(in/],
    [{ a: { $leq: 1 } }, /Unsupported operator: \$leq \(in/],
    [{ $foo: 1 }, /Unsupported operator: \$foo/],
    [{ $gt: 1 }, /Invalid top-level operator: \$gt/],
    [{ a: { $toString: 1 } }, /Unsupported operator/],
    [{ a: { $or: [{ $eq: 1 }] } }, /\$or is allowed only at the root/],
    [{ a: { $gt: 1, b: 2 } }, /cannot be keys of one object/],
    [{ a: {} }, /empty object is not a condition/],
    [{ $not: {} }, /at least one condition/],
    [{ a: { $not: {} } }, /at least one condition/],
    [{ a: { $not: 5 } }, /at least one condition/],
    [{ a: { $elemMatch: 'x' } }, /at least one condition/],
    [{ $or: { a: 1 } }, /A list is needed, not an object/],
    [{ $or: [1] }, /list of filters, not 1/],
    [{ a: { $in: 'x' } }, /A list is needed, not 'x'/],
    [{ a: { $in: [[1]] } }, /\$in\[0\]/],
    [{ a: { $in: Array.from({ length: 3 }) } }, /\$in\[0\]/],
    [{ a: { $eq: [1] } }, /A list is allowed only in/],
    [{ a: { $gt: null } }, /\$gt takes a number, a string or a date, not null/],
    [{ a: { $exists: 1 } }, /\$exists takes true or false/],
    [{ a: { $size: -1 } }, /\$size takes/],
    [{ a: { $size: 1.5 } }, /\$size takes/],
    [{ a: { $contains: [] } }, /at least one/],
    [{ a: { $options: 'i' } }, /requires \$regex/],
    [{ a: { $regex: 5 } }, /\$regex takes a string/],
    [{ a: { $regex: 'a', $options: 5 } }, /\$options takes a string/],
    [{ a: { $regex: '(' } }, /not a supported regular expression: .*missing closing \)/],
    [{ a: { $regex: 'a', $options: 'g' } }, /flag 'g' is not supported/],
    [{ a: { $regex: 'a', $options: 'ii' } }, /flag 'i' is not supported/],
    [{ a: { $regex: 'x'.repeat(1001) } }, /1001 characters is too long/],
    [{ a: { $regex: String.raw`(a)\1` } }, /contains a back-reference, which is not supported/],
    [{ a: { $regex: String.raw`(?<n>a)\k<n>` } }, /contains a back-reference/],
    [{ a: { $regex: '(?=a+)b' } }, /contains lookahead/],
    [{ a: { $regex: 'a(?!b)' } }, /contains lookahead/],
    [{ a: { $regex: '(?<=a)b' } }, /contains lookbehind/],
    [{ a: { $regex: '(?<!a)b' } }, /contains lookbehind/],
    [{ a: { $regex: '(?>a+)b' } }, /contains an atomic group/],
    [{ a: { $regex: String.raw`a\Z` } }, /contains the escape '\\Z'/],
    [{ a: { $regex: String.raw`[\x4]` } }, /contains the escape '\\x'/],
    [{ a: { $regex: String.raw`\p{Letter}` } }, /not a supported regular expression/],
    [{ a: { $regex: 'a++' } }, /not a supported regular expression/],
    [{ a: { $regex: 'a{1001}' } }, /not a supported regular expression/],
    [{ a: { $regex: '(?:(?:a{30}){30}|b{200})' } }, /needs 1\d{3} instructions/],
    [{ a: { $in: Array.from({ length: 10_001 }, (_, index) => index) } }, /10001 items is too long/],
    [{ $or: Array.from({ length: 1001 }, () => ({ a: 1 })) }, /more than 1000 conditions/],
    [{ [`${'a.'.repeat(100)}b`]: 1 }, /101 parts/],
    [deep(5000), /more than 16 levels/],
    [JSON.stringify(deep(100)), /more than 16 levels/],
    [`${'{"$not":'.repeat(5000)}{"a":1}${'}'.repeat(5000)}`, /more than 16 levels/],
    [cyclic, /more than 16 levels/],
    ['not json', /must be the JSON text/],
    ['[1]', /plain object, not a list/],
    [
      {
        get a(): never {
          throw new Error('getter');
        },
      },
      /cannot be read/,
    ],
  ])('%#', (filter, message) => {
    expect(refusal(filter)).toMatch(message);
  });

  test('sixteen levels and harmless patterns are accepted', () => {
    expect(matches({ $and: [{ $or: [{ $and: [{ $or: [{ a: 1 }] }] }] }] }, { a: 1 })).toBe(true);
    for (const $regex of [
      '^(foo|bar)$',
      'a{3}',
      '(a+)+$',
      '(?:x(?:a*))+',
      String.raw`\(a+\)`,
      '[(+]*x',
      'a+?b*?',
      '.*a.*b.*c.*d',
      `${'a?'.repeat(30)}${'a'.repeat(30)}`,
      '(foo|bar|baz)-?v?\\d{1,3}',
      String.raw`[^]\/\p{L}\u0041\cJ\x{41}(?<name>a)`,
    ]) {
      expect(() => parseFilter({ a: { $regex } })).not.toThrow();
    }
  });
});

const key = fc.constantFrom('a', 'b', 'a.b', 'list');
const scalar = fc.oneof(
  fc.constantFrom<unknown>(null, 0, 1, 5, '5', 'x', 'xy', true, false),
  fc.integer({ min: -2, max: 6 }),
);
const scalars = fc.array(scalar, { maxLength: 3 });
const comparable = fc.oneof(fc.integer({ min: -2, max: 6 }), fc.constantFrom('5', 'x', 'xy'));
const operator = fc.oneof(
  fc.record({ $eq: scalar }),
  fc.record({ $ne: scalar }),
  fc.record({ $in: scalars }),
  fc.record({ $nin: scalars }),
  fc.record({ $all: scalars }),
  fc.record({ $gt: comparable }),
  fc.record({ $gte: comparable, $lt: comparable }),
  fc.record({ $exists: fc.boolean() }),
  fc.record({ $contains: scalar }),
  fc.record({ $size: fc.nat(3) }),
  fc.record({ $regex: fc.constantFrom('x', '^5$', '') }),
  fc.record({ $elemMatch: fc.record({ $gt: comparable }) }),
);
const condition = fc.oneof(
  operator,
  operator.map(($not) => ({ $not })),
  scalar,
  scalars,
);
const { filter: filters } = fc.letrec<{ filter: Record<string, unknown>; branch: Record<string, unknown> }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'filter' },
    fc.dictionary(key, condition, { maxKeys: 3, noNullPrototype: true }),
    tie('branch'),
  ),
  branch: fc
    .tuple(
      fc.constantFrom('$and', '$or', '$nor'),
      fc.array(tie('filter'), { maxLength: 3, depthIdentifier: 'filter' }),
      fc.dictionary(key, condition, { maxKeys: 1 }),
    )
    .map(([logical, list, fields]) => ({ ...fields, [logical]: list })),
}));
const value = fc.oneof(scalar, scalars, fc.record({ b: scalar }));
const metadata = fc.dictionary(fc.constantFrom('a', 'b', 'list'), value, { maxKeys: 3 });

describe('the laws of logic hold', () => {
  test('a negation is true exactly where the filter is not', () => {
    fc.assert(
      fc.property(filters, metadata, (filter, data) => {
        expect(matches({ $nor: [filter] }, data)).toBe(!matches(filter, data));
        expect(matches({ $nor: [{ $nor: [filter] }] }, data)).toBe(matches(filter, data));
      }),
      { numRuns: 2000 },
    );
  });

  test('De Morgan', () => {
    fc.assert(
      fc.property(filters, filters, metadata, (p, q, data) => {
        expect(matches({ $nor: [{ $and: [p, q] }] }, data)).toBe(
          matches({ $or: [{ $nor: [p] }, { $nor: [q] }] }, data),
        );
        expect(matches({ $nor: [p, q] }, data)).toBe(matches({ $and: [{ $nor: [p] }, { $nor: [q] }] }, data));
      }),
      { numRuns: 2000 },
    );
  });

  test('JSON text means the same as the object', () => {
    fc.assert(
      fc.property(filters, metadata, (filter, data) => {
        expect(parseFilter(JSON.stringify(filter))).toEqual(parseFilter(filter));
        expect(matches(JSON.stringify(filter), data)).toBe(matches(filter, data));
      }),
    );
  });
});

function outcome(run: () => unknown): string {
  try {
    return typeof run();
  } catch (error) {
    return isQuiverError(error) ? error.code : String(error);
  }
}

test('whatever is given, a filter is either accepted or refused with FILTER_INVALID', () => {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withObjectString: true,
    withSparseArray: true,
    withTypedArray: true,
  });
  const names = fc.oneof(
    fc.constantFrom('$and', '$or', '$not', '$in', '$regex', '$elemMatch', '$options', '__proto__', 'a.b', ''),
    fc.string(),
  );
  fc.assert(
    fc.property(
      fc.oneof(anything, fc.dictionary(names, fc.oneof(anything, fc.dictionary(names, anything)))),
      fc.anything(),
      (input, data) => {
        expect(outcome(() => evaluateFilter(parseFilter(input), data))).toMatch(/^(boolean|FILTER_INVALID)$/);
      },
    ),
    { numRuns: 5000 },
  );
});

const allOperators = [...filterOperators, '$options', '$not'].toSorted();

test.each([
  ['../../../../docs/guides/retrieval.md', /has MongoDB's operators: `([^`]+)`/],
  ['parse.ts', /`\{ field: value \}`, `([^`]+)`/],
])('%s names each operator', (path, list) => {
  const [, named = ''] = list.exec(readFileSync(new URL(path, import.meta.url), 'utf8')) ?? [];
  expect(named.split(' ').toSorted()).toEqual(allOperators);
});

test('the filters that stores are compared by have each operator', () => {
  const written = JSON.stringify(fc.sample(anyFilter, { numRuns: 5000, seed: 1 }));
  const used = new Set(Array.from(written.matchAll(/"(\$\w+)":/g), ([, name = '']) => name));
  expect([...used].toSorted()).toEqual([...new Set([...allOperators, ...logicalOperators])].toSorted());
});

test('a filter is checked once, as it was written', () => {
  fc.assert(
    fc.property(filters, (filter) => {
      const checked = checkFilter(filter);
      expect(checked).toEqual(filter);
      expect(checkFilter(checked)).toBe(checked);
      expect(parseFilter(checked)).toBe(parseFilter(checked));
      expect(parseFilter(checked)).toEqual(parseFilter(filter));
    }),
  );
});

test('a filter inside of proxies, as libraries of reactive state make them, is checked', () => {
  const inner = { $in: new Proxy(['red', 'blue'], {}) };
  const checked = checkFilter(new Proxy({ team: new Proxy(inner, {}), since: new Date(0), name: /^a/ }, {}));
  inner.$in.push('green');
  expect(checked).toEqual({ team: { $in: ['red', 'blue'] }, since: new Date(0), name: /^a/ });
});

test('a parsed filter cannot be changed', () => {
  const isDeeplyFrozen = (node: unknown): boolean =>
    typeof node !== 'object' || node === null || (Object.isFrozen(node) && Object.values(node).every(isDeeplyFrozen));
  fc.assert(
    fc.property(filters, (filter) => {
      expect(isDeeplyFrozen(parseFilter(filter))).toBe(true);
    }),
  );
});

describe('a pattern', () => {
  // Backtracking engines need hours for each of these.
  test.each([
    ['.*.*.*\u0001', 'x'.repeat(100_000), false],
    ['(a+)+$', `${'a'.repeat(100_000)}!`, false],
    ['(.*)*x', 'a'.repeat(100_000), false],
    ['^(a|a)*$', `${'a'.repeat(100_000)}!`, false],
    [`${'a?'.repeat(50)}${'a'.repeat(50)}`, 'a'.repeat(50), true],
  ])('%# is decided in linear time', (pattern, text, expected) => {
    expect(matches({ a: { $regex: pattern } }, { a: text })).toBe(expected);
  });

  test('finds what RegExp finds', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      '.',
      '[ab]',
      '[^a]',
      '(?:ab|b)',
      '(a)',
      '^',
      '$',
      String.raw`\w`,
      String.raw`\b`,
    );
    const quantifier = fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,3}', '*?');
    const pattern = fc
      .array(fc.tuple(piece, quantifier), { minLength: 1, maxLength: 5 })
      .map((pieces) => pieces.map(([part, times]) => (/^(?:[$^]|\\b)$/.test(part) ? part : part + times)).join(''));
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'A', 'ä', '😀', ' ', '\n'), maxLength: 8 });
    fc.assert(
      fc.property(pattern, fc.constantFrom('', 'i', 'm', 's', 'is'), text, ($regex, $options, a) => {
        expect(matches({ a: { $regex, $options } }, { a })).toBe(new RegExp($regex, `${$options}u`).test(a));
      }),
      { numRuns: 5000 },
    );
  });

  test('with more than 200 instructions finds what RegExp finds', () => {
    const long = `${'ab'.repeat(150)}c`;
    for (const [pattern, text] of [
      ['(?:ab){150}c', long],
      [long, `x${long}`],
      [`[xy]${long}`, `x${long}`],
      [`^${long}$`, long],
    ] as const)
      for (const value of [text, text.slice(0, -1), text.replace('b', 'a')])
        expect(matches({ a: { $regex: pattern } }, { a: value }), pattern).toBe(new RegExp(pattern).test(value));
  });

  const refusedAsCostly = expect.objectContaining({ code: 'FILTER_TOO_COSTLY' });
  /** Each character of such a text leads the automaton of the pattern to another of its 2³⁰⁰ states. */
  const manyStates = '(?:a|b)*a(?:a|b){300}[xy]';
  const randomText = (length: number): string => {
    let seed = 1;
    return Array.from({ length }, () => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return seed & 0x1_0000 ? 'a' : 'b';
    }).join('');
  };

  test('takes a step for each character of a long index', () => {
    const paths = ['reference', 'guides', 'blog', 'api'];
    const urls = Array.from({ length: 200_000 }, (_, n) => `https://docs.example.com/${paths[n % 4]}/page-${n}.html`);
    const budget = { steps: 100_000_000 };
    const isWanted = createFilterTest(
      parseFilter({ url: { $regex: String.raw`^https://docs\.example\.com/(guides|api)/` } }),
      budget,
    );
    expect(urls.filter((url) => isWanted({ url }))).toHaveLength(100_000);
    const characters = urls.reduce((sum, { length }) => sum + length, 0);
    expect(100_000_000 - budget.steps).toBeLessThan(1.001 * characters);
  });

  test('that leads the engine through too many states is refused', () => {
    const filter = parseFilter({ a: { $regex: manyStates } });
    expect(() => evaluateFilter(filter, { a: randomText(2000) }, { steps: 1_000_000 })).toThrowError(refusedAsCostly);
    // Its automaton takes 17 million steps until the engine changes to a slower one: 20,000 characters times 306 instructions.
    expect(() => evaluateFilter(filter, { a: randomText(20_000) }, { steps: 20_000_000 })).toThrowError(
      refusedAsCostly,
    );
  });

  test('takes only steps of the budget that it is given, and equal ones for equal calls', () => {
    const filter = parseFilter({ a: { $regex: '(?:a|b)*a(?:a|b){9}[xy]' } });
    const metadata = { a: randomText(500) };
    const spent = [1, 2, 3].map(() => {
      const budget = { steps: 100_000_000 };
      expect(evaluateFilter(filter, metadata, budget)).toBe(false);
      return 100_000_000 - budget.steps;
    });
    expect(spent[0]).toBeGreaterThan(10 * metadata.a.length);
    expect(new Set(spent).size).toBe(1);
    expect(() => evaluateFilter(filter, metadata, { steps: spent[0]! - 1 })).toThrowError(refusedAsCostly);
    expect(evaluateFilter(filter, metadata, { steps: spent[0]! })).toBe(false);
  });

  test('shares its budget with the other patterns of the query', async () => {
    const store = new LocalVector();
    await store.createIndex({ indexName: 'docs', dimension: 1 });
    const texts = Array.from({ length: 20 }, () => 'a'.repeat(600_000));
    await store.upsert({ indexName: 'docs', vectors: texts.map(() => [1]), metadata: texts.map((text) => ({ text })) });
    const one = { text: { $regex: 'x[ab]y' } };
    const query = (filter: object): Promise<unknown> => store.query({ indexName: 'docs', queryVector: [1], filter });
    expect(await query(one)).toEqual([]);
    await expect(query({ $or: Array.from({ length: 10 }, () => one) })).rejects.toMatchObject({
      code: 'FILTER_TOO_COSTLY',
    });
  });

  test('has a budget for each query, also where a filter is checked once for many', async () => {
    const filter = checkFilter({ text: { $regex: 'x[ab]y' } });
    const local = new LocalVector();
    for (const store of [local, new ToyVector()]) {
      await store.createIndex({ indexName: 'docs', dimension: 1 });
      const metadata = Array.from({ length: 4 }, () => ({ text: 'a'.repeat(5_000_000) }));
      await store.upsert({ indexName: 'docs', vectors: metadata.map(() => [1]), metadata });
      for (let query = 0; query < 6; query += 1) {
        expect(await store.query({ indexName: 'docs', queryVector: [1], filter })).toEqual([]);
        expect((await store.listVectors({ indexName: 'docs', filter })).records).toEqual([]);
      }
    }
  });
});

describe('$contains with a long value', () => {
  test('finds the same texts as String.includes', () => {
    const letters = fc.constantFrom('a', 'b');
    const text = fc.array(letters, { maxLength: 1200 }).map((parts) => parts.join(''));
    const periodic = fc
      .tuple(text, fc.integer({ min: 1, max: 300 }))
      .map(([part, times]) => part.slice(0, 9).repeat(times));
    fc.assert(
      fc.property(fc.oneof(text, periodic), fc.nat(), fc.nat(), fc.boolean(), (whole, start, length, isChanged) => {
        const part = whole.slice(start % (whole.length + 1)).slice(0, 201 + (length % 600)) + (isChanged ? 'b' : '');
        expect(matches({ title: { $contains: part } }, { title: whole })).toBe(whole.includes(part));
      }),
      { numRuns: 500 },
    );
  });

  test('reads hostile text in linear time', () => {
    const filter = { title: { $contains: `${'a'.repeat(100_000)}b${'a'.repeat(100_000)}` } };
    expect(matches(filter, { title: 'a'.repeat(2_000_000) })).toBe(false);
  });
});
