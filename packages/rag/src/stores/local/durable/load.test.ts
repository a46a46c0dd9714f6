import { open, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { newFolder } from '../../../../../../scripts/test-folder.ts';
import type { VectorRecord } from '../../../store/vector-store.js';
import { LocalVector } from '../index.js';

// Vectors of entries with many rows are read to their place in memory, which can be in two segments of 4,096 rows.
const indexName = 'docs';
const dimension = 3;
let path: string;
beforeEach(async () => void (path = await newFolder()));

const logFile = (): string => join(path, `${indexName}.qvlog`);

interface Change {
  kind: 'upsert' | 'delete' | 'truncate';
  first: number;
  count: number;
}

async function apply(store: LocalVector, { kind, first, count }: Change, round: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, place) =>
    first % 3 === 0 ? `ü${first + place}` : `id ${first + place}`,
  );
  if (kind === 'truncate') return store.truncateIndex({ indexName });
  if (kind === 'delete') return store.deleteVectors({ indexName, ids });
  await store.upsert({
    indexName,
    ids,
    vectors: ids.map((_id, place) => [round, first + place, 1]),
    metadata: ids.map((_id, place) => ({ round, place })),
    documents: ids.map((_id, place) => `round${round} place${place % 10}`),
  });
}

/** Searches of every kind, with a filter where there is a round. */
async function search(store: LocalVector, round?: number): Promise<unknown[]> {
  const filter = round === undefined ? undefined : { round };
  const params = { indexName, topK: 20, ...(filter && { filter }) };
  return [
    await store.query({ ...params, queryVector: [1, 2, 3] }),
    await store.query({ ...params, mode: 'keyword', queryText: 'place3 round1' }),
  ];
}

async function recordsOf(store: LocalVector): Promise<VectorRecord[]> {
  return (await store.listVectors({ indexName, includeVector: true, limit: 10_000 })).records;
}

describe('opening an index', () => {
  it('finds what a store in memory has after the same changes', async () => {
    const change = fc.record({
      kind: fc.constantFrom('upsert', 'upsert', 'upsert', 'upsert', 'delete', 'truncate') as fc.Arbitrary<
        Change['kind']
      >,
      first: fc.nat(600),
      count: fc.oneof(fc.integer({ min: 1, max: 70 }), fc.integer({ min: 64, max: 1500 })),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 12 }), fc.nat(12), async (changes, early) => {
        path = await newFolder();
        const [expected, writer, reader] = [new LocalVector(), new LocalVector({ path }), new LocalVector({ path })];
        for (const store of [expected, writer]) await store.createIndex({ indexName, dimension });
        for (const [round, each] of changes.entries()) {
          for (const store of [expected, writer]) await apply(store, each, round);
          if (round !== early) continue;
          // The reader reads the rest later, and updates its ids, columns and keyword index.
          expect(await recordsOf(reader)).toEqual(await recordsOf(expected));
          expect(await search(reader, round)).toEqual(await search(expected, round));
        }
        await writer.close();
        await using opened = new LocalVector({ path });
        for (const round of [undefined, changes.length - 1]) {
          const found = await search(expected, round);
          expect(await search(opened, round)).toEqual(found);
          expect(await search(reader, round)).toEqual(found);
        }
        const records = await recordsOf(expected);
        expect(await recordsOf(opened)).toEqual(records);
        expect(await recordsOf(reader)).toEqual(records);
        // Changes after it are right too.
        for (const store of [expected, opened]) await apply(store, { kind: 'upsert', first: 300, count: 200 }, 99);
        expect(await recordsOf(opened)).toEqual(await recordsOf(expected));
        await reader.close();
      }),
      { numRuns: 8 },
    );
  });

  it('answers as a store that was never closed, in any order of queries and changes', async () => {
    const change = fc.record({
      kind: fc.constantFrom<Change['kind']>('upsert', 'upsert', 'upsert', 'delete', 'truncate'),
      first: fc.nat(600),
      count: fc.integer({ min: 1, max: 400 }),
    });
    const query = fc.record({
      queryVector: fc.array(fc.integer({ min: -9, max: 9 }), { minLength: dimension, maxLength: dimension }),
      topK: fc.integer({ min: 1, max: 20 }),
      filter: fc.option(fc.record({ place: fc.record({ $lt: fc.nat(400) }) }), { nil: undefined }),
    });
    const metric = fc.constantFrom('cosine', 'euclidean', 'dotproduct');
    const steps = fc.array(fc.oneof({ weight: 2, arbitrary: query }, change, fc.constant('open again')), {
      minLength: 2,
      maxLength: 10,
    });
    await fc.assert(
      fc.asyncProperty(metric, fc.array(change, { maxLength: 3 }), steps, async (metric, changes, steps) => {
        path = await newFolder();
        const expected = new LocalVector();
        let store = new LocalVector({ path });
        const large: Change = { kind: 'upsert', first: 1, count: 700 };
        for (const each of [expected, store]) {
          await each.createIndex({ indexName, dimension, metric });
          for (const [round, one] of [large, ...changes].entries()) await apply(each, one, round);
        }
        for (const [round, step] of (['open again', ...steps] as const).entries()) {
          if (step === 'open again') {
            await store.close();
            store = new LocalVector({ path });
          } else if ('kind' in step) {
            for (const each of [expected, store]) await apply(each, step, 100 + round);
          } else if (step.queryVector.some((number) => number !== 0) || metric !== 'cosine') {
            const { filter, ...rest } = step;
            const params = { indexName, ...rest, ...(filter && { filter }) };
            expect(await store.query(params)).toEqual(await expected.query(params));
          }
        }
        expect(await recordsOf(store)).toEqual(await recordsOf(expected));
        await store.close();
      }),
      { numRuns: 30 },
    );
  });

  it('reports damage of any part of a large entry, and discards one that was cut off', async () => {
    await using store = new LocalVector({ path });
    await store.createIndex({ indexName, dimension });
    await apply(store, { kind: 'upsert', first: 0, count: 100 }, 0);
    const first = (await stat(logFile())).size;
    await apply(store, { kind: 'upsert', first: 1000, count: 5000 }, 1);
    const second = (await stat(logFile())).size;
    await apply(store, { kind: 'upsert', first: 7000, count: 200 }, 2);
    await store.close();
    const whole = await readFile(logFile());
    const places = [
      first + 1,
      first + 9,
      first + 13,
      first + 15,
      first + 20,
      first + 40_000,
      second - 59_000,
      second - 1,
    ];
    for (const position of places) {
      const handle = await open(logFile(), 'r+');
      await handle.write(Buffer.of((whole[position] as number) ^ 0x55), 0, 1, position);
      await handle.close();
      await using opened = new LocalVector({ path });
      await expect(opened.describeIndex({ indexName }), `byte ${position}`).rejects.toMatchObject({
        code: 'VECTOR_STORE_CORRUPT',
      });
      await writeFile(logFile(), whole);
    }
    for (const size of [first + 5, first + 17, first + 2000, second - 30_000, second - 1]) {
      await writeFile(logFile(), whole.subarray(0, size));
      await using opened = new LocalVector({ path });
      expect(await opened.describeIndex({ indexName })).toMatchObject({ count: 100 });
    }
    // The length was written, the data were not.
    await writeFile(logFile(), Buffer.concat([whole.subarray(0, second - 30_000), Buffer.alloc(30_000)]));
    await using opened = new LocalVector({ path });
    await apply(opened, { kind: 'upsert', first: 51, count: 300 }, 3);
    expect(await opened.describeIndex({ indexName })).toMatchObject({ count: 351 });
  });

  it('applies no entry twice when an entry behind it could not be read the first time', async () => {
    await using writer = new LocalVector({ path });
    await using reader = new LocalVector({ path });
    await writer.createIndex({ indexName, dimension });
    expect(await recordsOf(reader)).toEqual([]);
    await apply(writer, { kind: 'upsert', first: 1, count: 100 }, 0);
    const first = (await stat(logFile())).size;
    for (const round of [1, 2]) await apply(writer, { kind: 'upsert', first: 1000 * round + 1, count: 100 }, round);
    const whole = await readFile(logFile());
    const damaged = Buffer.from(whole);
    damaged[first + 500] = (whole[first + 500] as number) ^ 0x55;
    await writeFile(logFile(), damaged);
    await expect(reader.describeIndex({ indexName })).rejects.toMatchObject({ code: 'VECTOR_STORE_CORRUPT' });
    await writeFile(logFile(), whole);
    expect(await reader.describeIndex({ indexName })).toMatchObject({ count: 300 });
    expect(await reader.version({ indexName })).toBe(await writer.version({ indexName }));
    expect(await recordsOf(reader)).toEqual(await recordsOf(writer));
  });

  it('reads texts and vectors regardless of where a block of the file ends', async () => {
    const dimension = 20_000;
    const sizes = [10, 200_000, 10, 261_000, 300_000, 1_000_000, 10];
    const records = sizes.map((size, place) => ({
      id: `${place}`,
      vector: Array.from({ length: dimension }, (_, at) => at + place),
      metadata: {},
      document: String(place).repeat(size),
    }));
    await using store = new LocalVector({ path });
    await store.createIndex({ indexName, dimension });
    for (const { id, vector, document } of records)
      await store.upsert({ indexName, ids: [id], vectors: [vector], documents: [document] });
    await using opened = new LocalVector({ path });
    expect(await recordsOf(opened)).toEqual(records);
  });

  it('reads ids and metadata of any characters', async () => {
    const ids = ['a', 'ü', 'b"c', '\n'];
    const records = ids.map((id, place) => ({
      id,
      vector: [1, 2, place],
      metadata: { list: [{ id }], text: '\u2028\n"' },
    }));
    for (const written of [['a'], ids]) {
      await using store = new LocalVector({ path });
      await store.createIndex({ indexName, dimension });
      const chosen = records.filter(({ id }) => written.includes(id));
      const vectors = chosen.map(({ vector }) => vector);
      await store.upsert({ indexName, ids: written, vectors, metadata: chosen.map(({ metadata }) => metadata) });
    }
    await using store = new LocalVector({ path });
    const found = await store.query({ indexName, queryVector: [1, 2, 0], topK: 4 });
    expect(found.map(({ metadata }) => metadata)).toEqual(records.map(({ metadata }) => metadata));
    expect(await store.get({ indexName, ids, includeVector: true })).toEqual(records);
  });
});
