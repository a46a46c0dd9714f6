import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MDocument } from '../document/document.js';
import { createLexicalEmbedder, type Embedder } from '../embedding/index.js';
import { evaluateRetrieval } from '../evaluate/evaluate-retrieval.js';
import { viewGraph } from '@quiver/devtools/graph';
import { deleteDocuments } from '../ingest/delete-documents.js';
import { ingest, type IngestOptions } from '../ingest/ingest.js';
import { retrieve } from '../retrieve/retrieve.js';
import type { VectorMetadata, VectorRecord } from '../store/index.js';
import { LocalVector } from '../stores/local/index.js';
import { createGraphRAGTool } from '../tools/graph-rag-tool.js';
import { createVectorQueryTool } from '../tools/vector-query-tool.js';
import { mergeCopies, type OtherPlace } from './merge-copies.js';

const indexName = 'decks';
const lexical = createLexicalEmbedder({ dimension: 64 });
const modes = ['vector', 'keyword', 'hybrid'] as const;
const throwing = { onFailure: 'throw' } as const;

/** A deck as a file and as the attachment of a mail, as loaders read them, and a further document. */
const slides = ['Tier 2 storage costs 40 francs.', 'Tier 3 storage costs 20 francs.'];
const deck = (metadata: VectorMetadata): MDocument =>
  new MDocument({
    docs: slides.map((text, at) => ({ text, metadata: { title: 'Prices', ...metadata, slide: at + 1 } })),
  });
const file = deck({ source: 'prices.pptx' });
const attachment = deck({ source: 'offer.eml', subject: 'Offer', from: 'a@x.y', attachment: 'prices.pptx' });
const other = MDocument.fromText('The storage team answers on weekdays.', { source: 'team.md' });

async function storeAll(documents: MDocument[], options: Partial<IngestOptions> = {}): Promise<LocalVector> {
  const store = new LocalVector();
  await ingest({ documents, vectorStore: store, indexName, model: lexical, ...options });
  return store;
}

const placesOf = ({ metadata }: Pick<VectorRecord, 'metadata'>): string[] =>
  [metadata as OtherPlace, ...((metadata['alsoIn'] ?? []) as OtherPlace[])].map(
    ({ source, attachment: part, slide }) =>
      `${source as string}${part ? `#${part as string}` : ''}:${slide as number}`,
  );
const queryText = 'tier 2 storage costs';
const both = ['offer.eml#prices.pptx:1', 'prices.pptx:1'];

describe('a text that is stored at several places', () => {
  it.each([...modes, 'graph'] as const)('is one result with its places: %s', async (mode) => {
    const vectorStore = await storeAll([file, attachment, other]);
    const options = { vectorStore, indexName, model: lexical };
    const tool = mode === 'graph' ? createGraphRAGTool(options) : createVectorQueryTool({ ...options, mode });
    const { sources, relevantContext } = await tool.execute({ queryText, topK: 3 }, throwing);
    expect(new Set(sources.map(({ document }) => document)).size).toBe(3);
    expect(relevantContext.split(slides[0] as string)).toHaveLength(2);
    const found = sources.find(({ document }) => document === slides[0]);
    expect(placesOf(found as VectorRecord).toSorted()).toEqual(both);
    const [place] = (found as VectorRecord).metadata['alsoIn'] as OtherPlace[];
    expect(place).toMatchObject({ id: expect.any(String), title: 'Prices', startIndex: 0, endIndex: 31 });
    expect(place).not.toHaveProperty('embedder');
  });

  it('is one node of the page of a graph, with its places', async () => {
    const store = await storeAll([file, attachment, other]);
    const { nodes, ranking } = await viewGraph({ vectorStore: store, indexName, model: lexical, queryText, topK: 2 });
    expect(ranking).toHaveLength(2);
    expect(nodes.map(({ text }) => text).toSorted()).toEqual(
      [...slides, 'The storage team answers on weekdays.'].toSorted(),
    );
    const node = nodes.find(({ text }) => text === slides[0]);
    expect([
      ['offer.eml', ['prices.pptx, slide 1']],
      ['prices.pptx', ['offer.eml, attachment prices.pptx, slide 1']],
    ]).toContainEqual([node?.source, node?.alsoIn]);
    expect(ranking.every(({ id }) => nodes.some((shown) => shown.id === id))).toBe(true);
  });

  it('is one match of retrieve()', async () => {
    const store = await storeAll([file, attachment, other]);
    const search = { vectorStore: store, indexName, model: lexical, mode: 'keyword', question: queryText } as const;
    expect(placesOf((await retrieve({ ...search, topK: 1 })).matches[0] as VectorRecord).toSorted()).toEqual(both);
  });

  it('is found by its other place in an evaluation', async () => {
    const store = await storeAll([file, attachment, other]);
    const targets = ['prices.pptx', 'offer.eml'].map((source) => ({ source, quote: slides[0] as string }));
    const cases = targets.map((target) => ({ question: queryText, relevant: [target] }));
    const { configurations } = await evaluateRetrieval({
      vectorStore: store,
      indexName,
      cases,
      configurations: [{ name: 'keyword', mode: 'keyword' }],
      metrics: ['recallAt1'],
    });
    expect(configurations[0]?.metrics).toMatchObject({ recallAt1: { mean: 1 } });
  });

  it('stays apart from a text of another team or tenant', () => {
    const owners = [{}, { team: 'a' }, { team: 'b' }, { tenant: 'a' }];
    const copies = owners.map((owner, at) => ({
      id: `${at}`,
      document: 'The same.',
      metadata: { source: 'a', ...owner },
    }));
    expect(mergeCopies(copies)).toEqual(copies);
  });

  it.each(['endPage', 'codeLanguage'])('is one result although copies differ in %s', (key) => {
    const copies = [1, 2].map((value) => ({
      id: String(value),
      document: 'The same.',
      metadata: { source: 'a', [key]: value },
    }));
    expect(mergeCopies(copies).map(({ id }) => id)).toEqual(['1']);
  });

  it('leaves room for others, however many places there are', async () => {
    const copies = Array.from({ length: 120 }, (_, n) =>
      MDocument.fromText(slides[0] as string, { source: `${n}.md` }),
    );
    const vectorStore = await storeAll([...copies, other]);
    const options = { vectorStore, indexName, model: lexical };
    for (const tool of [createVectorQueryTool(options), createGraphRAGTool(options)]) {
      const { sources } = await tool.execute({ queryText: 'storage', topK: 2 }, throwing);
      expect(sources.map(({ document }) => document).toSorted()).toEqual([
        'The storage team answers on weekdays.',
        slides[0],
      ]);
    }
  });

  it('is one section of expanded passages', async () => {
    const guide = '# Locks\n\nA lock has one owner.\n\nA wait for a lock ends soon.';
    const documents = ['a.md', 'b.md'].map((source) => MDocument.fromMarkdown(guide, { source }));
    const vectorStore = await storeAll(documents, { chunkOptions: { maxSize: 32, minSize: 0, overlap: 0 } });
    const tool = createVectorQueryTool({ vectorStore, indexName, model: lexical, expand: 'section' });
    const { sources } = await tool.execute({ queryText: 'owner of a lock' }, throwing);
    expect(sources.map(({ document }) => document)).toEqual([guide]);
  });

  it('is listed once for each record in the mode filter', async () => {
    const vectorStore = await storeAll([file, attachment]);
    const list = createVectorQueryTool({ vectorStore, indexName, mode: 'filter' });
    expect((await list.execute({}, throwing)).sources).toHaveLength(4);
  });
});

describe('mergeCopies', () => {
  it('keeps results without text, and further vectors of chunks, apart', () => {
    const records = [
      { id: '1', metadata: {} },
      { id: '2', metadata: {} },
      { id: '3', metadata: { vectorOf: 'a' }, document: 'Why?' },
      { id: '4', metadata: { vectorOf: 'b' }, document: 'Why?' },
    ];
    expect(mergeCopies(records)).toEqual(records);
  });

  it('keeps the places of results that were merged before', () => {
    const record = (id: string): VectorRecord => ({ id, metadata: { source: id }, document: 'Text.' });
    const [merged] = mergeCopies([
      ...mergeCopies([record('a'), record('b')]),
      ...mergeCopies([record('b'), record('c')]),
    ]);
    expect(merged).toMatchObject({ id: 'a', metadata: { alsoIn: [{ id: 'b' }, { id: 'c', source: 'c' }] } });
  });
});

describe('ingest and deleteDocuments', () => {
  const pool = ['pine', 'oak', 'elm', 'ash'].map((name) => `A tree is called ${name}.`);
  const sources = ['a.md', 'b.md', 'c.md'];
  const tenants = ['x', 'y'];
  const document = (source: string, pages: readonly number[]): MDocument =>
    new MDocument({ docs: pages.map((text, page) => ({ text: pool[text] as string, metadata: { source, page } })) });
  const change = fc.record({
    kind: fc.constantFrom('ingest', 'mirror', 'delete', 'crash', 'dryRun'),
    tenant: fc.constantFrom(...tenants),
    documents: fc.dictionary(fc.constantFrom(...sources), fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 4 })),
  });

  it('keep every other place of a text, regardless of what is changed, removed and interrupted', async () => {
    const broken: Embedder = { ...lexical, embed: () => Promise.reject(new Error('The model failed.')) };
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 8 }), async (changes) => {
        await using store = new LocalVector();
        const model = new Map(tenants.map((tenant) => [tenant, new Map<string, readonly number[]>()]));
        const common = { vectorStore: store, indexName, model: lexical, maxRetries: 0, batchSize: 2 };
        // The index exists.
        await ingest({ ...common, documents: [document('first.md', [0])], scope: { tenant: 'z' } });
        for (const { kind, tenant, documents } of changes) {
          const scope = { tenant };
          const own = model.get(tenant) as Map<string, readonly number[]>;
          const run = { ...common, scope, documents: Object.entries(documents).map((entry) => document(...entry)) };
          if (kind === 'dryRun') {
            await ingest({ ...run, cleanup: 'all', dryRun: true });
            continue;
          }
          if (kind === 'delete') {
            await deleteDocuments({ vectorStore: store, indexName, scope, sources: Object.keys(documents) });
            for (const source of Object.keys(documents)) own.delete(source);
          } else {
            // Records that a run stored before it failed do not disturb the next one.
            if (kind === 'crash') await ingest({ ...run, model: broken }).catch(() => undefined);
            await ingest({ ...run, cleanup: kind === 'mirror' ? 'all' : 'source' });
            if (kind === 'mirror') own.clear();
            for (const [source, pages] of Object.entries(documents)) own.set(source, pages);
          }
          for (const [name, stored] of model)
            for (const found of await findTexts(store, name)) expect(found).toEqual(textsOf(stored));
        }
      }),
      { numRuns: 40 },
    );
  });

  /** Each text with its places, in order. */
  function textsOf(stored: ReadonlyMap<string, readonly number[]>): [string, string[]][] {
    const places = new Map<string, string[]>();
    for (const [source, pages] of stored)
      for (const [page, at] of pages.entries()) {
        const text = pool[at] as string;
        places.set(text, [...(places.get(text) ?? []), `${source} ${page}`].toSorted());
      }
    return [...places].toSorted();
  }

  /** The same of the results of each tool. */
  async function findTexts(vectorStore: LocalVector, tenant: string): Promise<[string, string[]][][]> {
    const options = { vectorStore, indexName, model: lexical, scope: { tenant } };
    const tools = [...modes.map((mode) => createVectorQueryTool({ ...options, mode })), createGraphRAGTool(options)];
    return Promise.all(
      tools.map(async (tool) => {
        const { sources: found } = await tool.execute({ queryText: 'tree', topK: 10 }, throwing);
        const texts = found.map(({ document: text, metadata }): [string, string[]] => {
          const all = [metadata, ...((metadata['alsoIn'] ?? []) as VectorMetadata[])];
          return [text, all.map(({ source, page }) => `${source} ${page}`).toSorted()];
        });
        return texts.toSorted();
      }),
    );
  }
});
