import type { TuneOptions } from '@quiver/devtools/evaluate';
import { expectTypeOf, test } from 'vitest';
import type { Embedder, ExportIndexOptions, ImportIndexOptions, RetrieveOptions, VectorStore } from '../index.js';
import type { EvaluateRetrievalOptions } from './index.js';

const indexName = 'guides';

test('functions over an index take its store, and its model where they embed', () => {
  const vectorStore = {} as VectorStore;
  const model = {} as Embedder;
  const question = 'Who approves travel?';
  expectTypeOf({ question, indexName, vectorStore, model }).toExtend<RetrieveOptions>();
  expectTypeOf({ question, indexName, vectorStore, mode: 'keyword' as const }).toExtend<RetrieveOptions>();
  expectTypeOf({ indexName, vectorStore }).toExtend<ExportIndexOptions>();
  expectTypeOf({ indexName }).not.toExtend<ExportIndexOptions>();
  expectTypeOf({ indexName, vectorStore, lines: [''] }).toExtend<ImportIndexOptions>();
  expectTypeOf({ vectorStore, cases: [], configurations: [{ name: 'a', model }] }).toExtend<EvaluateRetrievalOptions>();
  expectTypeOf({ vectorStore, model, documents: [], grid: { chunkSize: [300] } }).toExtend<TuneOptions>();
});
