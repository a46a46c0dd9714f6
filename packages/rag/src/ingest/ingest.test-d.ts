import { describe, expectTypeOf, test } from 'vitest';
import { createLexicalEmbedder, deleteDocuments, ingest, toEmbedder, type Embedder } from '../index.js';
import { LocalVector } from '../stores/local/index.js';

const store = new LocalVector();
const shared = { store, indexName: 'docs' };

describe('ingest', () => {
  test('takes a scope or all of them', () => {
    const embedder = createLexicalEmbedder();
    void ingest({ ...shared, embedder, documents: [], scope: 'all' });
    void ingest({ ...shared, embedder, documents: [], scope: { tenant: 'a', year: 2026, draft: false } });
    void deleteDocuments({ ...shared, sources: [], scope: 'all' });
    // @ts-expect-error no such scope
    void ingest({ ...shared, embedder, documents: [], scope: 'none' });
    // @ts-expect-error a value that no filter compares
    void deleteDocuments({ ...shared, sources: [], scope: { tenant: null } });
  });

  test('takes exactly one store and one model, under either name', () => {
    const model = createLexicalEmbedder();
    const run = { indexName: 'docs', documents: [] };
    void ingest({ ...run, vectorStore: store, model });
    void ingest({ ...run, store, embedder: model });
    void ingest({ ...run, vectorStore: store, embedder: model });
    void deleteDocuments({ vectorStore: store, indexName: 'docs', sources: [] });
    // @ts-expect-error no store
    void ingest({ ...run, model });
    // @ts-expect-error no model
    void ingest({ ...run, vectorStore: store });
    // @ts-expect-error two names of the store
    void ingest({ ...run, vectorStore: store, store, model });
    // @ts-expect-error two names of the model
    void ingest({ ...run, vectorStore: store, model, embedder: model });
  });

  test('takes an embedder that returns lists of numbers', () => {
    const own = { id: 'own', embed: async (texts: readonly string[]) => texts.map(({ length }) => [length]) };
    void ingest({ ...shared, documents: [], embedder: own });
    void ingest({ ...shared, documents: [], embedder: { id: 'own', embed: async (texts) => texts.map(() => [1]) } });
    expectTypeOf(toEmbedder(own)).toEqualTypeOf<Embedder>();
    expectTypeOf(toEmbedder(own).embed(['a'])).resolves.toEqualTypeOf<Float32Array[]>();
    // @ts-expect-error a vector holds numbers
    toEmbedder({ id: 'own', embed: async (texts: readonly string[]) => texts.map(() => ['1']) });
  });
});
