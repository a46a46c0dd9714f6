import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { MDocument } from '../document/document.js';
import { createLexicalEmbedder, type Embedder } from '../embedding/index.js';
import type { VectorRecord } from '../store/vector-store.js';
import { LocalVector } from '../stores/local/index.js';
import { finishIngest, ingestPart, planIngest, type IngestPart, type IngestPartReport } from './ingest-plan.js';
import { ingest } from './ingest.js';

const indexName = 'docs';
const embedder = createLexicalEmbedder({ dimension: 16 });
type Texts = Readonly<Record<string, string>>;
let store: LocalVector;

beforeEach(() => {
  store = new LocalVector();
});

const listed = (texts: Texts): { source: string; fingerprint: string }[] =>
  Object.entries(texts).map(([source, text]) => ({ source, fingerprint: text }));
const documentsOf = (texts: Texts, sources: readonly string[] = Object.keys(texts)): MDocument[] =>
  sources.flatMap((source) => (texts[source] === undefined ? [] : [MDocument.fromMarkdown(texts[source], { source })]));

/** What a job queue does with data. */
const asJob = <Data>(data: Data): Data => JSON.parse(JSON.stringify(data)) as Data;

const run = (part: IngestPart, texts: Texts, by: Embedder = embedder): Promise<IngestPartReport> =>
  ingestPart(asJob(part), { load: (sources) => documentsOf(texts, sources), store, embedder: by }).then(asJob);

async function runPlan(texts: Texts, partSize = 2, options: { scope?: { tenant: string } } = {}) {
  const { plan, parts } = await planIngest({ sources: listed(texts), store, indexName, partSize, ...options });
  const reports = await Promise.all(parts.map((part) => run(part, texts)));
  return finishIngest(asJob(plan), reports, { store });
}

const recordsOf = async (one: LocalVector): Promise<VectorRecord[]> => {
  if (!(await one.listIndexes()).includes(indexName)) return [];
  const { records } = await one.listVectors({ indexName, includeVector: true });
  return records.toSorted((first, second) => (first.id < second.id ? -1 : 1));
};

const anyTexts = fc.dictionary(
  fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  fc
    .array(fc.constantFrom('# A\n\nOne.', '# B\n\nTwo.', '# C\n\nThree.'), { maxLength: 3 })
    .map((all) => all.join('\n\n')),
);

describe('a planned ingestion', () => {
  it('leaves the records of one run, in any order of parts that fail and run again', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyTexts, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 3 }),
        fc.array(fc.nat(9), { maxLength: 6 }),
        async (versions, partSize, extra) => {
          store = new LocalVector();
          const whole = new LocalVector();
          for (const texts of versions) {
            await ingest({ documents: documentsOf(texts), store: whole, indexName, embedder, cleanup: 'all' });
            const { plan, parts } = await planIngest({ sources: listed(texts), store, indexName, partSize });
            const jobs = [...extra.flatMap((place) => parts[place % parts.length] ?? []), ...parts];
            const reports: IngestPartReport[] = [];
            for (const [index, part] of jobs.entries()) {
              const failing = { ...embedder, embed: () => Promise.reject(new Error('killed')) };
              if (index % 2 === 0) await run(part, texts, failing).catch(() => undefined);
              reports.push(await run(part, texts));
            }
            await finishIngest(asJob(plan), reports.toReversed(), { store });
            await finishIngest(asJob(plan), reports, { store });
            expect(await recordsOf(store)).toEqual(await recordsOf(whole));
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('reports what all parts did together', async () => {
    expect(await runPlan({ a: 'One.', b: 'Two.', c: 'Three.' })).toEqual({
      documents: 3,
      added: 3,
      moved: 0,
      unchanged: 0,
      removed: 0,
      missing: [],
    });
    expect(await runPlan({ a: 'One.', b: 'Two again.' })).toMatchObject({ added: 1, unchanged: 1, removed: 2 });
  });

  it('removes nothing of other scopes, of other programs, and of documents that came after the plan', async () => {
    await ingest({ documents: documentsOf({ x: 'Of B.' }), store, indexName, embedder, scope: { tenant: 'b' } });
    await runPlan({ old: 'Old.' }, 2, { scope: { tenant: 'a' } });
    await store.upsert({ indexName, vectors: [Array(16).fill(1)], ids: ['foreign'], metadata: [{ tenant: 'a' }] });
    const scope = { tenant: 'a' };
    const { plan, parts } = await planIngest({ sources: listed({ a: 'New.' }), store, indexName, scope });
    await ingest({ documents: documentsOf({ late: 'Late.' }), store, indexName, embedder, scope });
    const reports = await Promise.all(parts.map((part) => run(part, { a: 'New.' })));
    expect(await finishIngest(plan, reports, { store })).toMatchObject({ removed: 1 });
    const { records } = await store.listVectors({ indexName });
    expect(records.map(({ id, metadata }) => metadata['source'] ?? id).toSorted()).toEqual([
      'a',
      'foreign',
      'late',
      'x',
    ]);
  });

  it('rejects misspelled options and options of ingest() that a part does not have', async () => {
    await ingest({ documents: documentsOf({ a: '# A' }), store, indexName, embedder, scope: { tenant: 'x' } });
    const misspelled = { sources: listed({ b: '# B' }), store, indexName, scop: { tenant: 'y' } };
    // Such a plan would remove the documents of all tenants.
    await expect(planIngest(misspelled)).rejects.toMatchObject({
      code: 'VECTOR_ARGUMENT_INVALID',
      message: expect.stringContaining("planIngest has no option 'scop'") as string,
    });
    const { parts } = await planIngest({ sources: listed({ b: '# B' }), store, indexName, scope: { tenant: 'y' } });
    const dry = { load: () => documentsOf({ b: '# B' }), store, embedder, dryRun: true };
    await expect(ingestPart(parts[0] as IngestPart, dry)).rejects.toMatchObject({
      message: expect.stringContaining("ingestPart has no option 'dryRun'") as string,
    });
    expect((await store.describeIndex({ indexName })).count).toBe(1);
  });

  it('keeps and names sources without a document', async () => {
    await runPlan({ a: 'One.', b: 'Two.' });
    const { plan, parts } = await planIngest({ sources: listed({ a: 'One.', b: 'Two.' }), store, indexName });
    const report = await run(parts[0] as IngestPart, { a: 'One.' });
    expect(report.missing).toEqual(['b']);
    expect(await finishIngest(plan, [report], { store })).toMatchObject({ removed: 0, missing: ['b'] });
    expect((await store.describeIndex({ indexName })).count).toBe(2);
  });

  it('gives a job another id when its content, its plan or its scope is another', async () => {
    const idOf = async (texts: Texts, id: string, scope?: { tenant: string }): Promise<string | undefined> =>
      (await planIngest({ sources: listed(texts), store, indexName, id, ...(scope && { scope }) })).parts[0]?.id;
    const ids = [
      await idOf({ a: 'One.' }, 'p'),
      await idOf({ a: 'Two.' }, 'p'),
      await idOf({ a: 'One.' }, 'q'),
      await idOf({ a: 'One.' }, 'p', { tenant: 'b' }),
    ];
    expect(new Set(ids).size).toBe(4);
    expect(await idOf({ a: 'One.' }, 'p')).toBe(ids[0]);
  });

  it('refuses to finish before all parts have run, and removes nothing', async () => {
    await runPlan({ old: 'Old.' });
    const { plan, parts } = await planIngest({
      sources: listed({ a: '1', b: '2', c: '3' }),
      store,
      indexName,
      partSize: 2,
    });
    const report = await run(parts[0] as IngestPart, { a: '1', b: '2' });
    const foreign = { ...report, part: 'of another plan' };
    await expect(finishIngest(plan, [report, report, foreign], { store })).rejects.toMatchObject({
      code: 'INGEST_PLAN_INCOMPLETE',
      details: { parts: [parts[1]?.id] },
    });
    const damaged = parts.map(({ id }) => ({ part: id })) as IngestPartReport[];
    await expect(finishIngest(plan, damaged, { store })).rejects.toMatchObject({ code: 'INGEST_PLAN_INVALID' });
    expect((await recordsOf(store)).map(({ metadata }) => metadata['source'])).toContain('old');
  });

  it.each([
    [{ sources: [{ source: '', fingerprint: '1' }] }],
    [{ sources: [{ source: 'a' }] }],
    [{ sources: [undefined] }],
    [{ sources: listed({ a: '1' }).concat(listed({ a: '2' })) }],
    [{ sources: [], partSize: 0 }],
    [{ sources: [], partSize: Number.NaN }],
  ])('rejects a plan of %j', async (options) => {
    const plan = planIngest({ store, indexName, ...(options as { sources: [] }) });
    await expect(plan).rejects.toMatchObject({ code: 'INGEST_PLAN_INVALID' });
  });

  it.each([[undefined], [{}], [{ id: 'x', indexName, sources: 'a' }], [{ id: 'x', indexName, sources: [1] }]])(
    'rejects the job data %j',
    async (part) => {
      const job = ingestPart(part as unknown as IngestPart, { load: () => [], store, embedder });
      await expect(job).rejects.toMatchObject({ code: 'INGEST_PART_INVALID' });
    },
  );

  it('rejects a document of another source, before it is stored', async () => {
    const { parts } = await planIngest({ sources: listed({ a: 'One.' }), store, indexName });
    const load = () => documentsOf({ b: 'Two.' });
    const job = ingestPart(parts[0] as IngestPart, { load, store, embedder });
    await expect(job).rejects.toMatchObject({ code: 'INGEST_PART_INVALID' });
    expect(await recordsOf(store)).toEqual([]);
  });

  it('ends with the abort reason', async () => {
    const signal = AbortSignal.abort(new Error('stop'));
    await expect(planIngest({ sources: listed({ a: '1' }), store, indexName, signal })).rejects.toThrow('stop');
    const { plan, parts } = await planIngest({ sources: listed({ a: '1' }), store, indexName });
    const load = () => documentsOf({ a: '1' });
    await expect(ingestPart(parts[0] as IngestPart, { load, store, embedder, signal })).rejects.toThrow('stop');
    await expect(finishIngest({ ...plan, parts: [], gone: ['x'] }, [], { store, signal })).rejects.toThrow('stop');
  });
});
