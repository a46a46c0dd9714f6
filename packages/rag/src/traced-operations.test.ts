import { observe, type TraceEvent } from '@quiver/core';
import { afterEach, describe, expect, it } from 'vitest';
import {
  createGraphRAGTool,
  createLexicalEmbedder,
  createVectorQueryTool,
  ingest,
  MDocument,
  rerank,
  toEmbedder,
} from './index.js';
import { LocalVector } from './stores/local/index.js';

let stop: (() => void) | undefined;
afterEach(() => stop?.());

function collect(): TraceEvent[] {
  const ended: TraceEvent[] = [];
  stop = observe((event, phase) => phase === 'end' && ended.push(event));
  return ended;
}

const embedder = createLexicalEmbedder();
const texts = ['Green tea wants water of 80 degrees.', 'Coffee wants water of 94 degrees.', 'Milk is white.'];
const documents = texts.map((text, index) => MDocument.fromText(text, { source: `${index}.txt` }));

async function fill(): Promise<LocalVector> {
  const store = new LocalVector();
  await ingest({ documents, vectorStore: store, indexName: 'drinks', model: embedder });
  return store;
}

const scorer = { getRelevanceScore: async (_query: string, text: string) => (text.includes('Coffee') ? 1 : 0) };

describe('published operations', () => {
  it('are a run of ingest and the calls of its embedder', async () => {
    const ended = collect();
    await fill();
    const [embedding, run] = ended;
    expect(embedding).toMatchObject({ type: 'embedding', model: embedder.id, dimension: embedder.dimension });
    expect((embedding as { texts: readonly string[] }).texts).toHaveLength(3);
    expect(run).toMatchObject({ type: 'ingest', indexName: 'drinks', result: { documents: 3, added: 3 } });
    expect(ended).toHaveLength(2);
  });

  it('are a vector query, its embedding and its reranking', async () => {
    const vectorStore = await fill();
    const ended = collect();
    const reranker = { model: scorer, options: { topK: 1 } };
    const tool = createVectorQueryTool({ vectorStore, indexName: 'drinks', model: embedder, reranker });
    await tool.execute({ queryText: 'hot water', topK: 2 });
    expect(ended.map(({ type }) => type)).toEqual(['embedding', 'retrieval', 'retrieval', 'tool']);
    expect(ended[1]).toMatchObject({ operation: 'rerank', queryText: 'hot water', topK: 1, candidates: texts.length });
    expect(ended[2]).toMatchObject({ operation: 'query', kind: 'VectorQuery', indexName: 'drinks', topK: 2 });
    expect(ended[2]).toMatchObject({ queryText: 'hot water', documents: [{ document: texts[1] }] });
  });

  it('are a graph query', async () => {
    const vectorStore = await fill();
    const ended = collect();
    const tool = createGraphRAGTool({ vectorStore, indexName: 'drinks', model: embedder });
    await tool.execute({ queryText: 'tea', topK: 2 });
    const query = ended.find(({ type }) => type === 'retrieval');
    expect(query).toMatchObject({ operation: 'query', kind: 'GraphRAG', indexName: 'drinks', topK: 2 });
  });

  it('carry the error of a query', async () => {
    const vectorStore = await fill();
    const ended = collect();
    const tool = createVectorQueryTool({ vectorStore, indexName: 'absent', model: embedder });
    await expect(tool.execute({ queryText: 'tea', topK: 2 })).rejects.toThrow('absent');
    expect(ended.find(({ type }) => type === 'retrieval')?.error).toBeInstanceOf(Error);
  });

  it('carry the error of a reranking', async () => {
    const ended = collect();
    await expect(rerank([], 'tea', scorer, { topK: 0 })).rejects.toThrow('topK');
    expect(ended).toMatchObject([{ type: 'retrieval', operation: 'rerank', error: { code: 'OPTIONS_INVALID' } }]);
  });

  it('reject for results that are not an array, as without observers', async () => {
    collect();
    await expect(rerank(undefined as never, 'tea', scorer)).rejects.toThrow(TypeError);
  });

  it('carry the tokens of all requests of one call', async () => {
    const model = {
      specificationVersion: 'v2' as const,
      provider: 'test.embedding',
      modelId: 'small',
      maxEmbeddingsPerCall: 2,
      supportsParallelCalls: true,
      doEmbed: async ({ values }: { values: string[] }) => ({
        embeddings: values.map(() => [1, 0]),
        usage: { tokens: values.length * 10 },
      }),
    };
    const ended = collect();
    await toEmbedder(model).embed(texts);
    await toEmbedder(model).embed([]);
    expect(ended).toMatchObject([{ type: 'embedding', model: 'test/small', inputTokens: 30, dimension: 2 }]);
  });
});
