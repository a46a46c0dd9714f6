import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError } from '../../../../scripts/test-error.ts';
import { newFolder } from '../../../../scripts/test-folder.ts';
import { exportIndexToFile, importIndexFromFile } from './index-files.js';
import { LocalVector } from '../stores/local/index.js';
import { PgVector } from '../stores/pg/index.js';
import { pgliteForTests } from '../stores/pg/open-stores.fixture.js';
import type { VectorRecord, VectorStore } from '../store/vector-store.js';
import { exportIndex, type TransferProgress } from './export-index.js';
import { importIndex } from './import-index.js';

const indexName = 'moved';
const count = 1234;
const pglite = pgliteForTests();
let folder: string;
let source: LocalVector;

beforeAll(async () => {
  folder = await newFolder();
  source = await filled();
});
afterAll(() => pglite.close());

async function filled(): Promise<LocalVector> {
  const store = new LocalVector();
  await store.createIndex({ indexName, dimension: 3, metric: 'euclidean' });
  await store.upsert({
    indexName,
    ids: Array.from({ length: count }, (_, n) => `id ${n} ü\n`),
    vectors: Array.from({ length: count }, (_, n) => [n / 3, -n - 1, 1e-9]),
    metadata: Array.from({ length: count }, (_, n) => ({ n, deep: { list: [n, null, 'x\u2028'] } })),
    documents: Array.from({ length: count }, (_, n) => (n % 3 === 0 ? undefined : `text ${n}\r\n"quoted"`)),
  });
  return store;
}

async function allOf(store: VectorStore): Promise<VectorRecord[]> {
  return (await store.listVectors({ indexName, limit: 10_000, includeVector: true })).records;
}

async function linesOf(lines: AsyncIterable<string>): Promise<string[]> {
  const list: string[] = [];
  for await (const line of lines) list.push(line);
  return list;
}

describe('moving an index', () => {
  it('copies every record to another store unchanged, without a file', async () => {
    const target = new PgVector(await pglite.open());
    const progress: TransferProgress[] = [];
    const moved = await importIndex({
      lines: exportIndex({ vectorStore: source, indexName }),
      vectorStore: target,
      indexName,
      onProgress: (report) => progress.push(report),
    });
    expect(moved).toBe(count);
    expect(progress.map(({ records }) => records)).toEqual([500, 1000, 1234]);
    expect(progress.every(({ total }) => total === count)).toBe(true);
    expect(await allOf(target)).toEqual(await allOf(source));
    expect(await target.describeIndex({ indexName })).toMatchObject({ dimension: 3, metric: 'euclidean' });
  });

  it('exports only what passes a filter', async () => {
    const target = new LocalVector();
    const lines = exportIndex({ vectorStore: source, indexName, filter: { n: { $lt: 10 } } });
    expect(await importIndex({ lines, vectorStore: target, indexName, metric: 'cosine' })).toBe(10);
    expect(await target.describeIndex({ indexName })).toMatchObject({ count: 10, metric: 'cosine' });
  });

  it('resumes an interrupted export, from any byte', async () => {
    const whole = join(folder, 'whole.jsonl');
    await exportIndexToFile({ vectorStore: source, indexName, path: whole, pageSize: 100 });
    const bytes = await readFile(whole);
    // A line without its end may have been cut off.
    const endOfCursor = bytes.indexOf('\n', bytes.lastIndexOf('{"cursor":'));
    for (const length of [0, 1, 500, 60_000, 123_456, endOfCursor, bytes.length - 1, bytes.length]) {
      const path = join(folder, `cut-${length}.jsonl`);
      await writeFile(`${path}.part`, bytes.subarray(0, length));
      let records = -1;
      await exportIndexToFile({
        vectorStore: source,
        indexName,
        path,
        pageSize: 100,
        onProgress: (progress) => (records = records === -1 ? progress.records : records),
      });
      expect((await readFile(path)).equals(bytes), String(length)).toBe(true);
      // The import skips the stored records.
      if (length > 60_000) expect(records).toBeGreaterThan(100);
    }
    expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([]);
    const target = new LocalVector();
    expect(await importIndexFromFile({ path: whole, vectorStore: target, indexName })).toBe(count);
    expect(await allOf(target)).toEqual(await allOf(source));
  });

  it('keeps the part of a failed export only if it can be resumed', async () => {
    const path = join(folder, 'failed.jsonl');
    const run = (index: string, options: object = {}): Promise<void> =>
      exportIndexToFile({ vectorStore: source, indexName: index, path, pageSize: 100, ...options });
    await expectError(run('missing'), 'VECTOR_INDEX_NOT_FOUND');
    await expectError(run(indexName, { filter: { $unknown: 1 } }), 'FILTER_INVALID');
    expect(await readdir(folder)).not.toContain('failed.jsonl.part');
    const onProgress = ({ records }: { records: number }): void => {
      if (records > 600) throw new Error('enough');
    };
    await expect(run(indexName, { onProgress })).rejects.toThrow('enough');
    expect(await readdir(folder)).toContain('failed.jsonl.part');
    await run(indexName);
    expect(await readdir(folder)).not.toContain('failed.jsonl.part');
  });

  it('restarts an export where the part that is there is of another index or filter', async () => {
    const path = join(folder, 'another.jsonl');
    const other = new LocalVector();
    await other.createIndex({ indexName: 'other', dimension: 3 });
    await other.upsert({
      indexName: 'other',
      ids: ['x', 'y'],
      vectors: [
        [1, 2, 3],
        [4, 5, 6],
      ],
    });
    const filter = { n: { $lt: 10 } };
    for (const part of [
      exportIndex({ vectorStore: other, indexName: 'other', pageSize: 1 }),
      exportIndex({ vectorStore: source, indexName, pageSize: 100 }),
    ]) {
      await writeFile(`${path}.part`, `${(await linesOf(part)).join('\n')}\n`);
      await exportIndexToFile({ vectorStore: source, indexName, filter, path });
      const fresh = await linesOf(exportIndex({ vectorStore: source, indexName, filter }));
      expect((await readFile(path, 'utf8')).split('\n')).toEqual([...fresh, '']);
    }
  });

  it('resumes an interrupted import', async () => {
    const target = new LocalVector();
    const lines = await linesOf(exportIndex({ vectorStore: source, indexName }));
    const controller = new AbortController();
    let stored = 0;
    const first = importIndex({
      lines,
      vectorStore: target,
      indexName,
      batchSize: 100,
      signal: controller.signal,
      onProgress: ({ records }) => {
        stored = records;
        if (records === 300) controller.abort(new Error('enough'));
      },
    });
    await expect(first).rejects.toThrow('enough');
    expect(await target.describeIndex({ indexName })).toMatchObject({ count: 300 });
    expect(await importIndex({ lines, vectorStore: target, indexName, skip: stored })).toBe(count);
    expect(await allOf(target)).toEqual(await allOf(source));
  });

  it('names a file that is missing or is not a file', async () => {
    for (const path of [join(folder, 'missing.jsonl'), folder]) {
      const imported = importIndexFromFile({ path, vectorStore: new LocalVector(), indexName });
      await expectError(imported, 'VECTOR_EXPORT_INVALID', path);
    }
  });

  it('rejects a skip beyond the end of the export', async () => {
    const lines = await linesOf(exportIndex({ vectorStore: source, indexName }));
    const imported = importIndex({ lines, vectorStore: new LocalVector(), indexName, skip: count + 1 });
    await expectError(imported, 'OPTIONS_INVALID', `${count} records`);
  });

  it('stops an import when the signal fires, also while it waits for lines', async () => {
    const controller = new AbortController();
    const [header = ''] = await linesOf(exportIndex({ vectorStore: source, indexName }));
    async function* endless(): AsyncGenerator<string> {
      yield header;
      controller.abort(new Error('enough'));
      await new Promise(() => undefined);
    }
    const store = new LocalVector();
    const imported = importIndex({ lines: endless(), vectorStore: store, indexName, signal: controller.signal });
    await expect(imported).rejects.toThrow('enough');
  });

  it('stops an export when the signal fires', async () => {
    const controller = new AbortController();
    const read = linesOf(
      exportIndex({
        vectorStore: source,
        indexName,
        pageSize: 100,
        signal: controller.signal,
        onProgress: () => controller.abort(new Error('enough')),
      }),
    );
    await expect(read).rejects.toThrow('enough');
  });

  it.each([
    ['nothing', [], 1],
    ['another file', ['{"id":"a"}'], 1],
    ['no JSON', ['header', '{"id":'], 2],
    ['a list', ['header', '[]'], 2],
    ['a record without vector', ['header', '{"id":"a","metadata":{}}'], 2],
    ['an export that was cut off', ['header', '{"id":"a","vector":[1],"metadata":{}}'], 3],
    ['an export with a gap', ['header', '{"end":2}'], 2],
    ['more than one export', ['header', '{"end":0}', '{"end":0}'], 3],
  ])('refuses %s, and says in which line', async (_what, given, line) => {
    const header = '{"format":"quiver-index","version":1,"dimension":1,"metric":"cosine","count":1}';
    const lines = given.map((text) => (text === 'header' ? header : text));
    await expect(importIndex({ lines, vectorStore: new LocalVector(), indexName })).rejects.toMatchObject({
      code: 'VECTOR_EXPORT_INVALID',
      details: { line },
    });
  });

  it('rejects missing options and invalid values', async () => {
    const lines = exportIndex({ vectorStore: source, indexName });
    await expect(linesOf(exportIndex({ vectorStore: source, indexName, pageSize: 0 }))).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
      message: "exportIndex: 'pageSize' must be an integer of at least 1, not 0.",
    });
    await expectError(importIndex({ lines, indexName } as never), 'OPTIONS_INVALID', "importIndex needs 'vectorStore'");
    await expectError(
      exportIndexToFile({ vectorStore: source, indexName } as never),
      'OPTIONS_INVALID',
      "exportIndexToFile needs 'path'",
    );
    await expect(importIndex({ vectorStore: new LocalVector(), indexName } as never)).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
      message: "importIndex: 'lines' must be a list or another iterable, not undefined.",
    });
    const path = join(folder, 'without-store.jsonl');
    await expect(exportIndexToFile({ path, indexName } as never)).rejects.toThrow(
      "exportIndexToFile needs 'vectorStore'",
    );
    expect(await readdir(folder)).not.toContain('without-store.jsonl.part');
  });

  it.each([{ batchSize: 0 }, { skip: -1 }, { batchSize: 1.5 }])('refuses %j', async (options) => {
    const lines = exportIndex({ vectorStore: source, indexName });
    await expectError(importIndex({ lines, vectorStore: new LocalVector(), indexName, ...options }), 'OPTIONS_INVALID');
  });
});
