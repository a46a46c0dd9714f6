import { isQuiverError } from '@quiver/core';
import { describe, expect, it } from 'vitest';
import { readPublicFunctions } from '../../../scripts/public-functions.js';
import * as compat from './compat/index.js';
import { evaluateRetrieval, makeCases } from './evaluate/index.js';
import {
  buildChunkGraph,
  buildGraph,
  cacheEmbeddings,
  createDocumentChunkerTool,
  createGraphRAGTool,
  createLexicalEmbedder,
  createReranker,
  createVectorQueryTool,
  deleteDocuments,
  expandPassages,
  exportIndex,
  extractTriples,
  GraphRAG,
  importIndex,
  ingest,
  MDocument,
  rerank,
  rerankWithScorer,
  retrieve,
  storeEmbeddingCache,
  toEmbedder,
  verifyQuotes,
} from './index.js';
import { exportIndexToFile, importIndexFromFile } from './transfer/index-files.js';
import { ChromaVector } from './stores/chroma/index.js';
import { LanceVectorStore } from './stores/lance/index.js';
import { LibSQLVector } from './stores/libsql/index.js';
import { LocalVector } from './stores/local/index.js';
import { PgVector } from './stores/pg/index.js';
import { PineconeVector } from './stores/pinecone/index.js';
import { QdrantVector } from './stores/qdrant/index.js';

/** Adds an option, as programs in JavaScript can. */
const withUnknown = (options: object): never => ({ unknownOption: 1, ...options }) as never;
const unknown = withUnknown({});
const vectorStore = new LocalVector();
const model = createLexicalEmbedder();
const indexName = 'x';
const index = { vectorStore, indexName };
const search = { ...index, model };
const document = MDocument.fromText('text');

/** Runs a generator to its first value. */
const first = (items: AsyncIterable<unknown>): Promise<unknown> => items[Symbol.asyncIterator]().next();

/** A call of each public function with an option that it does not have. */
const calls: Record<string, () => unknown> = {
  'GraphRAG.query': () => new GraphRAG(1).query(withUnknown({ query: [1] })),
  MDocument: () => new MDocument(withUnknown({ docs: [] })),
  'MDocument.chunk': () => document.chunk(withUnknown({ strategy: 'recursive' })),
  'MDocument.extractMetadata': () => document.extractMetadata(withUnknown({ title: false })),
  createVectorQueryTool: () => createVectorQueryTool(withUnknown({ ...search })),
  'compat createGraphRAGTool': () => compat.createGraphRAGTool(withUnknown({ ...search })),
  'compat createDocumentChunkerTool': () => compat.createDocumentChunkerTool(withUnknown({ doc: document })),
  'compat createVectorQueryTool': () => compat.createVectorQueryTool(withUnknown({ ...search })),
  createGraphRAGTool: () => createGraphRAGTool(withUnknown({ ...search })),
  createDocumentChunkerTool: () => createDocumentChunkerTool(withUnknown({ doc: document })),
  createLexicalEmbedder: () => createLexicalEmbedder(unknown),
  toEmbedder: () => toEmbedder('openai/x', unknown),
  cacheEmbeddings: () => cacheEmbeddings(model, withUnknown({ cache: new Map() })),
  storeEmbeddingCache: () => storeEmbeddingCache(withUnknown({ ...index })),
  createReranker: () => createReranker(withUnknown({ provider: 'jina', model: 'x', apiKey: 'x' })),
  rerank: () => rerank([], 'x', {} as never, unknown),
  rerankWithScorer: () => rerankWithScorer({ results: [], query: 'x', scorer: {} as never, options: unknown }),
  retrieve: () => retrieve(withUnknown({ ...search, query: 'x' })),
  verifyQuotes: () => verifyQuotes('x', [], unknown),
  expandPassages: () => expandPassages([], withUnknown({ ...index, expand: 'section' })),
  extractTriples: () => extractTriples(withUnknown({ passages: [], model: 'openai/x' })),
  buildChunkGraph: () => buildChunkGraph(withUnknown({ passages: [] })),
  buildGraph: () => buildGraph(withUnknown({ ...index })),
  exportIndex: () => first(exportIndex(withUnknown({ ...index }))),
  importIndex: () => importIndex(withUnknown({ ...index, lines: [] })),
  ingest: () => ingest(withUnknown({ ...search, documents: [] })),
  deleteDocuments: () => deleteDocuments(withUnknown({ ...index, sources: ['x'] })),
  makeCases: () => makeCases(withUnknown({ passages: [] })),
  evaluateRetrieval: () => evaluateRetrieval(withUnknown({ cases: [], ...search })),
  exportIndexToFile: () => exportIndexToFile(withUnknown({ ...index, path: 'x' })),
  importIndexFromFile: () => importIndexFromFile(withUnknown({ ...index, path: 'x' })),
};

const none = 'takes no options';
const values = 'takes values, and no options';

/** Functions whose calls accept any option, each with the reason. */
const exempt: Record<string, string> = {
  GraphRAG: 'takes a dimension and a threshold',
  ChunkGraph: 'is created by buildChunkGraph()',
  'ChunkGraph.has': none,
  'ChunkGraph.neighbors': none,
  'ChunkGraph.walk': 'is internal: its caller checks the options of the query',
  'ChunkGraph.titlesIn': none,
  'GraphRAG.addNode': values,
  'GraphRAG.addEdge': values,
  'GraphRAG.getEdgesByType': none,
  'GraphRAG.updateNodeContent': none,
  'GraphRAG.createGraph': values,
  blankOut: none,
  createFilterTest: none,
  createLexicalSparseEncoder: none,
  evaluateFilter: none,
  parseFilter: none,
  htmlToMarkdown: 'is internal: loaders check the options of a file',
  readPage: values,
  MarkdownWriter: 'takes a URL',
  ...Object.fromEntries(['open', 'text', 'close', 'closePlace'].map((method) => [`MarkdownWriter.${method}`, values])),
  toFence: values,
  toRecord: values,
  toRow: values,
  toTableHeader: values,
  uniteBoxes: none,
  truncateEmbeddings: 'takes a number of dimensions',
  queryChunks: 'takes the parameters of a query, which the store checks',
  allAt: none,
  bootstrapMean: none,
  compareMeans: none,
  separation: none,
  hitRateAt: none,
  judgeIds: none,
  mrrAt: none,
  ndcgAt: none,
  precisionAt: none,
  readCases: none,
  recallAt: none,
  writeCases: none,
};

/** Stores, with options by which their methods are called before they reach a server, a file or a package. */
const storeClasses: readonly [new (options: never) => object, object][] = [
  [LocalVector, {}],
  [ChromaVector, {}],
  [LanceVectorStore, { uri: 'x' }],
  [LibSQLVector, { url: ':memory:' }],
  [PgVector, { connectionString: 'postgres://x' }],
  [QdrantVector, { url: 'http://x' }],
  [PineconeVector, { apiKey: 'x' }],
];
const stores = Object.fromEntries(storeClasses.map(([Store, options]) => [Store.name, new Store(options as never)]));

/** Methods of stores without parameters, and those that only subclasses call. */
const notCalled = new Set([
  'constructor',
  'close',
  'disconnect',
  'use',
  'open',
  'change',
  'check',
  'createBy',
  'selectPage',
]);

/** Returns the names of the methods of a store, also of inherited ones. */
function methodsOf(store: object): string[] {
  const methods = new Set<string>();
  for (let level: object = store; level !== Object.prototype; level = Object.getPrototypeOf(level) as object)
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(level)))
      if (typeof value === 'function' && !notCalled.has(name)) methods.add(name);
  return [...methods];
}

for (const [Store, options] of storeClasses) calls[Store.name] = () => new Store(withUnknown(options));
for (const [name, store] of Object.entries(stores))
  for (const method of methodsOf(store))
    calls[`${name}.${method}`] = () =>
      (store as Record<string, (params: object) => unknown>)[method]?.(withUnknown({ indexName }));

describe('options of the public functions', () => {
  it('are checked by each function, or the function is listed as exempt', async () => {
    const functions = await readPublicFunctions('@quiver/rag', (entry) => import(entry));
    const isProtected = (name: string): boolean => {
      const [owner = '', method = ''] = name.split('.');
      return owner in stores && notCalled.has(method);
    };
    const missing = functions.filter((name) => !(name in calls || name in exempt || isProtected(name)));
    const removed = Object.keys(exempt).filter((name) => !functions.includes(name));
    expect({ missing, removed }).toEqual({ missing: [], removed: [] });
  });

  it.each(Object.entries(calls))('of %s are rejected if they are unknown', async (_name, call) => {
    const error: unknown = await (async () => call())().catch((thrown: unknown) => thrown);
    expect(isQuiverError(error) && error.message).toMatch(
      / has no option '(?:options\.)?unknownOption'\. (?:Its options|The options of 'options') are: \w+/,
    );
  });

  const versioned = Object.entries(stores).filter(([, store]) => 'version' in store);
  it.each(versioned)('of %s.version are rejected if maxRecords is not a number of records', async (_name, store) => {
    for (const maxRecords of [-1, 1.5, Number.NaN, '5'])
      await expect((store as LocalVector).version({ indexName, maxRecords } as never)).rejects.toMatchObject({
        code: 'OPTIONS_INVALID',
        message: expect.stringContaining("'maxRecords' must be an integer of at least 0"),
      });
  });
});
