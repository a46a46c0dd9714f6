import { describe, expect, it } from 'vitest';
import { readTestVariable } from '../../../../scripts/test-variable.ts';
import { createLexicalEmbedder } from '../embedding/index.js';
import { evaluateRetrieval } from '../evaluate/index.js';
import { findRegressions, guardedMetrics, readTestCollections } from '../search/test-collection.fixture.js';
import { LocalVector } from '../stores/local/index.js';
import { createGraphRAGTool } from '../tools/graph-rag-tool.js';

/** The queries of XQuAD are more than a test has time for. */
const maxCases = 240;
const { collections, missing } = readTestCollections(readTestVariable('QUIVER_DATA'), maxCases);
if (missing.length > 0)
  process.stderr.write(
    `The quality of the graph is not guarded on ${missing.join(', ')}: set QUIVER_DATA to the folder of the test collections.\n`,
  );

const indexName = 'documents';
const model = createLexicalEmbedder();

describe.runIf(collections.length > 0)('on a test collection, the graph with its default settings', () => {
  it.each(collections)('is at least as good as keyword search: $name', async (collection) => {
    const { name, documents, cases } = collection;
    await using store = new LocalVector();
    await store.createIndex({ indexName, dimension: model.dimension as number });
    await store.upsert({
      indexName,
      ids: documents.map(({ id }) => id),
      vectors: await model.embed(documents.map(({ text }) => text)),
      documents: documents.map(({ text }) => text),
      metadata: documents.map(({ title }) => ({ title })),
    });
    const evaluation = await evaluateRetrieval({
      vectorStore: store,
      indexName,
      cases,
      metrics: guardedMetrics,
      configurations: [
        { name: 'keyword', mode: 'keyword' },
        { name: 'graph', retrieve: createGraphRAGTool({ vectorStore: store, indexName, model }) },
      ],
    });
    expect(findRegressions(name, evaluation)).toEqual([]);
  });
});
