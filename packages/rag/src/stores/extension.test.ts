import { oneOf, type OptionChecks } from '@quiver/core/internal';
import { describe, expect, it } from 'vitest';
import {
  commonChecks,
  readOptions,
  toPackOptions,
  type CommonChunkOptions,
  type RawOptions,
} from '../document/chunking/chunk-options.js';
import { findViolation } from '../document/chunking/find-violation.fixture.js';
import { packSpans, type Chunker } from '../document/chunking/pack-spans.js';
import { createLexicalEmbedder, createVectorQueryTool, rerank, type RerankingModel } from '../index.js';
import { LocalVector } from './local/index.js';
import { describeFilters, describeVectorStore } from '@quiver/devtools/stores';
import { ToyVector } from './toy-vector.fixture.js';

// Each extension of CONTRIBUTING.md, "Where to add things", as a user writes it: no other file changes.

it('accepts a new reranker as an object, in rerank() and in a query tool', async () => {
  const shortestFirst: RerankingModel = {
    modelId: 'shortest-first',
    doRerank: async ({ documents: { values } }) => ({
      ranking: values.map((text, index) => ({ index, relevanceScore: 1 / (1 + text.length) })),
    }),
  };
  const texts = { long: 'A long text about cats and their sofas.', short: 'Cats.' };
  const model = createLexicalEmbedder();
  const store = new LocalVector();
  const vectors = await model.embed(Object.values(texts));
  await store.createIndex({ indexName: 'texts', dimension: vectors[0]?.length ?? 0 });
  await store.upsert({ indexName: 'texts', ids: Object.keys(texts), vectors, documents: Object.values(texts) });

  const weights = { semantic: 1, vector: 0, position: 0 };
  const matches = await store.query({ indexName: 'texts', queryVector: vectors[0] ?? [], topK: 2 });
  const ranked = await rerank(matches, 'cats', shortestFirst, { weights });
  expect(ranked.map(({ result }) => result.id)).toEqual(['short', 'long']);

  const reranker = { model: shortestFirst, options: { weights } };
  const tool = createVectorQueryTool({ vectorStore: store, indexName: 'texts', model, reranker });
  expect(await tool.execute({ queryText: 'cats' })).toMatchObject({ sources: [{ id: 'short' }, { id: 'long' }] });
});

describeVectorStore(
  'a new vector store',
  async () => new ToyVector(),
  async () => {},
);
describeFilters(
  'a new vector store',
  async () => new ToyVector(),
  async () => {},
);

describe('a new vector store in a query tool', () => {
  it('receives the block of databaseConfig that it declared', async () => {
    const vectorStore = new ToyVector();
    await vectorStore.createIndex({ indexName: 'docs', dimension: 1 });
    await vectorStore.upsert({ indexName: 'docs', ids: ['1', '2'], vectors: [[1], [2]], documents: ['a', 'b'] });
    const tool = createVectorQueryTool({
      indexName: 'docs',
      vectorStore,
      model: { id: 'constant', embed: async (texts) => texts.map(() => Float32Array.of(1)) },
      databaseConfig: { toy: { largest: 1 }, pgvector: { minScore: 2 } },
    });
    const result = await tool.execute({ queryText: 'a', topK: 5 });
    expect(result).toMatchObject({ sources: [{ document: 'a' }] });
  });
});

describe('a new chunking strategy', () => {
  interface CommaOptions extends CommonChunkOptions {
    mark?: ',' | ';';
  }

  /** All of its file: options, and the choice of cuts. */
  function commas({ mark = ',', ...given }: CommaOptions): Chunker {
    const options = toPackOptions(given, { overlap: 0 });
    return (text) =>
      packSpans(text, options, ({ first, last }) => {
        const at = text.lastIndexOf(mark, last - 1);
        return at + 1 >= first ? at + 1 : undefined;
      });
  }

  /** Its row in the table of strategies. */
  const checks: OptionChecks<CommaOptions> = { ...commonChecks, mark: oneOf(',', ';') };
  const create = (options: RawOptions): Chunker => commas(readOptions('commas', options, checks));

  it('has the property of all strategies', () => {
    const text = 'one,two,three;four,five,six,a-very-long-word-without-any-mark,seven';
    const sizes = { maxSize: 12, overlap: 0, stripWhitespace: true };
    const spans = create({ maxSize: 12 })(text);
    expect(spans.slice(0, 2).map(({ start, end }) => text.slice(start, end))).toEqual(['one,two,', 'three;four,']);
    expect(findViolation(text, spans, { ...sizes, measure: ({ length }) => length })).toBeUndefined();
  });

  it('rejects unknown options and values like all strategies', () => {
    expect(() => create({ mark: ';', marks: ';' })).toThrow(
      "The strategy 'commas' has no option 'marks'. Did you mean 'mark'?",
    );
    expect(() => create({ mark: '.' })).toThrow("'mark' must be one of ',', ';', not '.'.");
  });
});
