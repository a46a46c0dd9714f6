import { RequestContext } from '@quiver/core/request-context';
import { describe, expect, it } from 'vitest';
import { expectError } from '../../../../scripts/test-error.ts';
import { newFolder } from '../../../../scripts/test-folder.ts';
import { LocalVector } from '../stores/local/index.js';
import { createGraphRAGTool, type GraphRAGToolOptions } from './graph-rag-tool.js';
import { callTool, idsFoundBy, inContext } from './call-tool.fixture.js';
import { facts, fill, idsOf, indexName, model, toolOver, watched } from './graph-rag.fixture.js';

describe('createGraphRAGTool', () => {
  it('finds what does not match the question but is connected with what does, and tells the way', async () => {
    await using store = new LocalVector();
    await fill(store, facts);
    const { sources, relevantContext, graph } = await callTool(toolOver(store, { seeds: 'keyword' }), {
      queryText: 'Where works Ada Quill?',
      topK: 3,
    });
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
    const path = await newFolder();
    const store = new LocalVector({ path });
    await fill(store, facts);
    const input = { queryText: 'Where works Ada Quill?' };
    const first = await callTool(toolOver(store), input);
    for (let repeat = 0; repeat < 100; repeat += 1) expect(await callTool(toolOver(store), input)).toEqual(first);
    await store.close();
    await using reopened = new LocalVector({ path });
    expect(await callTool(toolOver(reopened), input)).toEqual(first);
    await using other = new LocalVector();
    await fill(other, Object.fromEntries(Object.entries(facts).toReversed()));
    expect(await callTool(toolOver(other), input)).toEqual(first);
  });

  it('takes its settings from the request context first', async () => {
    await using store = new LocalVector();
    await fill(store, { only: 'Another index.' }, {}, 'other');
    const tool = toolOver(store, { indexName: 'missing', graphOptions: { restartProb: 0.2 }, includeSources: true });
    const ask = (settings: object) => callTool(tool, 'index', inContext({ indexName: 'other', ...settings }));
    expect(await ask({ includeSources: false })).toMatchObject({
      relevantContext: '[1] Another index.',
      sources: [],
    });
    expect((await ask({ includeVectors: true })).sources).toMatchObject([{ id: 'only', vector: { length: 256 } }]);
    for (const [key, value, message] of [
      ['restartProb', 1, "'graphOptions.restartProb' must be a finite number above 0 and below 1, not 1"],
      ['restartProb', '0.2', "'graphOptions.restartProb' must be a finite number above 0 and below 1, not '0.2'"],
      ['randomWalkSteps', 0, "'graphOptions.randomWalkSteps' must be a finite number of at least 1, not 0"],
    ] as const) {
      await expectError(ask({ [key]: value }), 'OPTIONS_INVALID', message);
    }
  });

  it('lets one step reach no further than one edge', async () => {
    await using store = new LocalVector();
    await fill(store, facts);
    const ask = (randomWalkSteps: number) =>
      idsFoundBy(toolOver(store, { seeds: 'keyword', graphOptions: { randomWalkSteps } }), 'Quill');
    expect(await ask(1)).toEqual(['ada', 'institute']);
    expect(await ask(2)).toEqual(['ada', 'institute', 'otto']);
  });

  it('connects only by the configured kinds', async () => {
    await using store = new LocalVector();
    await fill(store, facts);
    const tool = toolOver(store, { seeds: 'keyword', graphOptions: { edges: { phrases: false } } });
    const { sources, graph } = await callTool(tool, 'Quill');
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
      const { sources } = await callTool(toolOver(store), {
        queryText: 'Which film was released first, Aas Panchhi or Phoolwari?',
        topK: 5,
      });
      expect(idsOf(sources).slice(0, 2).toSorted()).toEqual(['alpha', 'beta']);
      const titled = { kind: 'title', weight: 1, reason: 'the query names “Aas Panchhi”' };
      expect(sources.find(({ id }) => id === 'alpha')?.path).toEqual([{ from: 'alpha', to: 'alpha', ...titled }]);
      expect(sources.find(({ id }) => id === 'released')?.path).toEqual([]);
    });

    it('prefers a neighbor with the words that the best passage lacks, and names them', async () => {
      await using store = await openFilms();
      const towns = Array.from({ length: 12 }, (_, n) => [`town${n}`, 'Uppsala, a town: the town Uppsala.']);
      await fill(store, Object.fromEntries(towns) as Record<string, string>);
      const { sources } = await callTool(toolOver(store, { graphOptions: { edges: { similarity: false } } }), {
        queryText: 'In which town was the maker of Aas Panchhi brought up, Uppsala?',
        topK: 2,
      });
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
      const { sources } = await callTool(
        toolOver(store, { graphOptions: { edges: { similarity: false } } }),
        'Who of Aas Panchhi walked?',
      );
      const reasons = sources.flatMap(({ path }) => path.map(({ reason }) => reason));
      expect(reasons).toContain('both name “otto lindqvist”');
      expect(reasons.filter((reason) => reason.endsWith('adds '))).toEqual([]);
    });

    it('keeps the order of the search where the query names no title and nothing is connected', async () => {
      await using store = await openFilms();
      const queryText = 'where was the director of the film born';
      const plain = await store.query({ indexName, mode: 'keyword', queryText });
      const { sources } = await callTool(
        toolOver(store, {
          graphOptions: { edges: { phrases: false, similarity: false } },
        }),
        queryText,
      );
      expect(idsOf(sources)).toEqual(idsOf(plain));
    });

    it('contains at least the results of the search beyond the seeds', async () => {
      await using store = new LocalVector();
      const ids = Array.from({ length: 40 }, (_, n) => `n${n}`);
      await fill(store, Object.fromEntries(ids.map((id) => [id, `a harbour, number ${id}`])));
      const query = { queryText: 'harbour', topK: 40 };
      expect((await callTool(toolOver(store), query)).sources).toHaveLength(40);
    });

    it('ignores titles that the model filters out', async () => {
      await using store = await openFilms();
      const filter = { title: { $ne: 'Aas Panchhi' } };
      const { sources } = await callTool(toolOver(store, { enableFilter: true }), {
        queryText: 'Who made Aas Panchhi, a film?',
        filter,
      });
      expect(sources.length).toBeGreaterThan(0);
      expect(JSON.stringify(sources)).not.toContain('Panchhi');
    });

    it('searches by vectors alone where the seeds are to be found so', async () => {
      await using store = await openFilms();
      const modes: unknown[] = [];
      const { store: recording, before } = watched(store);
      before.query = async ({ mode }) => void modes.push(mode);
      const query = { queryText: 'Who made Aas Panchhi?' };
      await callTool(toolOver(recording, { seeds: 'vector' }), query);
      expect(modes).toEqual(['vector']);
    });
  });

  it('searches by vectors where no passage has a word of the query, unless vectors are ruled out', async () => {
    await using store = new LocalVector();
    await fill(store, facts);
    const ask = (options: Partial<GraphRAGToolOptions> = {}, queryText = 'harbourfront') =>
      callTool(toolOver(store, options), queryText);
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
      (await callTool(toolOver(store, options), 'Ada Quill')).graph.seeds;
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
      await expect(callTool(toolOver(store), 'x')).rejects.toMatchObject({
        code: 'GRAPH_QUERY_FAILED',
        message: `The query of the graph over index '${indexName}' failed: connect ECONNREFUSED`,
        cause,
      });
    });

    it('is a missing store, a missing index, another dimension, and a bad filter', async () => {
      await using store = new LocalVector();
      await fill(store, facts);
      const ask = (options: Partial<GraphRAGToolOptions>, requestContext = new RequestContext()) =>
        callTool(createGraphRAGTool({ indexName, vectorStore: store, model, ...options }), 'x', { requestContext });
      await expectError(
        callTool(createGraphRAGTool({ indexName, model, vectorStoreName: 'pinecone' }), 'x'),
        'VECTOR_STORE_MISSING',
      );
      await expectError(ask({ indexName: 'none' }), 'VECTOR_INDEX_NOT_FOUND');
      await expectError(
        ask({ graphOptions: { dimension: 1536 } }),
        'VECTOR_DIMENSION_MISMATCH',
        "graphOptions.dimension is 1536, but the index 'facts' has dimension 256",
      );
      await expectError(ask({}, new RequestContext([['filter', undefined]])), 'FILTER_INVALID');
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
      expectError(() => toolOver(store, { graphOptions }), 'OPTIONS_INVALID');
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
      expect((await callTool(toolOver(plain), 'Ada')).graph.seeds).toBe('vector');
      await expect(callTool(toolOver(plain, { seeds: 'hybrid' }), 'Ada')).rejects.toMatchObject({
        cause: { code: 'VECTOR_QUERY_UNSUPPORTED' },
      });
    });
  });

  describe('tenants and filters', () => {
    const question = { queryText: 'Where works Ada Quill?' };
    const inTenant = (tenant: string) => inContext({ filter: { tenant } });

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
        [...tenants, ...tenants.toReversed()].map((tenant) => callTool(tool, question, inTenant(tenant))),
      );
      for (const [n, tenant] of tenants.entries()) {
        await using own = new LocalVector();
        await fill(own, textsOf(tenant), { tenant });
        const expected = await callTool(toolOver(own, { seeds: 'vector' }), question, inTenant(tenant));
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
        const trusted = await callTool(tool, question, inContext({ filter }));
        expect([idsOf(trusted.sources), trusted.graph.nodes]).toEqual([[tenant], 1]);
        expect(await idsFoundBy(tool, { ...question, filter })).toEqual([tenant]);
      }
    });

    it('leaves out a passage that became that of another tenant while the question was answered', async () => {
      await using store = new LocalVector();
      await fill(store, facts, { tenant: 'a' });
      const { store: moving, before } = watched(store);
      before.get = () => store.updateVector({ indexName, id: 'institute', update: { metadata: { tenant: 'b' } } });
      const tool = toolOver(moving, { seeds: 'keyword' });
      expect(await idsFoundBy(tool, question, inTenant('a'))).toEqual(['ada', 'otto']);
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
      const ask = (tenantId: string) => idsFoundBy(tool, 'secret', inContext({ tenantId }));
      expect(await ask('a')).toEqual(['a1']);
      expect(await ask('b')).toEqual(['b1']);
      expect(await ask('a')).toEqual(['a1']);
    });

    it('lets what the model filters out be neither a result nor a step', async () => {
      await using store = new LocalVector();
      await fill(store, facts, { open: true });
      await store.updateVector({ indexName, id: 'institute', update: { metadata: { open: false } } });
      const tool = toolOver(store, { seeds: 'keyword', enableFilter: true });
      expect(await idsFoundBy(tool, 'Quill')).toEqual(['ada', 'institute', 'otto']);
      expect(await idsFoundBy(tool, { queryText: 'Quill', filter: { open: true } })).toEqual(['ada']);
      expect(await idsFoundBy(tool, { queryText: 'Quill', filter: '{"open": false}' })).toEqual([]);
      await expectError(callTool(tool, { queryText: 'Quill', filter: { open: { $like: 1 } } }), 'FILTER_INVALID');
    });
  });
});
