import { createLexicalEmbedder, type Embedder } from '../embedding/index.js';
import type { VectorStore } from '../store/index.js';
import { createGraphRAGTool, type GraphRAGTool, type GraphRAGToolOptions } from './graph-rag-tool.js';

export const indexName = 'facts';
export const model: Embedder = createLexicalEmbedder({ dimension: 256 });

/** Facts about people; some queries need two of them: no text about harbours names Ada. */
export const facts: Record<string, string> = {
  ada: 'Ada Quill works at the Bremer Institute.',
  institute: 'The Bremer Institute was founded by Otto Lindqvist.',
  otto: 'Otto Lindqvist collected maps of harbours.',
  pastry: 'A croissant is made of butter and patience.',
  weather: 'Rain is expected in the afternoon.',
};

export async function fill(
  store: VectorStore,
  texts: Record<string, string>,
  metadata: object = {},
  name = indexName,
): Promise<void> {
  const ids = Object.keys(texts);
  const documents = Object.values(texts);
  const vectors = await model.embed(documents, { purpose: 'document' });
  await store.createIndex({ indexName: name, dimension: 256 });
  await store.upsert({ indexName: name, ids, documents, vectors, metadata: ids.map(() => ({ ...metadata })) });
}

export function toolOver(store: VectorStore, options: Partial<GraphRAGToolOptions> = {}): GraphRAGTool {
  return createGraphRAGTool({ indexName, vectorStore: store, model, ...options });
}

type Before = {
  [method in 'get' | 'listVectors' | 'query']?: (params: Readonly<Record<string, unknown>>) => Promise<void>;
};

/** A store that counts what is asked of it, and can be made to wait, fail or change before it answers. */
export function watched(store: VectorStore): { store: VectorStore; calls: string[]; before: Before } {
  const calls: string[] = [];
  const before: Before = {};
  const proxy = new Proxy(store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      return async (...parameters: unknown[]) => {
        calls.push(String(key));
        await before[key as keyof Before]?.(parameters[0] as Record<string, unknown>);
        return (value as (...all: unknown[]) => unknown).apply(target, parameters);
      };
    },
  });
  return { store: proxy, calls, before };
}

export const idsOf = (sources: readonly { id: string }[]): string[] => sources.map(({ id }) => id);
