import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RequestContext } from '@quiver/core/request-context';
import { describe, expect, it } from 'vitest';
import { LocalVector } from '../stores/local/index.js';
import { createGraphRAGTool, type GraphRAGToolOptions } from './graph-rag-tool.js';
import { facts, fill, idsOf, indexName, model, toolOver } from './graph-rag.fixture.js';

describe('createGraphRAGTool', () => {
  it('finds what does not match the question but is connected with what does, and tells the way', async () => {
    await using store = new LocalVector();
    await fill(store, facts);
    const { sources, relevantContext, graph } = await toolOver(store, { seeds: 'keyword' }).execute(
      {
        queryText: 'Where works Ada Quill?',
        topK: 3,
      },
      { onFailure: 'throw' },
    );
    expect(idsOf(sources)).toEqual(['ada', 'institute', 'otto']);
    expect(sources[0]).toMatchObject({ score: 1, document: facts['ada'], metadata: {} });
    const plain = await store.query({ indexName, mode: 'keyword', queryText: 'Where works Ada Quill?' });
    expect(idsOf(plain)).not.toContain('otto');
    expect(sources[2]?.path.map(({ from, to, kind }) => [from, kind, to]).at(-1)).toEqual([
      'institute',
      'phrase',
      'otto',
    ]);
    expect(sources[2]?.path.at(-1)?.reason).toBe('both name “otto lindqvist”');
    expect(relevantContext).toBe(
      [
        `[1] ${facts['ada']}`,
        `[2] (connected with [1]: both name “bremer institute”)\n${facts['institute']}`,
        `[3] (connected with [2]: both name “otto lindqvist”)\n${facts['otto']}`,
      ].join('\n\n'),
    );
    expect(graph).toEqual({ complete: true, nodes: 5, edges: 2, seeds: 'keyword' });
  });

  it('gives the same answer a hundred times, in another store, and after it was closed and opened', async () => {
    const path = await mkdtemp(join(tmpdir(), 'quiver-graph-tool-'));
    try {
      const store = new LocalVector({ path });
      await fill(store, facts);
      const input = { queryText: 'Where works Ada Quill?' };
      const first = await toolOver(store).execute(input, { onFailure: 'throw' });
      for (let repeat = 0; repeat < 100; repeat += 1)
        expect(await toolOver(store).execute(input, { onFailure: 'throw' })).toEqual(first);
      await store.close();
      await using reopened = new LocalVector({ path });
      expect(await toolOver(reopened).execute(input, { onFailure: 'throw' })).toEqual(first);
      await using other = new LocalVector();
      await fill(other, Object.fromEntries(Object.entries(facts).toReversed()));
      expect(await toolOver(other).execute(input, { onFailure: 'throw' })).toEqual(first);
    } finally {
      await rm(path, { recursive: true });
    }
  });

  it('takes its settings from the request context first', async () => {
    await using store = new LocalVector();
    await fill(store, { only: 'Another index.' }, {}, 'other');
    const requestContext = new RequestContext();
    const tool = toolOver(store, { indexName: 'missing', graphOptions: { restartProb: 0.2 }, includeSources: true });
    requestContext.set('indexName', 'other');
    expect(idsOf((await tool.execute({ queryText: 'index' }, { onFailure: 'throw', requestContext })).sources)).toEqual(
      ['only'],
    );
    requestContext.set('includeSources', false);
    expect(await tool.execute({ queryText: 'index' }, { onFailure: 'throw', requestContext })).toMatchObject({
      relevantContext: '[1] Another index.',
      sources: [],
    });
    requestContext.set('includeSources', true);
    requestContext.set('includeVectors', true);
    const { sources } = await tool.execute({ queryText: 'index' }, { onFailure: 'throw', requestContext });
    expect(sources[0]?.vector).toHaveLength(256);
    for (const [key, value, message] of [
      ['restartProb', 1, "'graphOptions.restartProb' must be a finite number above 0 and below 1, not 1"],
      ['restartProb', '0.2', "'graphOptions.restartProb' must be a finite number above 0 and below 1, not '0.2'"],
      ['randomWalkSteps', 0, "'graphOptions.randomWalkSteps' must be a finite number of at least 1, not 0"],
    ] as const) {
      const wrong = new RequestContext([
        ['indexName', 'other'],
        [key, value],
      ] as [string, unknown][]);
      await expect(
        tool.execute({ queryText: 'index' }, { onFailure: 'throw', requestContext: wrong }),
      ).rejects.toMatchObject({
        code: 'OPTIONS_INVALID',
        message: expect.stringContaining(message),
      });
    }
  });

  it('lets one step reach no further than one edge', async () => {
    await using store = new LocalVector();
    await fill(store, facts);
    const ask = async (randomWalkSteps: number) =>
      idsOf(
        (
          await toolOver(store, { seeds: 'keyword', graphOptions: { randomWalkSteps } }).execute(
            { queryText: 'Quill' },
            { onFailure: 'throw' },
          )
        ).sources,
      );
    expect(await ask(1)).toEqual(['ada', 'institute']);
    expect(await ask(2)).toEqual(['ada', 'institute', 'otto']);
  });

  it('connects only by the configured kinds', async () => {
    await using store = new LocalVector();
    await fill(store, facts);
    const tool = toolOver(store, { seeds: 'keyword', graphOptions: { edges: { phrases: false } } });
    const { sources, graph } = await tool.execute({ queryText: 'Quill' }, { onFailure: 'throw' });
    expect(graph.edges).toBe(0);
    expect(idsOf(sources)).toEqual(['ada']);
  });

  describe('the ranking', () => {
    const passages: Record<string, { title: string; text: string }> = {
      alpha: { title: 'Aas Panchhi', text: 'A film by Otto Lindqvist, released in Bremen.' },
      beta: { title: 'Phoolwari (1946 film)', text: 'A film by Ada Quill.' },
      otto: { title: 'Otto Lindqvist', text: 'A director, born in Uppsala in 1901.' },
      released: {
        title: 'Which Film',
        text: 'Which film was released first is often asked: film, released, first, born.',
      },
      born: { title: 'Being born', text: 'Where was the director born? A director is born, a film director too.' },
    };

    async function openFilms(): Promise<LocalVector> {
      const store = new LocalVector();
      for (const [id, { title, text }] of Object.entries(passages))
        await fill(store, { [id]: `${title} ${text}` }, { title });
      return store;
    }

    it('starts at the passages whose titles the query names, and tells so', async () => {
      await using store = await openFilms();
      const { sources } = await toolOver(store).execute(
        { queryText: 'Which film was released first, Aas Panchhi or Phoolwari?', topK: 5 },
        { onFailure: 'throw' },
      );
      expect(idsOf(sources).slice(0, 2).toSorted()).toEqual(['alpha', 'beta']);
      const titled = { kind: 'title', weight: 1, reason: 'the query names “Aas Panchhi”' };
      expect(sources.find(({ id }) => id === 'alpha')?.path).toEqual([{ from: 'alpha', to: 'alpha', ...titled }]);
      expect(sources.find(({ id }) => id === 'released')?.path).toEqual([]);
    });

    it('prefers a neighbor with the words that the best passage lacks, and names them', async () => {
      await using store = await openFilms();
      const towns = Array.from({ length: 12 }, (_, n) => [`town${n}`, 'Uppsala, a town: the town Uppsala.']);
      await fill(store, Object.fromEntries(towns) as Record<string, string>);
      const { sources } = await toolOver(store, { graphOptions: { edges: { similarity: false } } }).execute(
        { queryText: 'In which town was the maker of Aas Panchhi brought up, Uppsala?', topK: 2 },
        { onFailure: 'throw' },
      );
      expect(idsOf(sources)).toEqual(['alpha', 'otto']);
      expect(sources[1]?.path.map(({ from, to, kind, reason }) => [from, to, kind, reason])).toEqual([
        ['alpha', 'alpha', 'title', 'the query names “Aas Panchhi”'],
        ['alpha', 'otto', 'phrase', 'both name “otto lindqvist”, and it adds “uppsala”'],
      ]);
    });

    it('names no words where the store compares them in another language', async () => {
      await using store = new LocalVector();
      await store.createIndex({ indexName, dimension: model.dimension as number, language: 'en' });
      await fill(store, { alpha: 'Aas Panchhi is by Otto Lindqvist.' }, { title: 'Aas Panchhi' });
      await fill(
        store,
        Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`w${n}`, 'Walk, walked and walked.'])),
      );
      await fill(store, { otto: 'Otto Lindqvist was walking.', max: 'Otto Lindqvist was here.' }, { language: 'fr' });
      const { sources } = await toolOver(store, { graphOptions: { edges: { similarity: false } } }).execute(
        { queryText: 'Who of Aas Panchhi walked?' },
        { onFailure: 'throw' },
      );
      const reasons = sources.flatMap(({ path }) => path.map(({ reason }) => reason));
      expect(reasons).toContain('both name “otto lindqvist”');
      expect(reasons.filter((reason) => reason.endsWith('adds '))).toEqual([]);
    });

    it('keeps the order of the search where the query names no title and nothing is connected', async () => {
      await using store = await openFilms();
      const queryText = 'where was the director of the film born';
      const plain = await store.query({ indexName, mode: 'keyword', queryText });
      const { sources } = await toolOver(store, {
        graphOptions: { edges: { phrases: false, similarity: false } },
      }).execute({ queryText }, { onFailure: 'throw' });
      expect(idsOf(sources)).toEqual(idsOf(plain));
    });

    it('contains at least the results of the search beyond the seeds', async () => {
      await using store = new LocalVector();
      const ids = Array.from({ length: 40 }, (_, n) => `n${n}`);
      await fill(store, Object.fromEntries(ids.map((id) => [id, `a harbour, number ${id}`])));
      const query = { queryText: 'harbour', topK: 40 };
      expect((await toolOver(store).execute(query, { onFailure: 'throw' })).sources).toHaveLength(40);
    });

    it('ignores titles that the model filters out', async () => {
      await using store = await openFilms();
      const filter = { title: { $ne: 'Aas Panchhi' } };
      const { sources } = await toolOver(store, { enableFilter: true }).execute(
        { queryText: 'Who made Aas Panchhi, a film?', filter },
        { onFailure: 'throw' },
      );
      expect(sources.length).toBeGreaterThan(0);
      expect(JSON.stringify(sources)).not.toContain('Panchhi');
    });

    it('searches by vectors alone where the seeds are to be found so', async () => {
      await using store = await openFilms();
      const modes: unknown[] = [];
      const recording = new Proxy(store, {
        get(target, key) {
          const value: unknown = Reflect.get(target, key, target);
          if (typeof value !== 'function') return value;
          return (...parameters: unknown[]) => {
            if (key === 'query') modes.push((parameters[0] as { mode: string }).mode);
            return (value as (...all: unknown[]) => unknown).apply(target, parameters);
          };
        },
      });
      const query = { queryText: 'Who made Aas Panchhi?' };
      await toolOver(recording, { seeds: 'vector' }).execute(query, { onFailure: 'throw' });
      expect(modes).toEqual(['vector']);
    });
  });

  it('finds its seeds by vectors, words or both, and says how', async () => {
    await using store = new LocalVector();
    await fill(store, facts);
    for (const seeds of ['vector', 'keyword', 'hybrid'] as const) {
      const answer = await toolOver(store, { seeds }).execute({ queryText: 'Ada Quill' }, { onFailure: 'throw' });
      expect(answer.graph.seeds).toBe(seeds);
      expect(answer.sources[0]?.id).toBe('ada');
    }
  });

  it('searches by vectors where no passage has a word of the query, unless vectors are ruled out', async () => {
    await using store = new LocalVector();
    await fill(store, facts);
    const ask = (options: Partial<GraphRAGToolOptions> = {}, queryText = 'harbourfront') =>
      toolOver(store, options).execute({ queryText }, { onFailure: 'throw' });
    const { sources, graph } = await ask();
    expect([sources[0]?.id, graph.seeds]).toEqual(['otto', 'vector']);
    expect((await ask({ seeds: 'keyword' })).sources).toEqual([]);
    expect((await ask({ fusion: { vector: 0 } })).sources).toEqual([]);
    expect((await ask({}, '???')).sources).toEqual([]);
  });

  it('prefers keywords where vectors have no weight', async () => {
    await using store = new LocalVector();
    await fill(store, facts);
    const seedsOf = async (options: Partial<GraphRAGToolOptions>) =>
      (await toolOver(store, options).execute({ queryText: 'Ada Quill' }, { onFailure: 'throw' })).graph.seeds;
    expect(await seedsOf({})).toBe('keyword');
    expect(await seedsOf({ fusion: { vector: 1 } })).toBe('hybrid');
    expect(await seedsOf({ model: { ...model, hybridWeight: undefined } })).toBe('hybrid');
  });

  describe('a failure', () => {
    it('of the store is named, with its cause', async () => {
      const cause = new Error('connect ECONNREFUSED');
      const store = new Proxy(new LocalVector(), {
        get: (target, key) => (key === 'version' ? () => Promise.reject(cause) : Reflect.get(target, key, target)),
      });
      await expect(toolOver(store).execute({ queryText: 'x' }, { onFailure: 'throw' })).rejects.toMatchObject({
        code: 'GRAPH_QUERY_FAILED',
        message: `The query of the graph over index '${indexName}' failed: connect ECONNREFUSED`,
        cause,
      });
    });

    it('of the embedding model is named, with its cause', async () => {
      await using store = new LocalVector();
      await fill(store, facts);
      const cause = new Error('out of quota');
      const failing = { ...model, embed: () => Promise.reject(cause) };
      await expect(
        toolOver(store, { model: failing, seeds: 'vector' }).execute({ queryText: 'x' }, { onFailure: 'throw' }),
      ).rejects.toMatchObject({
        code: 'GRAPH_QUERY_FAILED',
        cause,
      });
    });

    it('is a missing store, a missing index, another dimension, and a bad filter', async () => {
      await using store = new LocalVector();
      await fill(store, facts);
      const ask = (options: Partial<GraphRAGToolOptions>, requestContext = new RequestContext()) =>
        createGraphRAGTool({ indexName, vectorStore: store, model, ...options }).execute(
          { queryText: 'x' },
          { onFailure: 'throw', requestContext },
        );
      await expect(
        createGraphRAGTool({ indexName, model, vectorStoreName: 'pinecone' }).execute(
          { queryText: 'x' },
          { onFailure: 'throw' },
        ),
      ).rejects.toMatchObject({ code: 'VECTOR_STORE_MISSING' });
      await expect(ask({ indexName: 'none' })).rejects.toMatchObject({ code: 'VECTOR_INDEX_NOT_FOUND' });
      await expect(ask({ graphOptions: { dimension: 1536 } })).rejects.toMatchObject({
        code: 'VECTOR_DIMENSION_MISMATCH',
        message: expect.stringContaining("graphOptions.dimension is 1536, but the index 'facts' has dimension 256"),
      });
      await expect(ask({}, new RequestContext([['filter', undefined]] as [string, unknown][]))).rejects.toMatchObject({
        code: 'FILTER_INVALID',
      });
    });

    it.each<[NonNullable<GraphRAGToolOptions['graphOptions']>]>([
      [{ dimension: 0 }],
      [{ threshold: 2 }],
      [{ randomWalkSteps: Number.NaN }],
      [{ restartProb: 0 }],
      [{ maxNodes: -1 }],
      [{ edges: { phrase: true } as never }],
    ])('is a bad option: %j', async (graphOptions) => {
      await using store = new LocalVector();
      expect(() => toolOver(store, { graphOptions })).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
    });

    it('is a mode of seeds that the store does not have', async () => {
      const store = new LocalVector();
      await fill(store, facts);
      const plain = new Proxy(store, {
        get(target, key) {
          if (key === 'capabilities') return { modes: ['vector'] };
          const value: unknown = Reflect.get(target, key, target);
          if (key !== 'query') return typeof value === 'function' ? value.bind(target) : value;
          return (params: { mode?: string }) =>
            params.mode === 'vector'
              ? target.query(params as never)
              : Promise.reject(Object.assign(new Error('refused'), { code: 'VECTOR_QUERY_UNSUPPORTED' }));
        },
      });
      expect((await toolOver(plain).execute({ queryText: 'Ada' }, { onFailure: 'throw' })).graph.seeds).toBe('vector');
      await expect(
        toolOver(plain, { seeds: 'hybrid' }).execute({ queryText: 'Ada' }, { onFailure: 'throw' }),
      ).rejects.toMatchObject({
        cause: { code: 'VECTOR_QUERY_UNSUPPORTED' },
      });
    });
  });

  describe('tenants and filters', () => {
    const question = { queryText: 'Where works Ada Quill?' };
    const inTenant = (tenant: string) => ({
      requestContext: new RequestContext([['filter', { tenant }]] as [string, unknown][]),
    });

    it('keeps fifty tenants of one index apart, in any order of calls, as in separate indexes', async () => {
      await using store = new LocalVector();
      const tenants = Array.from({ length: 50 }, (_, n) => `t${n}`);
      const textsOf = (tenant: string): Record<string, string> =>
        Object.fromEntries(
          Object.entries(facts).map(([id, text]) => [
            `${tenant}-${id}`,
            text.replace('Lindqvist', `Lindqvist ${tenant.toUpperCase()}`),
          ]),
        );
      for (const tenant of tenants) await fill(store, textsOf(tenant), { tenant });
      const tool = toolOver(store, { seeds: 'vector' });
      const answers = await Promise.all(
        [...tenants, ...tenants.toReversed()].map((tenant) =>
          tool.execute(question, { ...inTenant(tenant), onFailure: 'throw' }),
        ),
      );
      for (const [n, tenant] of tenants.entries()) {
        await using own = new LocalVector();
        await fill(own, textsOf(tenant), { tenant });
        const expected = await toolOver(own, { seeds: 'vector' }).execute(question, {
          ...inTenant(tenant),
          onFailure: 'throw',
        });
        expect(answers[n]).toEqual(expected);
        expect(answers[99 - n]).toEqual(expected);
        expect(idsOf(expected.sources)).toContain(`${tenant}-institute`);
      }
    });

    it('tells filters apart that differ in a regular expression alone', async () => {
      await using store = new LocalVector();
      for (const tenant of ['a', 'b']) await fill(store, { [tenant]: `Ada Quill is in ${tenant}.` }, { tenant });
      const tool = toolOver(store, { enableFilter: true });
      for (const tenant of ['a', 'b']) {
        const filter = { tenant: new RegExp(`^${tenant}$`) };
        const requestContext = new RequestContext([['filter', filter]] as [string, unknown][]);
        const trusted = await tool.execute(question, { onFailure: 'throw', requestContext });
        expect([idsOf(trusted.sources), trusted.graph.nodes]).toEqual([[tenant], 1]);
        expect(idsOf((await tool.execute({ ...question, filter }, { onFailure: 'throw' })).sources)).toEqual([tenant]);
      }
    });

    it('leaves out a passage that became that of another tenant while the question was answered', async () => {
      await using store = new LocalVector();
      await fill(store, facts, { tenant: 'a' });
      const moving = new Proxy(store, {
        get(target, key) {
          const value: unknown = Reflect.get(target, key, target);
          if (typeof value !== 'function') return value;
          return async (...parameters: unknown[]) => {
            if (key === 'get')
              await target.updateVector({ indexName, id: 'institute', update: { metadata: { tenant: 'b' } } });
            return (value as (...all: unknown[]) => unknown).apply(target, parameters);
          };
        },
      });
      const { sources } = await toolOver(moving, { seeds: 'keyword' }).execute(question, {
        ...inTenant('a'),
        onFailure: 'throw',
      });
      expect(idsOf(sources)).toEqual(['ada', 'otto']);
    });

    it('gives a resolver one graph per store, not per tool', async () => {
      const stores = new Map<string, LocalVector>();
      for (const tenant of ['a', 'b']) {
        const store = new LocalVector();
        await fill(store, { [`${tenant}1`]: `The secret of ${tenant}.` });
        stores.set(tenant, store);
      }
      const tool = createGraphRAGTool({
        indexName,
        model,
        vectorStore: async ({ requestContext }) => stores.get(requestContext?.get('tenantId') as string) as LocalVector,
      });
      const ask = async (tenantId: string) =>
        idsOf(
          (
            await tool.execute(
              { queryText: 'secret' },
              {
                onFailure: 'throw',
                requestContext: new RequestContext([['tenantId', tenantId]] as [string, unknown][]),
              },
            )
          ).sources,
        );
      expect(await ask('a')).toEqual(['a1']);
      expect(await ask('b')).toEqual(['b1']);
      expect(await ask('a')).toEqual(['a1']);
    });

    it('lets what the model filters out be neither a result nor a step', async () => {
      await using store = new LocalVector();
      await fill(store, facts, { open: true });
      await store.updateVector({ indexName, id: 'institute', update: { metadata: { open: false } } });
      const tool = toolOver(store, { seeds: 'keyword', enableFilter: true });
      expect(idsOf((await tool.execute({ queryText: 'Quill' }, { onFailure: 'throw' })).sources)).toEqual([
        'ada',
        'institute',
        'otto',
      ]);
      expect(
        idsOf((await tool.execute({ queryText: 'Quill', filter: { open: true } }, { onFailure: 'throw' })).sources),
      ).toEqual(['ada']);
      expect(
        idsOf((await tool.execute({ queryText: 'Quill', filter: '{"open": false}' }, { onFailure: 'throw' })).sources),
      ).toEqual([]);
      await expect(
        tool.execute({ queryText: 'Quill', filter: { open: { $like: 1 } } }, { onFailure: 'throw' }),
      ).rejects.toMatchObject({
        code: 'FILTER_INVALID',
      });
    });

    it('lets the model narrow what the application set, never widen it', async () => {
      await using store = new LocalVector();
      await fill(store, { mine: 'Ada Quill is here.' }, { tenant: 'a' });
      await fill(store, { other: 'Ada Quill is there.' }, { tenant: 'b' });
      const tool = toolOver(store, { enableFilter: true });
      const ask = async (filter: object) =>
        idsOf(
          (await tool.execute({ queryText: 'Ada Quill', filter }, { ...inTenant('a'), onFailure: 'throw' })).sources,
        );
      expect(await ask({ $or: [{ tenant: 'b' }, { tenant: 'a' }] })).toEqual(['mine']);
      expect(await ask({ tenant: 'b' })).toEqual([]);
    });
  });
});
