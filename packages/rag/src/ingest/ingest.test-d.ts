import { describe, expectTypeOf, test } from 'vitest';
import { createLexicalEmbedder, deleteDocuments, ingest, toEmbedder, type Embedder } from '../index.js';
import { LocalVector } from '../stores/local/index.js';

const store = new LocalVector();
const shared = { vectorStore: store, indexName: 'docs' };

describe('ingest', () => {
  test('takes a scope or all of them', () => {
    const model = createLexicalEmbedder();
    void ingest({ ...shared, model, documents: [], scope: 'all' });
    void ingest({ ...shared, model, documents: [], scope: { tenant: 'a', year: 2026, draft: false } });
    void deleteDocuments({ ...shared, sources: [], scope: 'all' });
    // @ts-expect-error no such scope
    void ingest({ ...shared, model, documents: [], scope: 'none' });
    // @ts-expect-error a value that no filter compares
    void deleteDocuments({ ...shared, sources: [], scope: { tenant: null } });
  });

  test('takes a store and a model', () => {
    const run = { indexName: 'docs', documents: [] };
    // @ts-expect-error no store
    void ingest({ ...run, model: createLexicalEmbedder() });
    // @ts-expect-error no model
    void ingest({ ...run, vectorStore: store });
  });

  test('takes an embedder that returns lists of numbers', () => {
    const own = { id: 'own', embed: async (texts: readonly string[]) => texts.map(({ length }) => [length]) };
    void ingest({ ...shared, documents: [], model: own });
    void ingest({ ...shared, documents: [], model: { id: 'own', embed: async (texts) => texts.map(() => [1]) } });
    expectTypeOf(toEmbedder(own)).toEqualTypeOf<Embedder>();
    expectTypeOf(toEmbedder(own).embed(['a'])).resolves.toEqualTypeOf<Float32Array[]>();
    // @ts-expect-error a vector holds numbers
    toEmbedder({ id: 'own', embed: async (texts: readonly string[]) => texts.map(() => ['1']) });
  });
});
