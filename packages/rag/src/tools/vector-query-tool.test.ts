import type { QuiverError } from '@quiver/core';
import { isToolFailure } from '@quiver/core/tools';
import { beforeEach, describe, expect, it } from 'vitest';
import { expectError } from '../../../../scripts/test-error.ts';
import { MDocument } from '../document/document.js';
import { createLexicalEmbedder } from '../embedding/index.js';
import { ingest } from '../ingest/ingest.js';
import { retrieve } from '../retrieve/retrieve.js';
import { parseSearch } from '../store/search.js';
import type { QueryParams, VectorStore } from '../store/index.js';
import { LocalVector } from '../stores/local/index.js';
import { createGraphRAGTool, type GraphRAGTool } from './graph-rag-tool.js';
import type { VectorQueryToolOptions } from './query-tool-options.js';
import type { VectorQueryInput } from './query-call.js';
import { callTool, idsFoundBy, inContext } from './call-tool.fixture.js';
import { createVectorQueryTool, type VectorQueryOutput, type VectorQueryTool } from './vector-query-tool.js';

const model = createLexicalEmbedder();
const passages = [
  { id: 'cat', text: 'The cat sleeps on the sofa all day.', metadata: { kind: 'pet', year: 2020 } },
  { id: 'dog', text: 'The dog barks at the postman.', metadata: { kind: 'pet', year: 2024 } },
  { id: 'whale', text: 'Whales sing below the surface of the sea.', metadata: { kind: 'wild', year: 2024 } },
];

async function fill(store: VectorStore, indexName: string, texts = passages): Promise<void> {
  const vectors = await model.embed(texts.map(({ text }) => text));
  await store.createIndex({ indexName, dimension: vectors[0]?.length ?? 0 });
  await store.upsert({
    indexName,
    vectors,
    ids: texts.map(({ id }) => id),
    metadata: texts.map(({ metadata }) => metadata),
    documents: texts.map(({ text }) => text),
  });
}

let store: LocalVector;
const storeWith = (members: object): VectorStore => Object.assign(Object.create(store) as VectorStore, members);
const create = (options: Partial<VectorQueryToolOptions> = {}): ReturnType<typeof createVectorQueryTool> =>
  createVectorQueryTool({ vectorStore: store, indexName: 'animals', model, ...options });

beforeEach(async () => {
  store = new LocalVector();
  await fill(store, 'animals');
});

describe('createVectorQueryTool', () => {
  it('answers with the nearest passages, as text and as objects', async () => {
    const result = await callTool(create(), { queryText: 'Where does the cat sleep?', topK: 1 });
    expect(result).toEqual({
      relevantContext: '[1] The cat sleeps on the sofa all day.',
      sources: [
        {
          id: 'cat',
          document: 'The cat sleeps on the sofa all day.',
          metadata: { kind: 'pet', year: 2020 },
          vector: [],
          score: expect.any(Number),
          confidence: expect.any(Number),
        },
      ],
    });
  });

  it('rates nonsense low, and leaves it out below minConfidence', async () => {
    const nonsense = 'Which postman sells pancakes with maple syrup?';
    const [first] = (await callTool(create({ mode: 'hybrid', fusion: { vector: 1 } }), nonsense)).sources;
    expect(first?.confidence).toBeLessThan(0.2);
    const strict = create({ mode: 'hybrid', minConfidence: 0.3 });
    expect(await callTool(strict, nonsense)).toEqual({ relevantContext: '', sources: [], nothingFound: true });
    expect(await idsFoundBy(strict, 'Where does the cat sleep?')).toEqual(['cat']);
    expect(await idsFoundBy(strict, nonsense, inContext({ minConfidence: 0 }))).not.toEqual([]);
  });

  it('leaves sources out and adds vectors on request', async () => {
    expect((await callTool(create({ includeSources: false }), 'cat')).sources).toEqual([]);
    const { sources } = await callTool(create({ includeVectors: true }), { queryText: 'cat', topK: 1 });
    expect(sources[0]?.vector?.length).toBe((await model.embed(['x']))[0]?.length);
  });

  it('takes the text from the usual metadata keys where a store keeps no documents', async () => {
    const [vector] = await model.embed(['plain']);
    await store.upsert({
      indexName: 'animals',
      ids: ['plain'],
      vectors: [vector ?? []],
      metadata: [{ text: 'A plain passage.' }],
    });
    const { sources } = await callTool(create(), { queryText: 'plain', topK: 1 });
    expect(sources[0]).toMatchObject({ id: 'plain', document: 'A plain passage.' });
  });

  it.each([
    ['minConfidence', 50],
    ['databaseConfig', { local: 'tenant-a' }],
    ['reranker', 'openai/gpt-5.1'],
  ])('rejects a wrong %s of the request context: %s', async (name, value) => {
    await expectError(callTool(create(), 'cat', inContext({ [name]: value })), 'OPTIONS_INVALID', `'${name}' must be`);
  });

  it('keeps an option that the request context has without a value', async () => {
    const asked: QueryParams[] = [];
    const observed = storeWith({
      databaseConfigKey: 'pinecone',
      query: async (params: QueryParams) => (asked.push(params), []),
    });
    const search = create({ vectorStore: observed, databaseConfig: { pinecone: { namespace: 'a' } } });
    await callTool(
      search,
      'cat',
      inContext({ databaseConfig: undefined, indexName: undefined, minConfidence: undefined }),
    );
    expect(asked).toEqual([expect.objectContaining({ namespace: 'a', indexName: 'animals' })]);
  });

  it('passes a store its own block of databaseConfig and nothing else', async () => {
    const calls: object[] = [];
    const recording = storeWith({
      databaseConfigKey: 'pgvector',
      query: async (params: object) => (calls.push(params), []),
    });
    const databaseConfig = { pgvector: { ef: 200, topK: 99 }, pinecone: { namespace: 'x' } };
    await callTool(create({ vectorStore: recording, databaseConfig }), { queryText: 'cat', topK: 2 });
    expect(calls).toEqual([expect.objectContaining({ ef: 200, topK: 12, indexName: 'animals' })]);
    expect(calls[0]).not.toHaveProperty('namespace');
  });
});

describe('the options of query tools', () => {
  const target = (): VectorQueryToolOptions => ({ vectorStore: store, indexName: 'animals', model });
  type Created = ReturnType<typeof create> | ReturnType<typeof createGraphRAGTool>;
  const tools: [string, (options: object) => Created][] = [
    ['createVectorQueryTool', (options) => createVectorQueryTool({ ...target(), ...options })],
    ['createGraphRAGTool', (options) => createGraphRAGTool({ ...target(), ...options })],
  ];

  it.each(tools)(
    'of %s filter by the application, regardless of what model and request context ask for',
    async (_name, toolOf) => {
      const idsOf = async (options: object, filter?: object | string, context?: object): Promise<string[]> => {
        const input = { queryText: 'dog cat whales', ...(filter && { filter }) };
        const tool = toolOf({ enableFilter: true, ...options });
        return (await idsFoundBy(tool, input, inContext(context ? { filter: context } : {}))).toSorted();
      };
      expect(await idsOf({ filter: { kind: 'pet' } })).toEqual(['cat', 'dog']);
      expect(await idsOf({ filter: '{"kind":"pet"}' })).toEqual(['cat', 'dog']);
      expect(await idsOf({ scope: { kind: 'pet' } })).toEqual(['cat', 'dog']);
      expect(await idsOf({ scope: { kind: 'pet' }, filter: { year: 2024 } })).toEqual(['dog']);
      expect(await idsOf({}, { kind: 'wild' })).toEqual(['whale']);
      expect(await idsOf({}, '{"kind":"wild"}')).toEqual(['whale']);
      const wider = { $or: [{ kind: 'pet' }, { kind: 'wild' }] };
      expect(await idsOf({ filter: { kind: 'pet' } }, wider)).toEqual(['cat', 'dog']);
      expect(await idsOf({}, wider, { kind: 'pet' })).toEqual(['cat', 'dog']);
      expect(await idsOf({}, { year: { $gte: 2024 } }, { kind: 'pet' })).toEqual(['dog']);
      expect(await idsOf({ filter: { kind: 'pet' } }, { year: 2020 })).toEqual(['cat']);
      expect(await idsOf({ filter: { kind: 'pet' } }, undefined, { year: 2024 })).toEqual(['dog']);
      expect(await idsOf({ scope: { kind: 'pet' } }, undefined, { kind: 'wild' })).toEqual([]);
    },
  );

  it.each(tools)('of %s set the default and the largest topK', async (_name, toolOf) => {
    const count = async (options: object, topK?: number, ofContext?: number): Promise<number> => {
      const input = { queryText: 'dog cat whales', ...(topK !== undefined && { topK }) };
      const context = inContext(ofContext === undefined ? {} : { topK: ofContext });
      return (await idsFoundBy(toolOf(options), input, context)).length;
    };
    expect(await count({ topK: 2 })).toBe(2);
    expect(await count({ topK: 2 }, 1)).toBe(1);
    expect(await count({ maxTopK: 2 })).toBe(2);
    expect(await count({ maxTopK: 2 }, 10_000)).toBe(2);
    // The request context is the application's.
    expect(await count({ maxTopK: 2 }, 1, 3)).toBe(3);
    expect(JSON.stringify(toolOf({ topK: 5 }).inputSchema)).toContain('(default 5, at most 50;');
    expect(JSON.stringify(toolOf({ topK: 80 }).inputSchema)).toContain('(default 80, at most 80;');
    expect(JSON.stringify(toolOf({ maxTopK: 4 }).inputSchema)).toContain('(default 4, at most 4;');
    expect(JSON.stringify(toolOf({}).inputSchema)).toContain('(default 10, at most 50; larger numbers count as 50)');
  });

  it.each(tools)('of %s are refused when they are unknown or invalid', (name, toolOf) => {
    const code = 'OPTIONS_INVALID';
    const refusal = (options: object, message: string): void => expectError(() => toolOf(options), code, message);
    refusal({ expand: { around: 1 } }, `${name} has no option 'expand.around'.`);
    refusal({ topK: 0 }, `${name}: 'topK' must be an integer`);
    refusal({ topK: 9, maxTopK: 8 }, 'topK must be at most maxTopK (8), not 9.');
    refusal({ filter: undefined }, "'filter' is undefined.");
    refusal({ scope: undefined }, "'scope' is undefined.");
    expectError(() => toolOf({ scope: {} }), 'OPTIONS_INVALID');
    expectError(() => toolOf({ filter: { $like: 1 } }), 'FILTER_INVALID');
  });

  it('are refused by a tool that lists records, if only a ranking needs them', () => {
    expect(() =>
      createVectorQueryTool({ vectorStore: store, indexName: 'animals', mode: 'filter', fusion: {} } as never),
    ).toThrow("createVectorQueryTool has no option 'fusion'.");
  });
});

describe('the mode of createVectorQueryTool', () => {
  it('finds by keyword without calling the embedding model', async () => {
    const silent = { ...model, embed: () => Promise.reject(new Error('not needed')) };
    expect(await idsFoundBy(create({ mode: 'keyword', model: silent }), 'whales')).toEqual(['whale']);
  });

  it('finds by both, with the weights that were set, or that the embedder recommends', async () => {
    const fusions: unknown[] = [];
    const recording = storeWith({
      query: (params: QueryParams) => {
        fusions.push([params.mode, params.fusion]);
        return store.query(params);
      },
    });
    const ask = (options: Partial<VectorQueryToolOptions>) =>
      callTool(create({ vectorStore: recording, mode: 'hybrid', ...options }), { queryText: 'the cat', topK: 1 });
    expect((await ask({})).sources.map(({ id }) => id)).toEqual(['cat']);
    await ask({ model: { ...model, hybridWeight: undefined } });
    await ask({ fusion: { keyword: 2, vector: 3 } });
    await ask({ fusion: { keyword: 2 } });
    expect(fusions).toEqual([
      // The weight of the lexical embedder is 0.
      ['hybrid', { vector: 0 }],
      ['hybrid', { vector: 1 }],
      ['hybrid', { keyword: 2, vector: 3 }],
      ['hybrid', { keyword: 2, vector: 0 }],
    ]);
  });

  it('can be set in the request context, and asks for different passages there', async () => {
    await fill(store, 'animals', [
      { id: 'cat again', text: 'The cat sleeps on the sofa all day!', metadata: { kind: 'pet', year: 1 } },
    ]);
    const ask = (context: object): Promise<string[]> =>
      idsFoundBy(create(), { queryText: 'the cat sleeps on the sofa, or the dog', topK: 2 }, inContext(context));
    expect(await ask({ mode: 'keyword' })).toEqual(['cat', 'cat again']);
    expect(await ask({ mode: 'keyword', mmr: { lambda: 0.3 } })).toEqual(['cat', 'dog']);
  });

  it('of the request context makes no list of a search, and no search of a list', async () => {
    await expectError(callTool(create(), 'cat', inContext({ mode: 'filter' })), 'OPTIONS_INVALID');
    const list = createVectorQueryTool({ vectorStore: store, indexName: 'animals', mode: 'filter' });
    const { sources } = await callTool(list, {}, inContext({ mode: 'keyword' }));
    expect(sources).toHaveLength((await store.describeIndex({ indexName: 'animals' })).count);
  });

  it('is refused by a store that does not have it', async () => {
    const plain = storeWith({
      query: async (params: QueryParams) => {
        parseSearch(params, { name: 'Plain', capabilities: { modes: ['vector'] } });
        return [];
      },
    });
    await expectError(callTool(create({ vectorStore: plain, mode: 'hybrid' }), 'cat'), 'VECTOR_QUERY_UNSUPPORTED');
  });
});

describe('filters of createVectorQueryTool', () => {
  it('are not offered unless enabled', async () => {
    // @ts-expect-error an unknown key, as a model may send it
    expect(isToolFailure(await create().execute({ queryText: 'cat', filters: {} }))).toBe(true);
    expect(isToolFailure(await create().execute({ queryText: 'cat', filter: { kind: 'wild' } }))).toBe(true);
  });

  it('tell the model which fields there are', () => {
    const describe = (options: Partial<VectorQueryToolOptions>): string =>
      JSON.stringify(create({ enableFilter: true, ...options }).inputSchema);
    const fields = { kind: 'pet or wild', 'born.year': 'a number, from 2020 on' };
    expect(describe({ filterFields: fields })).toContain(
      'Only these fields can be used:\\n\\"kind\\": pet or wild\\n\\"born.year\\": a number, from 2020 on',
    );
    expect(describe({})).not.toContain('Only these fields');
    expect(describe({ enableFilter: false, filterFields: fields })).not.toContain('born.year');
    expect(JSON.stringify(create({ filterFields: fields }).inputSchema)).toContain('born.year');
  });

  it('reject a list of fields, which has no names', () => {
    // @ts-expect-error fields are an object
    expect(() => create({ filterFields: ['kind'] })).toThrow("'filterFields' must be");
  });

  it.each([undefined, null, 5, { tenant: undefined }])('of the request context must be usable: %j', async (filter) => {
    await expectError(callTool(create(), 'cat', inContext({ filter })), 'FILTER_INVALID');
  });

  it.each(['{"kind":', '{"kind":{"$like":"w%"}}', '[1]'])('rejects an invalid filter: %s', async (filter) => {
    await expectError(callTool(create({ enableFilter: true }), { queryText: 'cat', filter }), 'FILTER_INVALID');
  });
});

describe('vectorStoreName of createVectorQueryTool', () => {
  const tool = createVectorQueryTool({ vectorStoreName: 'pinecone', indexName: 'animals', model });
  const mastra = {
    getVector: (name: string): VectorStore => {
      if (name !== 'pinecone') throw new Error(`Vector with name ${name} not found`);
      return store;
    },
  };
  const found = { sources: [{}, {}, {}] };

  it('is looked up in the mastra object of the call, in both call forms', async () => {
    expect(await tool.execute({ queryText: 'cat' }, { mastra })).toMatchObject(found);
    const { createVectorQueryTool: createV0 } = await import('../compat/index.js');
    const v0 = createV0({ vectorStoreName: 'pinecone', indexName: 'animals', model });
    expect(await v0.execute({ context: { queryText: 'cat' }, mastra })).toMatchObject(found);
  });

  it('is looked up in the request context, also by a graph tool', async () => {
    expect(await callTool(tool, 'cat', inContext({ mastra }))).toMatchObject(found);
    const graph = createGraphRAGTool({ vectorStoreName: 'pinecone', indexName: 'animals', model });
    expect(await idsFoundBy(graph, 'cat', inContext({ mastra }))).not.toEqual([]);
  });

  it('is looked up in a registry given at creation, asynchronous or not', async () => {
    const registry = { getVector: async (name: string) => ({ pinecone: store })[name] };
    const vectorStoreName = 'pinecone';
    expect(await create({ vectorStore: registry, vectorStoreName }).execute({ queryText: 'cat' })).toMatchObject(found);
    expect(await create({ vectorStore: mastra, vectorStoreName }).execute({ queryText: 'cat' })).toMatchObject(found);
  });

  it('is overridden by the request context, and ignored when there is a store', async () => {
    const context = { mastra, ...inContext({ vectorStoreName: 'other' }) };
    await expectError(
      callTool(tool, 'cat', context),
      'VECTOR_STORE_MISSING',
      "getVector('other') returned no vector store: Vector with name other not found",
    );
    expect(await callTool(create(), 'cat', context)).toMatchObject(found);
  });

  it('is refused when it is something else', async () => {
    const message =
      "'vectorStore' must be a vector store, a registry with getVector(name), or a function, not an object.";
    for (const createTool of [createVectorQueryTool, createGraphRAGTool])
      expect(() => createTool({ vectorStore: {} as never, indexName: 'animals', model })).toThrow(message);
    const chooser = create({ vectorStore: () => ({}) as never });
    await expectError(callTool(chooser, 'cat'), 'VECTOR_STORE_MISSING');
  });

  it('is refused when the registry holds something else', async () => {
    const registry = { getVector: () => ({}) };
    await expectError(tool.execute({ queryText: 'cat' }, { mastra: registry }), 'VECTOR_STORE_MISSING');
  });
});

describe('failures of createVectorQueryTool', () => {
  it('of the store fail the call, with the cause', async () => {
    const cause = new Error('connect ECONNREFUSED');
    const down = storeWith({
      query: () => Promise.reject(cause),
    });
    await expect(callTool(create({ vectorStore: down }), 'cat')).rejects.toMatchObject({
      code: 'VECTOR_QUERY_FAILED',
      message: expect.stringContaining('connect ECONNREFUSED'),
      cause,
    });
  });

  it('of the index are named', async () => {
    await expectError(callTool(create({ indexName: 'missing' }), 'cat'), 'VECTOR_INDEX_NOT_FOUND');
  });

  it.each([0, -1, 'many', null])('refuse topK %j of the request context', async (topK) => {
    const call = callTool(create(), 'cat', inContext({ topK: topK ?? Number.NaN }));
    await expectError(call, 'OPTIONS_INVALID');
  });

  it('round topK down, and return input that does not fit as a failure', async () => {
    expect((await callTool(create(), { queryText: 'cat', topK: 1.9 })).sources).toHaveLength(1);
    for (const input of [{}, { queryText: '' }, { queryText: 'cat', topK: 0 }, { queryText: 5 }]) {
      expect(await create().execute(input as never)).toSatisfy(isToolFailure);
    }
  });

  it('stop when the caller aborts', async () => {
    const controller = new AbortController();
    const slow = storeWith({
      query: () => {
        controller.abort(new Error('enough'));
        return new Promise(() => undefined);
      },
    });
    const call = callTool(create({ vectorStore: slow }), 'cat', { abortSignal: controller.signal });
    await expect(call).rejects.toThrow('enough');
  });
});

describe('the reranker of createVectorQueryTool', () => {
  const weights = { semantic: 1, vector: 0, position: 0 };

  it.each([
    ['four times as many passages as the call returns', {}, 2, 8],
    ['the passages of a diverse result', { mmr: {} }, 2, 2],
    ['no more passages for a larger topK of its own', {}, 2, 8, { topK: 5 }],
    ['no fewer passages for a smaller topK of its own', {}, 2, 8, { topK: 1 }],
  ])('receives %s', async (_what, tool, topK, candidates, own: { topK?: number } = {}) => {
    const many = Array.from({ length: 20 }, (_, place) => `The cat ${'sleeps '.repeat(place)}here.`);
    await fill(
      store,
      'cats',
      many.map((text, place) => ({ id: `cat-${place}`, text, metadata: { kind: 'pet', year: place } })),
    );
    const received: number[] = [];
    const scorer = async (_query: string, texts: readonly string[]): Promise<number[]> => {
      received.push(texts.length);
      return texts.map(({ length }) => length / 1000);
    };
    const reranker = { model: scorer, options: { weights, ...own } };
    const search = create({ indexName: 'cats', reranker, ...tool });
    const { sources } = await callTool(search, { queryText: 'cat', topK });
    expect(received).toEqual([candidates]);
    expect(sources).toHaveLength(Math.min(topK, own.topK ?? topK));
  });

  it('receives nothing when nothing was found', async () => {
    const fails = { getRelevanceScore: () => Promise.reject(new Error('down')) };
    const search = create({ reranker: { model: fails }, filter: { kind: 'bird' } });
    expect(await callTool(search, 'cat')).toMatchObject({ sources: [] });
  });
});

it('shares the limit of parallel requests among the calls of a tool', async () => {
  let running = 0;
  let most = 0;
  const doEmbed = async ({ values }: { values: string[] }): Promise<{ embeddings: number[][] }> => {
    most = Math.max(most, (running += 1));
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return { embeddings: (await model.embed(values)).map((vector) => [...vector]) };
  };
  const slow = {
    specificationVersion: 'v2',
    provider: 'test',
    modelId: 'slow',
    maxEmbeddingsPerCall: 1,
    supportsParallelCalls: true,
    doEmbed,
  } as const;
  const tool = create({ model: slow as never });
  await Promise.all(Array.from({ length: 12 }, () => callTool(tool, 'cat')));
  expect(most).toBe(4);
});

describe('an index with scopes', () => {
  const ask = async (
    tool: VectorQueryTool | GraphRAGTool,
    context: Record<string, unknown> = {},
    input: Partial<VectorQueryInput> = {},
  ): Promise<string[] | string> => {
    try {
      const output = await callTool<VectorQueryOutput>(tool, { queryText: 'salaries', ...input }, inContext(context));
      return output.sources.map(({ metadata }) => String(metadata['org']));
    } catch (error) {
      return (error as QuiverError).code;
    }
  };

  beforeEach(async () => {
    const documents = [MDocument.fromText('Salaries of the team.', { source: 's.txt' })];
    for (const org of ['a', 'b'])
      await ingest({ documents, vectorStore: store, indexName: 'notes', model, scope: { org, team: 1 } });
  });

  it.each([
    ['createVectorQueryTool', createVectorQueryTool],
    ['createGraphRAGTool', createGraphRAGTool],
  ] as const)('is found by %s only with a scope or a filter of the application', async (_name, createTool) => {
    const options = { vectorStore: store, indexName: 'notes', model };
    const tool = createTool(options);
    expect(await ask(tool)).toBe('QUERY_SCOPE_MISSING');
    expect(await ask(tool, { filter: {} })).toBe('QUERY_SCOPE_MISSING');
    expect(await ask(tool, { filter: { org: 'a' } })).toEqual(['a']);
    expect(await ask(tool, { scope: { org: 'b', team: 1 } })).toEqual(['b']);
    expect(await ask(tool, { scope: undefined })).toBe('OPTIONS_INVALID');
    expect(await ask(createTool({ ...options, scope: { org: 'a', team: 1 } }))).toEqual(['a']);
    const one = createTool({ ...options, scope: { org: 'a', team: 1 } });
    expect(await ask(one, { scope: 'all' })).toEqual(['a']);
    expect(await ask(one, { scope: { org: 'b', team: 1 } })).toEqual([]);
    expect(await ask(createTool({ ...options, scope: 'all' }))).toHaveLength(2);
    expect(await ask(createTool({ ...options, indexName: 'animals' }), {}, { queryText: 'cat' })).not.toEqual([]);
  });

  it('is searched by retrieve() only with a scope or a filter', async () => {
    const options = { vectorStore: store, indexName: 'notes', model, question: 'salaries' };
    await expect(retrieve(options)).rejects.toMatchObject({
      code: 'QUERY_SCOPE_MISSING',
      details: { indexName: 'notes', keys: ['org', 'team'] },
    });
    expect((await retrieve({ ...options, scope: { org: 'a', team: 1 } })).matches).toHaveLength(1);
    expect((await retrieve({ ...options, scope: 'all' })).matches).toHaveLength(2);
  });

  it('shows no value of an owner in a hint or an error about a filter of the model', async () => {
    const declared = { indexName: 'notes', filterFields: { org: 'Organization' } };
    expect(await ask(create(declared), {}, { filter: { org: 'c' } })).toBe('QUERY_SCOPE_MISSING');
    expect(await ask(create(declared), {}, { filter: { other: 'c' } })).toBe('QUERY_SCOPE_MISSING');
    expect(await ask(create({ indexName: 'notes', enableFilter: true }), {}, { filter: { org: 'c' } })).toBe(
      'QUERY_SCOPE_MISSING',
    );
  });

  it('is separated by settings of a store as well', async () => {
    const withWhere = storeWith({
      capabilities: { ...store.capabilities, restrictions: ['where'] },
      query: ({ where, ...params }: QueryParams & { where?: object }) => {
        expect(where).toEqual({ org: 'a' });
        return store.query(params);
      },
    });
    const tool = create({
      indexName: 'notes',
      enableFilter: true,
      vectorStore: withWhere,
      databaseConfig: { local: { where: { org: 'a' } } },
    });
    expect(await ask(tool, {}, { filter: { org: 'a' } })).toEqual(['a']);
  });
});

describe('a question', () => {
  it.each([
    [' ', 'The question is empty. Pass a text to search for.'],
    [
      'why '.repeat(3000),
      'The question has 12000 characters, and at most 8000 are searched for. Shorten it, or raise maxQuestionLength.',
    ],
  ])('must have a text of a limited length', async (queryText, message) => {
    await expect(callTool(create(), queryText)).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
      message,
    });
  });

  it('may be longer where the tool allows it', async () => {
    const { sources } = await callTool(create({ maxQuestionLength: 12_000 }), 'cat '.repeat(3000));
    expect(sources).toHaveLength(3);
  });
});
