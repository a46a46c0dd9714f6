import { beforeEach, describe, expect, it, vi } from 'vitest';
import { expectError } from '../../../../scripts/test-error.ts';
import { MDocument } from '../document/document.js';
import { createLexicalEmbedder } from '../embedding/index.js';
import { LocalVector } from '../stores/local/index.js';
import { deleteDocuments, type DeleteDocumentsOptions } from './delete-documents.js';
import { ingest, type IngestOptions, type IngestReport } from './ingest.js';

const indexName = 'docs';
const embedder = createLexicalEmbedder({ dimension: 64 });
const a = { tenant: 'a' };
const b = { tenant: 'b' };
let store: LocalVector;

beforeEach(() => {
  store = new LocalVector();
});

const readme = (text: string, source: unknown = 'readme.md'): MDocument => MDocument.fromMarkdown(text, { source });
const run = (documents: MDocument[], options: Partial<IngestOptions> = {}): Promise<IngestReport> =>
  ingest({ documents, vectorStore: store, indexName, model: embedder, ...options });
const remove = (options: Partial<DeleteDocumentsOptions> = {}): Promise<number> =>
  deleteDocuments({ vectorStore: store, indexName, sources: ['readme.md'], ...options });
const stored = async (filter?: Record<string, unknown>): Promise<string[]> =>
  (await store.listVectors({ indexName, filter })).records.map(({ document }) => document ?? '').toSorted();

describe('ingest with a scope', () => {
  it('writes the scope to the metadata of every chunk', async () => {
    await run([readme('# One\n\nText.\n\n# Two\n\nText.')], { scope: { tenant: 'a', year: 2026, draft: false } });
    const { records } = await store.listVectors({ indexName });
    expect(records.map(({ metadata }) => metadata)).toMatchObject([
      { source: 'readme.md', tenant: 'a', year: 2026, draft: false },
      { source: 'readme.md', tenant: 'a', year: 2026, draft: false },
    ]);
  });

  it.each(['source', 'all'] as const)('keeps the documents of other scopes with cleanup %s', async (cleanup) => {
    await run([readme('Text of A.')], { scope: a });
    expect(await run([readme('Text of B.')], { scope: b, cleanup })).toMatchObject({ added: 1, removed: 0 });
    expect(await stored()).toEqual(['Text of A.', 'Text of B.']);
    expect(await run([readme('New text of B.')], { scope: b, cleanup })).toMatchObject({ added: 1, removed: 1 });
    expect(await run([], { scope: b, cleanup: 'all' })).toMatchObject({ removed: 1 });
    expect(await stored()).toEqual(['Text of A.']);
  });

  it('stores the same text of two scopes twice, and leaves both alone in the next run', async () => {
    for (const scope of [a, b]) expect(await run([readme('Same.')], { scope })).toMatchObject({ added: 1 });
    for (const scope of [a, b]) expect(await run([readme('Same.')], { scope })).toMatchObject({ unchanged: 1 });
    expect(await stored({ tenant: 'a' })).toEqual(['Same.']);
    expect(await stored({ tenant: 'b' })).toEqual(['Same.']);
  });

  it('reads and removes records of its scope only, even if the store ignores the filter', async () => {
    await run([readme('Text of A.')], { scope: a });
    await run([readme('Text of B.')], { scope: b });
    const scan = vi.spyOn(store, 'listVectors');
    await run([readme('New text of B.')], { scope: b });
    expect(scan.mock.lastCall?.[0].filter).toEqual({ tenant: { $eq: 'b' }, source: { $in: ['readme.md'] } });
    const original = LocalVector.prototype.listVectors;
    scan.mockImplementation(({ filter: _filter, ...params }) => original.call(store, params));
    expect(await run([], { scope: b, cleanup: 'all' })).toMatchObject({ removed: 1 });
    scan.mockRestore();
    expect(await stored()).toEqual(['Text of A.']);
  });

  it('rejects a document whose metadata names another scope, and stores nothing', async () => {
    const document = MDocument.fromText('Text of A.', { source: 'a.txt', tenant: 'a' });
    await expectError(run([document], { scope: b }), 'INGEST_SCOPE_MISMATCH', 'tenant: "a"');
    expect(await store.listIndexes()).toEqual([]);
    expect(await run([document], { scope: a })).toMatchObject({ added: 1 });
  });

  it.each([
    ['an empty object', {}],
    ['a missing value', { tenant: undefined }],
    ['null', { tenant: null }],
    ['an operator', { tenant: { $exists: true } }],
    ['NaN', { tenant: Number.NaN }],
    ['a reserved key', { source: 'readme.md' }],
    ['a key of the filter language', { $or: 'a' }],
    ['a path', { 'owner.tenant': 'a' }],
    ['a list', ['a']],
    ['a string', 'a'],
  ])('rejects %s as a scope', async (_what, scope) => {
    const invalid = scope as unknown as typeof a;
    await expectError(run([readme('One.')], { scope: invalid }), 'OPTIONS_INVALID');
    await expectError(remove({ scope: invalid }), 'OPTIONS_INVALID');
  });
});

describe('deleteDocuments', () => {
  it('deletes all chunks of the sources in the scope, and returns their number', async () => {
    await run([readme('# One\n\nText.\n\n# Two\n\nText.'), readme('Guide.', 'guide.md')], { scope: a });
    await run([readme('Text of B.')], { scope: b });
    expect(await remove({ scope: a })).toBe(2);
    expect(await stored()).toEqual(['Guide.', 'Text of B.']);
    expect(await remove({ scope: a })).toBe(0);
  });

  it('keeps records that ingest did not store', async () => {
    await run([readme('One.')]);
    const vectors = await embedder.embed(['By hand.']);
    await store.upsert({
      indexName,
      ids: ['mine'],
      vectors,
      metadata: [{ source: 'readme.md' }],
      documents: ['Mine.'],
    });
    expect(await remove()).toBe(1);
    expect(await stored()).toEqual(['Mine.']);
  });

  it('deletes many sources, and sources that a filter cannot compare', async () => {
    const names = Array.from({ length: 1200 }, (_, n) => `${n}.md`);
    await run(names.map((name) => readme(`Text ${name}`, name)));
    await run([readme('Structured.', { url: 'https://a.example', page: 1 })]);
    const scan = vi.spyOn(store, 'listVectors');
    expect(await remove({ sources: names.slice(0, 250) })).toBe(250);
    // One call each looks for scopes.
    expect(scan).toHaveBeenCalledTimes(4);
    expect(await remove({ sources: names })).toBe(950);
    expect(scan).toHaveBeenCalledTimes(6);
    expect(await remove({ sources: [{ page: 1, url: 'https://a.example' }] })).toBe(1);
  });

  it('rejects invalid sources and reports a missing index', async () => {
    for (const sources of ['readme.md', [undefined], [null]] as unknown[][])
      await expectError(remove({ sources }), 'OPTIONS_INVALID');
    await expectError(remove(), 'VECTOR_INDEX_NOT_FOUND');
  });
});
