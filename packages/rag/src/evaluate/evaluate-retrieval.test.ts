import { assert, asyncProperty, constantFrom, integer } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MDocument } from '../document/document.js';
import { createLexicalEmbedder } from '../embedding/index.js';
import { ingest } from '../ingest/ingest.js';
import { LocalVector } from '../stores/local/index.js';
import { createGraphRAGTool } from '../tools/graph-rag-tool.js';
import type { RetrievalCase } from './cases.js';
import type { RetrievalConfiguration } from './configuration.js';
import { evaluateRetrieval, type EvaluateRetrievalOptions } from './evaluate-retrieval.js';
import type { Evaluation } from './evaluation.js';

const embedder = createLexicalEmbedder();
const tea = `# Tea

Green tea wants water of 80 degrees. It is ready after two minutes, and bitter after four.

Black tea takes boiling water. Milk is poured in last.

# Coffee

Coffee wants water of 94 degrees. A coarse grind suits a press, a fine grind suits espresso.`;
const ships = `# Ships

A brig has two masts. A schooner has two or more, with fore-and-aft sails on all of them.`;
const teaCase = { question: 'How hot is the water for green tea?', relevant: [{ quote: 'water of 80 degrees' }] };
const shipCase = {
  question: 'How many masts has a brig?',
  relevant: [{ quote: 'A brig has two masts.', source: 'ships.md' }],
};

async function fill(maxSize = 80): Promise<LocalVector> {
  const store = new LocalVector();
  const documents = [
    MDocument.fromMarkdown(tea, { source: 'drinks.md' }),
    MDocument.fromMarkdown(ships, { source: 'ships.md' }),
  ];
  await ingest({ documents, vectorStore: store, indexName: 'docs', model: embedder, chunkOptions: { maxSize } });
  return store;
}

const keyword = { name: 'keyword', mode: 'keyword' } as const;

async function evaluate(
  cases: readonly RetrievalCase[],
  configurations: readonly RetrievalConfiguration[] = [keyword],
  options: Partial<EvaluateRetrievalOptions> = {},
): Promise<Evaluation> {
  return evaluateRetrieval({ vectorStore: await fill(), indexName: 'docs', cases, configurations, ...options });
}

const invalid = (message: RegExp): unknown =>
  expect.objectContaining({ code: 'OPTIONS_INVALID', message: expect.stringMatching(message) });

describe('evaluateRetrieval', () => {
  it('measures search, tools and functions with intervals, latency and details of each question', async () => {
    const store = await fill();
    const tool = createGraphRAGTool({ vectorStore: store, indexName: 'docs', model: embedder });
    const evaluation = await evaluateRetrieval({
      vectorStore: store,
      indexName: 'docs',
      cases: [teaCase, shipCase],
      configurations: [
        keyword,
        { name: 'hybrid', mode: 'hybrid', model: embedder, topK: 3 },
        { name: 'graph', retrieve: tool },
        { name: 'nothing', retrieve: async () => [] },
      ],
      metrics: ['recallAt5', 'mrrAt10'],
    });
    expect(JSON.parse(JSON.stringify(evaluation))).toEqual(evaluation);
    expect(evaluation.cases).toBe(2);
    const [first, hybrid, graph, nothing] = evaluation.configurations;
    for (const found of [first, hybrid, graph])
      expect(found?.metrics).toMatchObject({ recallAt5: { mean: 1, low: 1, high: 1 }, mrrAt10: { mean: 1 } });
    expect(hybrid?.topK).toBe(3);
    expect(hybrid?.questions[0]?.results).toHaveLength(3);
    expect(hybrid?.cost).toEqual({ calls: 0 });
    expect(graph?.cost).toBeUndefined();
    expect(first?.questions[1]).toMatchObject({
      question: shipCase.question,
      values: { recallAt5: 1, mrrAt10: 1 },
      missed: [],
      results: expect.arrayContaining([expect.objectContaining({ source: 'ships.md', isRelevant: true })]),
    });
    expect(first?.latency.p95).toBeGreaterThanOrEqual(first?.latency.p50 ?? Infinity);
    expect(nothing?.questions[0]?.missed).toEqual(['the quote “water of 80 degrees”']);
    expect(nothing).toMatchObject({ metrics: { recallAt5: { mean: 0 } }, contextCharacters: 0 });
    expect(evaluation.comparisons.find(({ configuration }) => configuration === 'nothing')).toMatchObject({
      baseline: 'keyword',
      metric: 'recallAt5',
      difference: { mean: -1 },
      wins: 0,
      losses: 2,
      isSignificant: false,
    });
  });

  it('reports how well the confidence separates questions without an answer, by the score where there is none', async () => {
    const unanswerable = ['Who wrote the opera Tosca?', 'How do I replace brake pads?'];
    const progress: number[] = [];
    const { configurations } = await evaluate(
      [teaCase, shipCase],
      [keyword, { name: 'scores', retrieve: async () => [{ score: 1, text: 'anything', metadata: { source: 'a' } }] }],
      { unanswerable, onProgress: ({ done, total }) => progress.push(done / total) },
    );
    expect(configurations[0]?.separation).toEqual({
      auc: 1,
      unanswerable: unanswerable.map((question) => ({ question, confidence: expect.any(Number) })),
    });
    expect(configurations[0]?.questions[0]?.confidence).toBeGreaterThan(0.5);
    expect(configurations[1]?.separation?.auc).toBe(0.5);
    expect(progress).toEqual([1 / 8, 2 / 8, 3 / 8, 4 / 8, 5 / 8, 6 / 8, 7 / 8, 1]);
    expect((await evaluate([teaCase])).configurations[0]).not.toHaveProperty('separation');
    await expect(evaluate([teaCase], [keyword], { unanswerable: [' '] })).rejects.toEqual(invalid(/unanswerable/));
  });

  it('names configurations that return the same results', async () => {
    const { configurations } = await evaluate(
      [teaCase, shipCase],
      [keyword, { name: 'hybrid', mode: 'hybrid', model: embedder }, { name: 'nothing', retrieve: async () => [] }],
    );
    expect(configurations.map(({ identicalTo }) => identicalTo)).toEqual([undefined, 'keyword', undefined]);
  });

  it('finds a quote with every chunk size, and a split quote only with all of its chunks', async () => {
    const quote = 'Green tea wants water of 80 degrees. It is ready after two minutes, and bitter after four.';
    const cases = [{ question: 'When is green tea bitter?', relevant: [{ quote, source: 'drinks.md' }] }];
    await assert(
      asyncProperty(integer({ min: 20, max: 400 }), constantFrom(0, 10), async (maxSize, overlap) => {
        const store = new LocalVector();
        const documents = [MDocument.fromMarkdown(tea, { source: 'drinks.md' })];
        const chunkOptions = { maxSize, overlap: Math.min(overlap, Math.floor(maxSize / 4)) };
        await ingest({ documents, vectorStore: store, indexName: 'docs', model: embedder, chunkOptions });
        const { records } = await store.listVectors({ indexName: 'docs' });
        const inOrder = records.toSorted((a, b) => a.metadata['startIndex'] - b.metadata['startIndex']);
        const end = tea.indexOf('after four.') + 'after four'.length;
        const needed = inOrder.filter(({ metadata }) => metadata['startIndex'] < end);
        const measure = async (results: typeof records): Promise<number | undefined> =>
          (
            await evaluateRetrieval({
              vectorStore: store,
              indexName: 'docs',
              cases,
              configurations: [{ name: 'chosen', retrieve: async () => results }],
              metrics: ['recallAt100'],
            })
          ).configurations[0]?.metrics.recallAt100?.mean;
        expect(await measure(needed.toReversed())).toBe(1);
        // Without the chunk of the last word.
        expect(await measure(inOrder.filter(({ metadata }) => metadata['endIndex'] < end))).toBe(0);
      }),
      { numRuns: 10 },
    );
  });

  it('counts a result with a small part of a quote as irrelevant', async () => {
    const quote = 'A coarse grind suits a press, a fine grind suits espresso';
    const texts = [`${tea.slice(60, 120)} A coarse`, 'a fine grind suits', tea];
    const { configurations } = await evaluate(
      [{ question: 'q', relevant: [{ quote }] }],
      [{ name: 'texts', retrieve: async () => texts.map((text) => ({ text })) }],
      { metrics: ['precisionAt1', 'precisionAt3', 'mrrAt3'] },
    );
    expect(configurations[0]?.questions[0]?.results.map(({ isRelevant }) => isRelevant)).toEqual([false, true, true]);
    expect(configurations[0]?.metrics).toMatchObject({ precisionAt1: { mean: 0 }, mrrAt3: { mean: 1 / 3 } });
  });

  it('finds a quote in all of its places, also those that chunks split', async () => {
    const measure = async (texts: readonly string[], quote: string, chosen: readonly string[]): Promise<unknown> => {
      const store = new LocalVector();
      await store.createIndex({ indexName: 'docs', dimension: 1 });
      await store.upsert({ indexName: 'docs', vectors: texts.map(() => [1]), documents: [...texts] });
      const retrieve = async (): Promise<{ text: string }[]> => chosen.map((text) => ({ text }));
      const { configurations } = await evaluate([{ question: 'q', relevant: [{ quote }] }], [{ name: 'a', retrieve }], {
        vectorStore: store,
        metrics: ['recallAt5'],
      });
      return configurations[0]?.metrics.recallAt5?.mean;
    };
    const repeated = ['Tora', 'tora', 'tora, said he'];
    expect(await measure(repeated, 'Tora, tora, tora, said he', repeated)).toBe(1);
    const [first, between, last] = ['x The alpha beta', 'gamma delta. Then the alpha', 'beta gamma delta end'] as const;
    for (const pair of [
      [first, between],
      [between, last],
    ])
      expect(await measure([first, between, last], 'the alpha beta gamma delta', pair)).toBe(1);
    expect(await measure([first, between, last], 'the alpha beta gamma delta', [between])).toBe(0);
    expect(await measure(['को', 'का'], 'को', ['का'])).toBe(0);
  });

  it('counts a record that is returned twice as relevant once', async () => {
    const store = await fill();
    const id = (await store.listVectors({ indexName: 'docs' })).records[0]?.id as string;
    const { configurations } = await evaluate(
      [{ question: 'q', relevant: [{ id }] }],
      [{ name: 'twice', retrieve: async () => [{ id }, { id }] }],
      { vectorStore: store, metrics: ['precisionAt2', 'recallAt2'] },
    );
    expect(configurations[0]?.questions[0]?.values).toEqual({ precisionAt2: 0.5, recallAt2: 1 });
  });

  it('measures the sources of a tool that omits them from its result', async () => {
    const store = await fill();
    const tool = createGraphRAGTool({ vectorStore: store, indexName: 'docs', model: embedder, includeSources: false });
    const { configurations } = await evaluate([teaCase], [{ name: 'graph', retrieve: tool }], { vectorStore: store });
    expect(configurations[0]?.metrics.recallAt5?.mean).toBe(1);
  });

  it('compares quotes by their letters and digits, regardless of case, white space and punctuation', async () => {
    const quote = '“GREEN TEA”   wants water\n\nof 80 degrees';
    const { configurations } = await evaluate([{ question: teaCase.question, relevant: [{ quote }] }]);
    expect(configurations[0]?.metrics.recallAt5?.mean).toBe(1);
  });

  it('finds places by the characters of the document, regardless of white space between chunks', async () => {
    const startIndex = tea.indexOf('Black tea');
    const endIndex = tea.indexOf('# Coffee') + '# Coffee\n\nCoffee wants'.length;
    const place = { source: 'drinks.md', startIndex, endIndex };
    for (const maxSize of [30, 80, 1000]) {
      const { configurations } = await evaluate(
        [{ question: 'black tea milk coffee water degrees boiling last wants takes poured', relevant: [place] }],
        [{ ...keyword, topK: 50 }],
        { vectorStore: await fill(maxSize), metrics: ['recallAt50', 'allAt50', 'hitRateAt50'] },
      );
      expect(configurations[0]?.metrics, String(maxSize)).toMatchObject({ recallAt50: { mean: 1 } });
    }
  });

  it('finds a source once, and records by id', async () => {
    const store = await fill();
    const { records } = await store.listVectors({ indexName: 'docs' });
    const brig = records.find(({ document }) => document?.includes('brig'));
    const others = records.filter(({ metadata }) => metadata['source'] === 'drinks.md');
    const { configurations } = await evaluate(
      [{ question: 'q', relevant: [{ source: 'drinks.md' }, { id: brig?.id ?? '', gain: 3 }] }],
      [{ name: 'all', retrieve: async () => (brig ? [...others, brig] : []) }],
      { vectorStore: store, metrics: ['recallAt1', 'recallAt2', 'recallAt100', 'precisionAt2'] },
    );
    expect(others.length).toBeGreaterThan(1);
    expect(configurations[0]?.questions[0]?.values).toEqual({
      recallAt1: 0.5,
      recallAt2: 0.5,
      recallAt100: 1,
      precisionAt2: 1,
    });
  });

  it('rejects cases that no chunk of the index contains, and names them', async () => {
    const cases: RetrievalCase[] = [
      teaCase,
      { question: 'q1', relevant: [{ quote: 'water of 81 degrees' }] },
      { question: 'q2', relevant: [{ quote: 'A brig has two masts', source: 'drinks.md' }] },
      { question: 'q3', relevant: [{ source: 'missing.md' }] },
      { question: 'q4', relevant: [{ id: 'missing' }] },
      { question: 'q5', relevant: [{ source: 'ships.md', startIndex: 5000, endIndex: 5001 }] },
    ];
    const error: unknown = await evaluate(cases).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: 'CASES_NOT_FOUND', details: { missing: { length: 5 } } });
    for (const text of ['q1', 'q5', '“water of 81 degrees”', "'missing.md'", 'characters 5000 to 5001'])
      expect((error as Error).message).toContain(text);
    const filtered = { ...keyword, filter: { source: 'drinks.md' } };
    await expect(evaluate([shipCase], [filtered])).rejects.toMatchObject({ code: 'CASES_NOT_FOUND' });
    expect((await evaluate([teaCase], [filtered])).configurations[0]?.questions[0]?.results).not.toContainEqual(
      expect.objectContaining({ source: 'ships.md' }),
    );
  });

  it('rejects invalid cases with their number', async () => {
    const bad = (relevant: unknown): Promise<Evaluation> =>
      evaluate([teaCase, { question: 'q', relevant } as RetrievalCase]);
    for (const [relevant, message] of [
      [[], /Case 2 \('q'\) needs relevant/],
      [undefined, /needs relevant/],
      [[null], /is \{ id \}, .*, not \{ {2}\}/],
      [[{ quote: '…' }], /must have 1 to 10000 letters/],
      [[{ quote: 'a'.repeat(20_000) }], /not 20000/],
      [[{ quote: 5 }], /quote must be a text/],
      [[{ quote: 'a', id: 'b' }], /not \{ id, quote \}/],
      [[{ id: 'b', source: 'a' }], /not \{ id, source \}/],
      [[{ source: 'a', startIndex: 5 }], /not \{ source, startIndex \}/],
      [[{ source: 'a', startIndex: 5, endIndex: 5 }], /not 5 and 5/],
      [[{ source: 'a', startIndex: Number.NaN, endIndex: 5 }], /not NaN/],
      [[{ id: 'a', gain: 0 }], /gain must be/],
      [[{ text: 'a' }], /not \{ text \}/],
      [['a'], /not the text 'a'/],
    ] as const)
      await expect(bad(relevant), String(message)).rejects.toEqual(invalid(message));
    for (const cases of [[], undefined, 'cases', [{}], [{ question: ' ', relevant: [{ id: 'a' }] }], [null]])
      await expect(evaluate(cases as RetrievalCase[])).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
  });

  it('rejects invalid configurations and options', async () => {
    for (const [configurations, message] of [
      [[], /needs configurations/],
      [[{ mode: 'keyword' }], /needs a unique name/],
      [[keyword, keyword], /a unique name, not 'keyword'/],
      [[{ name: 'a' }], /needs a model, or the mode/],
      [[{ name: 'a', mode: 'hybrid' }], /needs a model, or the mode/],
      [
        [{ ...keyword, topK: 0 }],
        /^The configuration 'keyword': 'topK' must be an integer from 1 to 1000000, not 0\.$/,
      ],
      [[{ ...keyword, mode: 'text' }], /'mode' must be one of 'vector', 'keyword', 'hybrid', not 'text'/],
      [
        [{ ...keyword, rerank: {} }],
        /^The configuration 'keyword' has no option 'rerank'\. Did you mean 'reranker'\? /,
      ],
      [
        [{ name: 'a', retrieve: async () => [], mode: 'keyword' }],
        /no option 'mode'\. Its options are: name, indexName, /,
      ],
      [[{ name: 'a', retrieve: 'x' }], /function or a tool/],
    ] as const)
      await expect(evaluate([teaCase], configurations as never), String(message)).rejects.toEqual(invalid(message));
    await expect(evaluate([teaCase], [keyword], { indexName: undefined as never })).rejects.toEqual(
      invalid(/needs indexName/),
    );
    await expect(evaluate([teaCase], [keyword], { vectorStore: undefined as never })).rejects.toEqual(
      invalid(/^evaluateRetrieval needs 'vectorStore'/),
    );
    await expect(evaluate([teaCase], [keyword], { metrics: ['recall5' as never] })).rejects.toEqual(
      invalid(/no metric 'recall5'/),
    );
  });

  it('rejects results that lack what the case is bound to', async () => {
    const place = { question: 'q', relevant: [{ source: 'drinks.md', startIndex: 0, endIndex: 5 }] };
    for (const [one, result, message] of [
      [teaCase, { id: 'a' }, /has no text/],
      [shipCase, { text: 'A brig has two masts.' }, /has no metadata, but/],
      [
        shipCase,
        { text: 'A brig has two masts.', metadata: { title: 'Ships' } },
        /No result .* 'mine' has metadata.source/,
      ],
      [place, { metadata: { source: 'drinks.md' } }, /has no metadata.startIndex/],
      [teaCase, null, /is not an object/],
    ] as const) {
      const retrieve = async (): Promise<never> => [result] as never;
      await expect(evaluate([one], [{ name: 'mine', retrieve }])).rejects.toEqual(invalid(message));
    }
    await expect(evaluate([teaCase], [{ name: 'mine', retrieve: async () => ({}) as never }])).rejects.toEqual(
      invalid(/'mine' must return a list/),
    );
  });

  it('accepts records without a text or a source among the others', async () => {
    const store = await fill();
    await store.upsert({ indexName: 'docs', ids: ['bare'], vectors: [Array(embedder.dimension).fill(0.1)] });
    const { records } = await store.listVectors({ indexName: 'docs' });
    const { configurations } = await evaluate(
      [shipCase, teaCase],
      [{ name: 'all', retrieve: async () => [{ id: 'bare', metadata: {} }, ...records] }],
      { vectorStore: store, metrics: ['recallAt100'] },
    );
    expect(configurations[0]?.metrics.recallAt100?.mean).toBe(1);
    expect(configurations[0]?.questions[0]?.results[0]).toEqual({ id: 'bare', text: '', isRelevant: false });
  });

  it('accepts results with an empty text, and with null in place of one', async () => {
    const store = await fill();
    const [vector] = await embedder.embed([teaCase.question]);
    await store.upsert({ indexName: 'docs', ids: ['bare'], vectors: [vector as Float32Array], documents: [''] });
    const empty = [{ text: null, document: null, metadata: {} }, { text: '' }];
    const { configurations } = await evaluate(
      [teaCase],
      [
        { name: 'vector', mode: 'vector', model: embedder },
        { name: 'empty', retrieve: async () => empty as never },
      ],
      { vectorStore: store, metrics: ['recallAt5'] },
    );
    expect(configurations.map(({ metrics }) => metrics.recallAt5?.mean)).toEqual([1, 0]);
    expect(configurations[0]?.questions[0]?.results[0]).toMatchObject({ id: 'bare', text: '' });
  });

  it('names the configuration and the question of a failure', async () => {
    const cause = new Error('out of order');
    const retrieve = (): Promise<never> => Promise.reject(cause);
    await expect(evaluate([teaCase], [keyword, { name: 'mine', retrieve }])).rejects.toMatchObject({
      code: 'EVALUATION_FAILED',
      message: `The configuration 'mine' failed for the question '${teaCase.question}': out of order`,
      cause,
    });
  });

  it('reports progress, and ends with the abort reason', async () => {
    const seen: unknown[] = [];
    await evaluate([teaCase, shipCase], [keyword, { ...keyword, name: 'again' }], {
      onProgress: (one) => seen.push(one),
    });
    expect(seen).toEqual([
      { done: 1, total: 4, configuration: 'keyword' },
      { done: 2, total: 4, configuration: 'keyword' },
      { done: 3, total: 4, configuration: 'again' },
      { done: 4, total: 4, configuration: 'again' },
    ]);
    const stop = new AbortController();
    const reason = new Error('enough');
    const retrieve = async (): Promise<never> => {
      stop.abort(reason);
      return new Promise(() => undefined);
    };
    await expect(evaluate([teaCase], [{ name: 'hanging', retrieve }], { signal: stop.signal })).rejects.toBe(reason);
    await expect(evaluate([teaCase], [keyword], { signal: stop.signal })).rejects.toBe(reason);
  });

  it('measures expanded passages by their texts', async () => {
    const quote = 'Green tea wants water of 80 degrees. It is ready after two minutes';
    const cases = [{ question: 'How long does green tea take, and how hot is the water?', relevant: [{ quote }] }];
    const search = { mode: 'keyword', topK: 1 } as const;
    const { configurations } = await evaluate(
      cases,
      [
        { name: 'chunks', ...search },
        { name: 'sections', ...search, expand: 'section' },
      ],
      { vectorStore: await fill(40), metrics: ['recallAt1'] },
    );
    expect(configurations.map(({ metrics }) => metrics.recallAt1?.mean)).toEqual([0, 1]);
  });

  it('counts calls and tokens of models', async () => {
    const vectors = createLexicalEmbedder({ dimension: 256 });
    const model = {
      specificationVersion: 'v3',
      provider: 'test.embedding',
      modelId: 'words',
      maxEmbeddingsPerCall: 10,
      supportsParallelCalls: true,
      doEmbed: async ({ values }: { values: string[] }) => ({
        embeddings: (await vectors.embed(values)).map((vector) => [...vector]),
        usage: { tokens: 7 },
      }),
    };
    const scorer = {
      specificationVersion: 'v3',
      provider: 'test',
      modelId: 'judge',
      doStream: () => Promise.reject(new Error('not used')),
      doGenerate: async () => ({
        content: [{ type: 'text', text: '{"scores":[{"passage":1,"score":1},{"passage":2,"score":0.5}]}' }],
        usage: { inputTokens: { total: 20 }, outputTokens: { total: 3 } },
      }),
    };
    const store = new LocalVector();
    const documents = [MDocument.fromMarkdown(tea, { source: 'drinks.md' })];
    await ingest({ documents, vectorStore: store, indexName: 'docs', model });
    const { configurations } = await evaluateRetrieval({
      vectorStore: store,
      indexName: 'docs',
      cases: [teaCase],
      configurations: [{ name: 'reranked', model, topK: 2, reranker: { model: scorer } }],
    });
    expect(configurations[0]?.cost).toEqual({ calls: 2, tokens: 30 });
    const scores = async (_query: string, texts: readonly string[]): Promise<number[]> => texts.map(() => 1);
    const { configurations: again } = await evaluateRetrieval({
      vectorStore: store,
      indexName: 'docs',
      cases: [teaCase, teaCase],
      configurations: [{ name: 'function', mode: 'keyword', model, reranker: { model: scores } }],
    });
    expect(again[0]?.cost).toEqual({ calls: 2 });
  });
});
