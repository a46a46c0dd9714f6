import { RequestContext } from '@quiver/core/request-context';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { expectError } from '../../../../scripts/test-error.ts';
import { MDocument } from '../document/document.js';
import { partKeys } from '../document/metadata-keys.js';
import { createLexicalEmbedder } from '../embedding/index.js';
import { ingest, type IngestOptions } from '../ingest/ingest.js';
import type { VectorMatch, VectorRecord } from '../store/index.js';
import { LocalVector } from '../stores/local/index.js';
import type { VectorQueryToolOptions } from '../tools/query-tool-options.js';
import { createVectorQueryTool, type VectorQueryOutput } from '../tools/vector-query-tool.js';
import { expandPassages, type ExpandPassagesOptions, type PassageExpansion } from './expand-passages.js';

const indexName = 'guides';
const embedder = createLexicalEmbedder({ dimension: 64 });
let store: LocalVector;

beforeEach(() => {
  store = new LocalVector();
});

const guide = [
  '# Locks',
  'Processes wait for a lock. The wait ends after thirty seconds.',
  '',
  'The lock file names its owner.  A stale lock is taken over.',
  '',
  '',
  '## Errors',
  'E1042: the lock belongs to another process.',
  '',
  'E2042: the disk is full. Delete old snapshots first.',
  '',
  '# Snapshots',
  'A snapshot is a copy of all files.',
].join('\n');

const index = (documents: MDocument[], options: Partial<IngestOptions> = {}): Promise<unknown> =>
  ingest({
    documents,
    vectorStore: store,
    indexName,
    model: embedder,
    chunkOptions: { maxSize: 60, overlap: 0 },
    ...options,
  });
/** As another program stores them. */
async function storeRecords(chunks: readonly VectorRecord[]): Promise<void> {
  await store.createIndex({ indexName, dimension: 1 });
  await store.upsert({
    indexName,
    ids: chunks.map(({ id }) => id),
    vectors: chunks.map(() => [1]),
    metadata: chunks.map(({ metadata }) => metadata),
    documents: chunks.map(({ document }) => document),
  });
}
const records = async (): Promise<VectorRecord[]> => (await store.listVectors({ indexName })).records;
/** The records that contain a text, in the given order, as matches. */
const matching = async (...texts: string[]): Promise<VectorMatch[]> => {
  const all = await records();
  return texts.map((text, rank) => {
    const record = all.find(({ document }) => document?.includes(text));
    return { ...(record as VectorRecord), score: 1 - rank / 10 };
  });
};
const expandAll = (
  matches: readonly VectorMatch[],
  expand: PassageExpansion,
  options: Partial<Omit<ExpandPassagesOptions, 'vectorStore' | 'store'>> = {},
): ReturnType<typeof expandPassages> => expandPassages(matches, { vectorStore: store, indexName, expand, ...options });

describe('expandPassages', () => {
  it('returns the section of a match, with its place, and the records that it consists of', async () => {
    await index([MDocument.fromMarkdown(guide, { source: 'guide.md' })]);
    const [match] = await matching('stale lock');
    const scan = vi.spyOn(store, 'listVectors');
    const [passage, ...others] = await expandAll([match as VectorMatch], 'section');
    expect(scan).toHaveBeenCalledOnce();
    expect(others).toEqual([]);
    expect(passage).toMatchObject({ id: match?.id, score: 1, metadata: { source: 'guide.md', headings: ['Locks'] } });
    expect(passage?.document).toBe(guide.slice(0, guide.indexOf('## Errors')).trimEnd());
    expect([passage?.metadata['startIndex'], passage?.metadata['endIndex']]).toEqual([0, passage?.document.length]);
    expect(passage?.metadata).not.toHaveProperty('previousChunk');
    expect(passage?.records.length).toBeGreaterThan(1);
    expect(passage?.records.filter(({ score }) => score !== undefined)).toEqual([
      expect.objectContaining({ id: match?.id, score: 1 }),
    ]);
  });

  it.each(partKeys)('does not join texts of two parts that %s tells apart, stored by another program', async (key) => {
    const first = 'Chapter one ends here 00, he left.';
    const second = `${'y'.repeat(first.length)} The second chapter goes on.`;
    const docs = [first, second].map((text, part) => ({ text, metadata: { source: 'book', [key]: part } }));
    const chunks = await new MDocument({ type: 'text', docs }).chunk({
      strategy: 'recursive',
      maxSize: 36,
      overlap: 0,
    });
    await storeRecords(chunks.map(({ text, ...chunk }) => ({ ...chunk, document: text })));
    const passages = await expandAll(await matching('Chapter one', 'goes on'), { before: 1, after: 1 });
    expect(passages.map(({ document }) => document)).toEqual([first, second]);
  });

  it('merges matches that touch, at the rank of the best one', async () => {
    await index([MDocument.fromMarkdown(guide, { source: 'guide.md' })]);
    const matches = await matching('E2042', 'copy of all', 'E1042');
    const passages = await expandAll(matches, { before: 0, after: 0 });
    expect(passages.map(({ id, score }) => [id, score])).toEqual([[matches[0]?.id, 1]]);
    expect(passages[0]?.document).toBe(guide.slice(guide.indexOf('## Errors')));
    expect(passages[0]?.records.map(({ score }) => score)).toContain(0.9);
  });

  it.each([
    [{ before: 1 }, 'E1042', 'E2042'],
    [{ after: 1 }, 'E2042', 'copy of all'],
    [{ before: 1, after: 1 }, 'E1042', 'copy of all'],
  ])('adds %j', async (expand, first, last) => {
    await index([MDocument.fromMarkdown(guide, { source: 'guide.md' })]);
    const [passage] = await expandAll(await matching('E2042: the disk'), expand);
    expect(passage?.document).toContain(first);
    expect(passage?.document).toContain(last);
    expect(passage?.records.length).toBeLessThanOrEqual(4);
    expect(guide).toContain(passage?.document);
  });

  it('stops at maxTokens, by whole chunks, and never cuts a match', async () => {
    const text = Array.from({ length: 200 }, (_, n) => `Sentence number ${n} of the report.`).join(' ');
    await index([MDocument.fromText(text, { source: 'report.txt' })]);
    const matches = await matching('number 100 ');
    const lengthOf = async (expand: PassageExpansion): Promise<number> =>
      (await expandAll(matches, expand))[0]?.document.length ?? 0;
    expect(await lengthOf({ maxTokens: 1 })).toBe(matches[0]?.document?.length);
    expect(await lengthOf({ maxTokens: 100 })).toBeGreaterThan(300);
    expect(await lengthOf({ maxTokens: 100 })).toBeLessThanOrEqual(400);
    // The default bounds a document without headings, which is one section.
    expect(await lengthOf('section')).toBeGreaterThan(6000);
    expect(await lengthOf({ section: true, maxTokens: 500 })).toBeLessThanOrEqual(2000);
  });

  it('reads the neighbors of many matches with one request', async () => {
    const documents = Array.from({ length: 40 }, (_, n) =>
      MDocument.fromText(`First part of document ${n} is here.\n\nSecond part of document ${n} is there.`, {
        source: `${n}.txt`,
      }),
    );
    await index(documents, { chunkOptions: { maxSize: 40, overlap: 0 } });
    const matches = (await records()).filter(({ document }) => document?.includes('First'));
    const scan = vi.spyOn(store, 'listVectors');
    const passages = await expandAll(
      matches.map((record) => ({ ...record, score: 1 })),
      'section',
    );
    expect(scan).toHaveBeenCalledOnce();
    expect(passages).toHaveLength(40);
    expect(passages.every(({ document }) => document.includes('Second'))).toBe(true);
  });

  it('does not cross a deleted chunk, and keeps a match that was deleted after the query', async () => {
    await index([MDocument.fromMarkdown(guide, { source: 'guide.md' })]);
    const matches = await matching('stale lock', 'E2042');
    const [missing] = await matching('E1042');
    await store.deleteVectors({ indexName, ids: [missing?.id ?? '', matches[0]?.id ?? ''] });
    const passages = await expandAll(matches, { maxTokens: 500 });
    expect(passages).toHaveLength(2);
    expect(passages[0]?.document).toMatch(/^# Locks[^]*taken over\.$/);
    expect(passages[1]?.document).toMatch(/^E2042[^]*all files\.$/);
  });

  it.each([true, false])('keeps tenants with the same source apart (filter: %s)', async (hasFilter) => {
    for (const tenant of ['a', 'b'])
      await index([MDocument.fromMarkdown(guide.replaceAll('lock', `${tenant}lock`), { source: 'guide.md' })], {
        scope: { tenant },
      });
    const [match] = await matching('stale alock');
    const filter = hasFilter ? { tenant: 'a' } : undefined;
    const [passage] = await expandAll([match as VectorMatch], { maxTokens: 500 }, { filter });
    expect(guide.replaceAll('lock', 'alock')).toBe(passage?.document);
    // A record of another tenant is not read, even if a forged link names it.
    const [foreign] = await matching('stale block');
    const copy = { ...(match as VectorMatch).metadata, previousChunk: foreign?.id };
    const forged = { ...(match as VectorMatch), id: 'forged', metadata: copy };
    const [alone] = await expandAll([forged], { maxTokens: 500 }, { filter: { tenant: 'a' } });
    expect(alone?.document).toBe(match?.document);
  });

  it('has the pages of the whole passage', async () => {
    const text = 'The first page has a paragraph.\n\nThe second page has another one.\n\nThe third page is the last.';
    const places = [0, 33, 67].map((start, at) => ({
      start,
      end: start + 27,
      page: at + 1,
      box: [10 + at, 20, 90, 40] as const,
    }));
    await index([new MDocument({ text, places, metadata: { source: 'a.pdf' }, type: 'markdown' })], {
      chunkOptions: { maxSize: 40, overlap: 0 },
    });
    const [passage] = await expandAll(await matching('third'), { before: 1, after: 0 });
    expect(passage?.metadata).toMatchObject({ page: 2, endPage: 3, box: [11, 20, 90, 40] });
    const [whole] = await expandAll(await matching('third'), 'section');
    expect(whole?.metadata).toMatchObject({ page: 1, endPage: 3, startIndex: 0 });
  });

  it('joins the chunks of a page in HTML, without repeating what overlaps', async () => {
    const html = '<h1>Coats</h1><p>Warm &amp; dry coats for winter.</p><p>Long &amp; light coats for spring days.</p>';
    await index([MDocument.fromHTML(html, { source: 'coats.html' })], { chunkOptions: { maxSize: 45, overlap: 0 } });
    const [passage] = await expandAll(await matching('Warm'), 'section');
    expect(passage?.document).toMatch(/Coats\s+Warm & dry coats for winter\.\s+Long & light/);
  });

  it('expands records of other programs by their places, and leaves records without places alone', async () => {
    const chunk = (id: string, start: number, text: string): VectorMatch => ({
      id,
      score: 0.5,
      metadata: { source: 's', startIndex: start, endIndex: start + text.length },
      document: text,
    });
    const chunks = [
      chunk('a', 0, 'One two.'),
      chunk('b', 4, 'two. Three.'),
      chunk('stale', 5, 'xxx yyyyyyyyyy'),
      chunk('c', 17, 'Four.'),
      chunk('far', 40, 'Far.'),
    ];
    await storeRecords(chunks);
    const plain = { id: 'plain', score: 0.9, metadata: { source: 's' }, document: 'No place.' };
    const passages = await expandAll([plain, chunks[1] as VectorMatch], { maxTokens: 100 });
    expect(passages.map(({ document }) => document)).toEqual(['No place.', 'One two. Three.\n\nFour.']);
    expect(passages[0]).toEqual({ ...plain, records: [{ id: 'plain', score: 0.9 }] });
    expect(passages[1]?.records.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  });

  it('gives verbatim parts of the source for any text, chunk size and matches', async () => {
    const words = fc.constantFrom(
      'lock',
      'wait. ',
      'Ω',
      '👩‍👩‍👧',
      '\n',
      '\n\n',
      '  ',
      '# Head\n',
      '- item\n',
      '```\n',
      'e\u0301',
    );
    const sources = fc.array(fc.array(words, { minLength: 1, maxLength: 60 }), { minLength: 1, maxLength: 3 });
    const expansions = fc.oneof(
      fc.constant('section' as const),
      fc.record({ before: fc.nat(2), after: fc.nat(2) }),
      fc.record({ maxTokens: fc.integer({ min: 1, max: 30 }) }),
    );
    const options = fc.record({ maxSize: fc.integer({ min: 8, max: 60 }), overlap: fc.nat(7), markdown: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        sources,
        expansions,
        options,
        fc.nat(5),
        async (texts, expand, { markdown, ...chunkOptions }, step) => {
          store = new LocalVector();
          const documents = texts.map((parts, at) => ({ source: `${at}`, text: parts.join('') }));
          const create = markdown ? MDocument.fromMarkdown : MDocument.fromText;
          await index(
            documents.map(({ source, text }) => create(text, { source })),
            { chunkOptions },
          );
          if (!(await store.listIndexes()).includes(indexName)) return;
          const all = await records();
          const matches = all.filter((_, at) => at % (step + 1) === 0).map((record) => ({ ...record, score: 0.5 }));
          const passages = await expandAll(matches, expand);
          const merged = passages.flatMap((passage) => passage.records.map(({ id }) => id));
          expect(new Set(merged).size).toBe(merged.length);
          expect(matches.every(({ id }) => merged.includes(id))).toBe(true);
          for (const { document, metadata } of passages) {
            const text = documents[Number(metadata['source'])]?.text;
            expect(text?.slice(metadata['startIndex'], metadata['endIndex'])).toBe(document);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it.each([
    undefined,
    'page',
    {},
    { before: -1 },
    { after: 1.5 },
    { maxTokens: 0 },
    { maxTokens: Number.NaN },
    { section: 'yes' },
    { around: 1 },
    5,
  ])('rejects %j as limits', async (expand) => {
    await expectError(expandAll([], expand as never), 'OPTIONS_INVALID');
  });

  it('ends with the abort reason, and with the errors of filter and store', async () => {
    await index([MDocument.fromMarkdown(guide, { source: 'guide.md' })]);
    const matches = await matching('E2042');
    const reason = new Error('stop');
    await expect(expandAll(matches, 'section', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    await expectError(expandAll(matches, 'section', { filter: { tenant: undefined } }), 'FILTER_INVALID');
    await expectError(expandAll(matches, 'section', { indexName: 'none' }), 'VECTOR_INDEX_NOT_FOUND');
  });
});

describe('expand of the query tools', () => {
  const ask = async (options: Partial<VectorQueryToolOptions>, filter?: unknown): Promise<VectorQueryOutput> =>
    createVectorQueryTool({ vectorStore: store, indexName, model: embedder, mode: 'keyword', ...options }).execute(
      { queryText: 'E2042', topK: 1 },
      { onFailure: 'throw', requestContext: new RequestContext(filter === undefined ? [] : [['filter', filter]]) },
    );

  it('returns sections, as text and as sources', async () => {
    await index([MDocument.fromMarkdown(guide, { source: 'guide.md' })]);
    const { relevantContext, sources } = await ask({ expand: 'section' });
    expect(relevantContext).toMatch(/^\[1\] Locks \(guide\.md\)\n## Errors[^]*first\.$/);
    expect(sources).toMatchObject([
      { document: relevantContext.slice(relevantContext.indexOf('\n') + 1), records: [{}, {}] },
    ]);
    expect((await ask({})).sources[0]).not.toHaveProperty('records');
  });

  it('reads neighbors that match the filter of the application only', async () => {
    await index([MDocument.fromMarkdown(guide, { source: 'guide.md' })], { scope: { tenant: 'a' } });
    const [secret] = await matching('E1042');
    await store.updateVector({
      indexName,
      id: secret?.id ?? '',
      update: { metadata: { ...secret?.metadata, tenant: 'b' } },
    });
    expect((await ask({ expand: 'section' }, { tenant: 'a' })).sources[0]?.document).toMatch(/^E2042/);
  });
});
