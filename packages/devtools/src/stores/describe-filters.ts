import { isQuiverError } from '@quiver/core';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type VectorFilter, type VectorMetadata, type VectorStore, createFilterTest, parseFilter } from '@quiver/rag';
import { anyFilter, anyMetadata, flatMetadata } from './any-filter.js';
import { expectError } from './describe-search-modes.js';

/** Options of `describeFilters()`. */
export interface DescribeFiltersOptions {
  /** Metadata of stores that hold scalars and lists of strings only. Default `false`. */
  flat?: boolean;
  /** Random filters that are tried. Default 300. */
  runs?: number;
}

/** Found by random tests, and kept: a missing field in a negation inside an element inside a negation. */
const onceWrong: [VectorMetadata][] = [
  [{ $not: { list: { $elemMatch: { missing: { $not: { $eq: 'x' } } } } } }],
  [{ $not: { $or: [{ a: { $elemMatch: { 'a.0': { $not: { $eq: '' } } } } }] } }],
];

/**
 * Compares a store with the reference evaluator: for random data and random filters it must find exactly the same records, or
 * refuse the filter with `FILTER_NOT_SUPPORTED`.
 *
 * @param open - a store that holds nothing
 *
 * @example
 * describeFilters('MyStore', async () => new LocalVector(), (store) => store.close());
 */
export function describeFilters<Store extends VectorStore>(
  name: string,
  open: () => Promise<Store>,
  close: (store: Store) => Promise<void>,
  { flat = false, runs = 300 }: DescribeFiltersOptions = {},
): void {
  describe(`filters of ${name}`, () => {
    const indexName = 'filtered';
    const metadata = fc.sample(flat ? flatMetadata : anyMetadata, { numRuns: 80, seed: 7 });
    const records = metadata.map((values, n) => ({ id: String(n).padStart(3, '0'), metadata: values }));
    let store: Store;

    beforeAll(async () => {
      store = await open();
      await store.createIndex({ indexName, dimension: 2 });
      const vectors = records.map((_, n) => [1, n / records.length]);
      await store.upsert({ indexName, ids: records.map(({ id }) => id), vectors, metadata });
    }, 60_000);
    afterAll(() => close(store));

    function expectedIds(filter: VectorFilter): string[] {
      const matches = createFilterTest(parseFilter(filter));
      return records.filter(({ metadata: values }) => matches(values)).map(({ id }) => id);
    }

    // F01 F02 F03 F05 F08 F09 F10 F17 F18 F20
    it('find what the reference evaluator finds, or are refused by name', async () => {
      let answered = 0;
      await tryFilters(
        { numRuns: runs, examples: onceWrong },
        (filter) => filter,
        async (filter) => {
          const page = await store.listVectors({ indexName, filter });
          expect(page.records.map(({ id }) => id)).toEqual(expectedIds(filter));
          const matches = await store.query({ indexName, queryVector: [1, 0], topK: records.length, filter });
          expect(matches.map(({ id }) => id)).toEqual(expectedIds(filter));
          answered += 1;
        },
      );
      expect(answered).toBeGreaterThan(runs / 20);
    }, 120_000);

    // F19
    it('cannot be widened from inside', async () => {
      const trusted = { a: { $exists: true } };
      const allowed = new Set(expectedIds(trusted));
      const narrow = (filter: VectorMetadata): VectorMetadata => ({ $and: [trusted, filter] });
      await tryFilters({ numRuns: Math.ceil(runs / 5) }, narrow, async (filter) => {
        const { records: found } = await store.listVectors({ indexName, filter });
        expect(found.filter(({ id }) => !allowed.has(id))).toEqual([]);
      });
    }, 60_000);

    it.each([
      // F04
      ['a pattern with a back-reference', { a: { $regex: String.raw`^(a+)\1$` } }],
      // F04
      ['a pattern with lookahead', { a: { $regex: '(?=a)b' } }],
      // F04
      ['a pattern without end', { a: { $regex: 'a'.repeat(100_000) } }],
      // F06
      ['an unknown operator', { a: { $like: 'x' } }],
      // F11
      ['__proto__', JSON.parse('{"__proto__":{"a":1}}') as VectorMetadata],
      // F12
      ['a list of 50,000 values', { a: { $in: Array.from({ length: 50_000 }, (_, n) => n) } }],
      // F15
      ['NaN', { a: Number.NaN }],
      // F15
      ['Infinity', { a: { $lt: Number.POSITIVE_INFINITY } }],
      // F18
      ['undefined', { a: undefined }],
    ])('refuse %s', async (_what, filter) => {
      await expectError(store.listVectors({ indexName, filter }), 'FILTER_INVALID');
      await expectError(store.deleteVectors({ indexName, filter }), 'FILTER_INVALID');
      expect(await store.describeIndex({ indexName })).toMatchObject({ count: records.length });
    });

    // F13
    it('refuse 5,000 levels without overflowing the stack', async () => {
      let filter: VectorMetadata = { a: 1 };
      for (let level = 0; level < 5000; level += 1) filter = { $not: filter };
      await expectError(store.query({ indexName, queryVector: [1, 0], filter }), 'FILTER_INVALID');
    });
  });
}

/** Runs a test with random filters. Stores may refuse them. */
async function tryFilters(
  parameters: fc.Parameters<[VectorMetadata]>,
  change: (filter: VectorMetadata) => VectorMetadata,
  test: (filter: VectorMetadata) => Promise<void>,
): Promise<void> {
  const property = fc.asyncProperty(anyFilter, async (random) => {
    const filter = change(random);
    // Some are nothing that the parser takes, such as a field that begins with a dollar sign inside a list.
    fc.pre(isFilter(filter));
    await test(filter).catch((error: unknown) => {
      if (!isQuiverError(error, 'FILTER_NOT_SUPPORTED')) throw error;
    });
  });
  await fc.assert(property, parameters);
}

function isFilter(filter: VectorMetadata): boolean {
  try {
    parseFilter(filter);
    return true;
  } catch {
    return false;
  }
}
