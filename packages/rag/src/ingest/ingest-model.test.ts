import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { MDocument } from '../document/document.js';
import { createLexicalEmbedder, type Embedder } from '../embedding/index.js';
import { LocalVector } from '../stores/local/index.js';
import type { VectorRecord } from '../store/vector-store.js';
import { deleteDocuments } from './delete-documents.js';
import { ingest, type IngestOptions } from './ingest.js';

const indexName = 'docs';
const embedder = createLexicalEmbedder({ dimension: 16 });

/** Documents that share sections, sources and whole texts. */
const anyDocument = fc
  .record({
    sections: fc.array(fc.constantFrom('# A\n\nOne.', '# B\n\nTwo.', '# C\n\nThree.'), { maxLength: 3 }),
    source: fc.constantFrom('a', 'b', undefined),
  })
  .map(({ sections, source }) => ({ text: sections.join('\n\n'), source }));
const anyDocuments = fc.array(anyDocument, { maxLength: 4 });
const anyCleanup = fc.constantFrom('source' as const, 'all' as const, 'none' as const);
const anySettings = fc.record({
  scope: fc.constantFrom('all' as const, 'all' as const, undefined, { tenant: 'x' }, { tenant: 'y' }),
  maxSize: fc.constantFrom(undefined, undefined, 8),
  hasVectors: fc.constantFrom(false, false, true),
  cleanup: anyCleanup,
  batchSize: fc.constantFrom(1, 3),
});
const anyChange = fc.constantFrom('delete', 'update', 'replace', 'add', 'truncate', 'drop', 'deleteDocuments');
const anyRun = { documents: anyDocuments, settings: anySettings };
const during = { within: anyDocuments, withinSettings: anySettings, at: fc.nat(3) };
const anyStep = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('run' as const), ...anyRun }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('failed run' as const), ...anyRun, after: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('dry run' as const), ...anyRun }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('change' as const), change: anyChange, at: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('run during a run' as const), ...anyRun, ...during }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('run again' as const), cleanup: anyCleanup }) },
);
type Settings = typeof anySettings extends fc.Arbitrary<infer Value> ? Value : never;
type Documents = typeof anyDocuments extends fc.Arbitrary<infer Value> ? Value : never;

const toDocuments = (documents: Documents): MDocument[] =>
  documents.map(({ text, source }) => MDocument.fromMarkdown(text, source === undefined ? {} : { source }));

function toOptions(store: LocalVector, documents: Documents, settings: Settings): IngestOptions {
  const { scope, maxSize, hasVectors, cleanup, batchSize } = settings;
  return {
    documents: toDocuments(documents),
    vectorStore: store,
    indexName,
    model: embedder,
    cleanup,
    batchSize,
    concurrency: 2,
    ...(scope && { scope }),
    ...(maxSize !== undefined && { chunkOptions: { strategy: 'markdown' as const, maxSize, overlap: 0 } }),
    ...(hasVectors && { vectors: (chunk) => [`about ${chunk.text}`] }),
  };
}

async function recordsOf(store: LocalVector): Promise<VectorRecord[]> {
  if (!(await store.listIndexes()).includes(indexName)) return [];
  return (await store.listVectors({ indexName, includeVector: true, limit: 1000 })).records;
}

const isRefused = async (store: LocalVector, { scope }: Settings): Promise<boolean> =>
  scope === undefined && (await recordsOf(store)).some(({ metadata }) => metadata['scoped'] === true);

async function change(store: LocalVector, what: string, at: number): Promise<void> {
  const records = await recordsOf(store);
  const record = records[at % Math.max(1, records.length)];
  if (!record) return;
  const { id, metadata } = record;
  if (what === 'delete') await store.deleteVectors({ indexName, ids: [id] });
  else if (what === 'update')
    await store.updateVector({ indexName, id, update: { metadata: { ...metadata, startIndex: 99 } } });
  else if (what === 'replace') {
    const { vector = [], document = '' } = record;
    const other = { vectors: [vector], documents: [document], metadata: [{ ...metadata, endIndex: 99 }] };
    await store.deleteVectors({ indexName, ids: [id] });
    await store.upsert({ indexName, ids: [id], ...other });
  } else if (what === 'add') {
    const { embedder: _embedder, ...own } = metadata;
    await store.upsert({ indexName, ids: [`foreign ${at}`], vectors: [record.vector ?? []], metadata: [own] });
  } else if (what === 'truncate') await store.truncateIndex({ indexName });
  else if (what === 'drop') await store.deleteIndex({ indexName });
  else await deleteDocuments({ vectorStore: store, indexName, sources: ['a'], scope: 'all' });
}

/** After `allowed` calls it fails. */
function failingEmbedder(allowed: number): Embedder {
  let calls = 0;
  return {
    ...embedder,
    embed: async (texts, options) => {
      if (calls++ >= allowed) throw new Error('stopped');
      return embedder.embed(texts, options);
    },
  };
}

it('makes the same index as a first run, after any runs, failures and changes by others', async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 2, maxLength: 8 }), async (steps) => {
      const store = new LocalVector();
      let latest: { documents: Documents; settings: Settings } | undefined;
      const run = async (documents: Documents, settings: Settings): Promise<void> => {
        latest = { documents, settings };
        if (await isRefused(store, settings)) {
          const before = await recordsOf(store);
          const refused = ingest(toOptions(store, documents, settings));
          await expect(refused).rejects.toMatchObject({ code: 'INGEST_SCOPE_MISSING' });
          expect(await recordsOf(store)).toEqual(before);
          return;
        }
        await ingest(toOptions(store, documents, settings));
        const fresh = new LocalVector();
        await ingest(toOptions(fresh, documents, settings));
        const expected = await recordsOf(fresh);
        const all = await recordsOf(store);
        const { scope, cleanup } = settings;
        const own = typeof scope === 'object' ? all.filter(({ metadata }) => metadata['tenant'] === scope.tenant) : all;
        const ids = new Set(expected.map(({ id }) => id));
        const sources = new Set<unknown>(documents.flatMap(({ source }) => source ?? []));
        const responsible = own.filter(
          ({ id, metadata }) =>
            ids.has(id) ||
            cleanup === 'all' ||
            (cleanup === 'source' && metadata['embedder'] !== undefined && sources.has(metadata['source'])),
        );
        expect(responsible).toEqual(expected);
        compared += 1;
      };
      for (const step of steps) {
        if (step.kind === 'run') await run(step.documents, step.settings);
        else if (step.kind === 'run again') {
          if (latest) await run(latest.documents, { ...latest.settings, cleanup: step.cleanup });
        } else if (step.kind === 'run during a run') {
          const { documents, settings, within, withinSettings, at } = step;
          latest = { documents, settings };
          async function* interrupted(): AsyncGenerator<MDocument> {
            for (const [place, document] of toDocuments(documents).entries()) {
              if (place === at && !(await isRefused(store, withinSettings)))
                await ingest(toOptions(store, within, withinSettings));
              yield document;
            }
          }
          if (!(await isRefused(store, settings)))
            await ingest({ ...toOptions(store, documents, settings), documents: interrupted() });
        } else if (step.kind === 'change') await change(store, step.change, step.at);
        else {
          const options = toOptions(store, step.documents, step.settings);
          const before = await recordsOf(store);
          if (step.kind === 'dry run') {
            if (!(await isRefused(store, step.settings))) await ingest({ ...options, dryRun: true });
            expect(await recordsOf(store)).toEqual(before);
          } else await ingest({ ...options, maxRetries: 0, model: failingEmbedder(step.after) }).catch(() => undefined);
        }
      }
    }),
    { seed: 1, numRuns: 150 },
  );
  expect(compared).toBeGreaterThan(150);
});
