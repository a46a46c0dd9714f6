// Passages use the methods that every store has: the same documents, queries and results in each of them.
import { RequestContext } from '@quiver/core/request-context';
import { afterAll, describe, expect, it } from 'vitest';
import { readTestVariable } from '../../../../scripts/test-variable.ts';
import { MDocument } from '../document/document.js';
import { createLexicalEmbedder } from '../embedding/index.js';
import { deleteDocuments } from '../ingest/delete-documents.js';
import { ingest } from '../ingest/ingest.js';
import type { QueryMode, VectorStore } from '../store/index.js';
import { ChromaVector } from '../stores/chroma/index.js';
import { LocalVector } from '../stores/local/index.js';
import { PgVector } from '../stores/pg/index.js';
import { pgliteForTests, postgresForTests } from '../stores/pg/open-stores.fixture.js';
import { FakePinecone } from '../stores/pinecone/fake-pinecone.fixture.js';
import { PineconeVector } from '../stores/pinecone/index.js';
import { createVectorQueryTool } from '../tools/vector-query-tool.js';
import type { OtherPlace } from './merge-copies.js';

const postgresUrl = readTestVariable('QUIVER_POSTGRES_URL');
const database = postgresUrl === undefined ? pgliteForTests() : postgresForTests(postgresUrl);
const service = new FakePinecone();
const chromaUrl = readTestVariable('QUIVER_CHROMA_URL');
const embedder = createLexicalEmbedder({ dimension: 64 });
const indexName = `passages-${process.pid}`;
afterAll(async () => {
  service.close();
  await database.close();
});

const stores: [string, () => Promise<VectorStore>][] = [
  ['LocalVector', async () => new LocalVector()],
  ['PgVector', async () => new PgVector({ id: 'passages', ...(await database.open()) })],
  ['PineconeVector', async () => new PineconeVector({ apiKey: 'key', controllerHostUrl: await service.listen() })],
  ...(chromaUrl === undefined
    ? []
    : [['ChromaVector', async () => openChroma(chromaUrl)] as [string, () => Promise<VectorStore>]]),
];

function openChroma(url: string): ChromaVector {
  const { hostname: host, port } = new URL(url);
  return new ChromaVector({ host, port: Number(port) });
}

const guide = (tenant: string): string =>
  `# Locks of ${tenant}\n\nA lock has one owner.\n\nA wait ends after thirty seconds.\n\n\n# Disks of ${tenant}\n\nE2042: the disk is full.`;

describe.each(stores)('passages in %s', (name, open) => {
  it('expands chunks, groups their vectors, lists them, and deletes all of a document', async () => {
    const store = await open();
    for (const tenant of ['a', 'b'])
      await ingest({
        documents: [MDocument.fromMarkdown(guide(tenant), { source: 'guide.md' })],
        vectorStore: store,
        indexName,
        model: embedder,
        scope: { tenant },
        chunkOptions: { maxSize: 40, overlap: 5 },
        vectors: ({ metadata, text }) => [`Question on ${metadata.headings?.[0]}`, `Summary: ${text.slice(0, 10)}`],
      });
    const requestContext = new RequestContext([['filter', { tenant: 'a' }]]);
    const options = { vectorStore: store, indexName };
    const search = createVectorQueryTool({ ...options, model: embedder, expand: 'section' });
    const { sources } = await search.execute(
      { queryText: 'Question on Locks of b', topK: 4 },
      { onFailure: 'throw', requestContext },
    );
    const text = guide('a');
    expect(sources.map(({ document }) => document)).toEqual([text]);
    expect(text.slice(sources[0]?.metadata['startIndex'], sources[0]?.metadata['endIndex'])).toBe(text);
    expect(sources[0]?.records).toHaveLength(3);

    const list = createVectorQueryTool({ ...options, mode: 'filter' });
    const listed: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await list.execute(
        { filter: { source: 'guide.md' }, topK: 3, ...(cursor !== undefined && { cursor }) },
        { onFailure: 'throw', requestContext },
      );
      listed.push(...page.sources.map(({ document }) => document));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(listed.toSorted()).toEqual(
      (await MDocument.fromMarkdown(text).chunk({ maxSize: 40, overlap: 5 })).map((chunk) => chunk.text).toSorted(),
    );
    expect(
      await deleteDocuments({ vectorStore: store, indexName, sources: ['guide.md'], scope: { tenant: 'a' } }),
    ).toBe(9);
    const left = (await store.listVectors({ indexName })).records;
    expect(left.map(({ metadata }) => metadata['tenant'])).toEqual(Array.from({ length: 9 }, () => 'b'));
    if (name === 'ChromaVector') await store.deleteIndex({ indexName });
  });

  it('returns a text once, with the places that the filter allows', async () => {
    const store = await open();
    const copies = `${indexName}-copies`;
    const common = { vectorStore: store, indexName: copies, model: embedder };
    const deck = (source: string): MDocument => MDocument.fromText('Tier 2 costs 40 francs.', { source });
    const other = MDocument.fromText('Tier 3 costs 20 francs.', { source: 'c.md' });
    await ingest({ ...common, documents: [deck('a.md'), deck('b.md'), other], scope: { tenant: 'a' } });
    await ingest({ ...common, documents: [deck('a.md')], scope: { tenant: 'b' } });
    const search = async (tenant: string, mode: QueryMode): Promise<string[][]> => {
      const options = { vectorStore: store, indexName: copies, model: embedder, mode, scope: { tenant } };
      const { sources } = await createVectorQueryTool(options).execute(
        { queryText: 'tier 2 costs 40 francs', topK: 2 },
        { onFailure: 'throw' },
      );
      return sources.map(({ metadata }) =>
        [metadata, ...((metadata['alsoIn'] ?? []) as OtherPlace[])].map(({ source }) => String(source)).toSorted(),
      );
    };
    for (const mode of store.capabilities.modes) {
      expect(await search('a', mode)).toEqual([['a.md', 'b.md'], ['c.md']]);
      expect(await search('b', mode)).toEqual([['a.md']]);
    }
    await deleteDocuments({ vectorStore: store, indexName: copies, sources: ['a.md'], scope: { tenant: 'a' } });
    for (const mode of store.capabilities.modes) expect(await search('a', mode)).toEqual([['b.md'], ['c.md']]);
    if (name === 'ChromaVector') await store.deleteIndex({ indexName: copies });
  });
});
