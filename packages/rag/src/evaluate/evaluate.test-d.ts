import type { TuneOptions } from '@quiver/devtools/evaluate';
import { expectTypeOf, test } from 'vitest';
import type { Embedder, ExportIndexOptions, ImportIndexOptions, RetrieveOptions, VectorStore } from '../index.js';
import type { EvaluateRetrievalOptions } from './index.js';

const indexName = 'guides';

test('the store and the model have two names each, of which one is given', () => {
  const vectorStore = {} as VectorStore;
  const model = {} as Embedder;
  const question = 'Who approves travel?';
  expectTypeOf({ question, indexName, vectorStore, model }).toExtend<RetrieveOptions>();
  expectTypeOf({ question, indexName, store: vectorStore, embedder: model }).toExtend<RetrieveOptions>();
  expectTypeOf({ question, indexName, vectorStore, store: vectorStore, model }).not.toExtend<RetrieveOptions>();
  expectTypeOf({ question, indexName, vectorStore }).not.toExtend<RetrieveOptions>();

  expectTypeOf({ indexName, vectorStore }).toExtend<ExportIndexOptions>();
  expectTypeOf({ indexName, store: vectorStore }).toExtend<ExportIndexOptions>();
  expectTypeOf({ indexName }).not.toExtend<ExportIndexOptions>();
  expectTypeOf({ indexName, vectorStore, lines: [''] }).toExtend<ImportIndexOptions>();
  expectTypeOf({ indexName, store: vectorStore, lines: [''] }).toExtend<ImportIndexOptions>();

  const evaluation = {
    cases: [],
    configurations: [
      { name: 'a', model },
      { name: 'b', embedder: model },
    ],
  };
  expectTypeOf({ ...evaluation, vectorStore }).toExtend<EvaluateRetrievalOptions>();
  expectTypeOf({ ...evaluation, store: vectorStore }).toExtend<EvaluateRetrievalOptions>();
  const tuning = { documents: [], cases: [], grid: { chunkSize: [300] } };
  expectTypeOf({ ...tuning, vectorStore, model }).toExtend<TuneOptions>();
  expectTypeOf({ ...tuning, store: vectorStore, embedder: model }).toExtend<TuneOptions>();
});
