import type { MockLanguageModelV4 } from 'ai/test';
import { expect, test } from 'vitest';
import { createLexicalEmbedder, type Embedder } from '../embedding/index.js';
import { modelThatSays } from '../llm.fixture.js';
import { LocalVector } from '../stores/local/index.js';
import { retrieve, type RetrieveOptions } from './retrieve.js';

const embedder = createLexicalEmbedder({ dimension: 256 });
const documents = {
  approve: 'The lead of the red team approves travel requests.',
  claim: 'Expenses are claimed with the form T-12.',
  blue: 'The blue team sails on Fridays.',
  journey: 'A journey abroad must be authorized by the head of the unit.',
};

/** Answers by the step, whose instructions the prompt contains. Counts the calls. */
function modelThat(answers: Readonly<Record<string, object | ((prompt: string) => object)>>): MockLanguageModelV4 {
  return modelThatSays((text) => {
    const found = Object.entries(answers).find(([instruction]) => text.includes(instruction));
    if (!found) throw new Error('This model was asked for something unexpected.');
    const answer = typeof found[1] === 'function' ? found[1](text) : found[1];
    return JSON.stringify(answer);
  });
}

type Changes = Partial<Omit<RetrieveOptions, 'vectorStore' | 'store' | 'model' | 'embedder'>> & { model?: Embedder };

async function optionsWith(options: Changes): Promise<RetrieveOptions> {
  const store = new LocalVector();
  await store.createIndex({ indexName: 'handbook', dimension: 256 });
  const ids = Object.keys(documents);
  const texts = Object.values(documents);
  const metadata = ids.map((id, place) => ({ team: id === 'blue' ? 'blue' : 'red', year: 2020 + place }));
  await store.upsert({ indexName: 'handbook', ids, documents: texts, metadata, vectors: await embedder.embed(texts) });
  const common = { question: 'Who approves travel?', indexName: 'handbook', topK: 2 };
  return { ...common, vectorStore: store, model: embedder, ...options };
}

const ids = (matches: readonly { id: string }[]): string[] => matches.map(({ id }) => id);

test('is one search without steps', async () => {
  const { matches, question, trace } = await retrieve(await optionsWith({}));
  expect(ids(matches)[0]).toBe('approve');
  expect(question).toBe('Who approves travel?');
  expect(trace).toEqual([
    {
      step: 'question',
      calls: 0,
      queries: [{ text: 'Who approves travel?', found: 2, inResult: 2 }],
      contributed: ids(matches),
    },
  ]);
});

test('rates the matches, and reports that nothing was found above the least confidence', async () => {
  const { matches } = await retrieve(await optionsWith({ mode: 'keyword', minConfidence: 0.5 }));
  expect(matches).toMatchObject([{ id: 'approve', confidence: expect.any(Number) }]);
  const nonsense = { question: 'Who bakes pancakes on Fridays?', minConfidence: 0.5 };
  const nothing = await retrieve(await optionsWith(nonsense));
  expect(nothing).toMatchObject({ matches: [], nothingFound: true });
  expect(nothing).not.toHaveProperty('nearestTopics');
  expect(nothing.trace[0]?.queries).toMatchObject([{ found: 2, inResult: 0 }]);
});

test('counts the copies of a text as one, regardless of which one each query finds first', async () => {
  const store = new LocalVector();
  const texts = ['Storage costs 40 francs.', 'Storage costs 40 francs.', 'Storage of the team.'];
  const metadata = [{ source: 'offer.eml' }, { source: 'prices.pptx' }, { source: 'team.md' }];
  await store.createIndex({ indexName: 'decks', dimension: 256 });
  const ids = ['offer', 'prices', 'team'];
  await store.upsert({ indexName: 'decks', ids, documents: texts, metadata, vectors: await embedder.embed(texts) });
  const llm = modelThat({ 'in other words': { queries: ['storage prices pptx'] } });
  const question = 'storage offer eml';
  const search = { vectorStore: store, indexName: 'decks', mode: 'keyword', model: embedder, topK: 3 } as const;
  const { matches, trace } = await retrieve({ ...search, question, llm, steps: { variants: true } });
  expect(matches).toMatchObject([
    { id: 'offer', score: 1, metadata: { alsoIn: [{ id: 'prices', source: 'prices.pptx' }] } },
    { id: 'team' },
  ]);
  expect(trace.map(({ contributed, queries }) => [contributed, queries[0]?.inResult])).toEqual([
    [[], 2],
    [[], 2],
  ]);
});

test('merges variants, parts and a hypothetical passage, and traces what each brought', async () => {
  const llm = modelThat({
    'in other words': { queries: ['who approves TRAVEL? ', 'journey authorized by the head of the unit'] },
    simpler: { queries: [] },
    'Write a passage': { queries: ['A journey abroad is authorized by the head.'] },
  });
  const options = await optionsWith({ llm, mode: 'keyword', steps: { variants: true, decompose: true, hyde: true } });
  const { matches, trace } = await retrieve(options);
  expect(ids(matches).toSorted()).toEqual(['approve', 'journey']);
  expect(trace.map(({ step, calls, queries, contributed }) => [step, calls, queries.length, contributed])).toEqual([
    ['question', 0, 1, ['approve']],
    ['variants', 1, 1, []],
    ['decompose', 1, 0, []],
    ['hyde', 1, 1, []],
  ]);
  expect(trace[1]?.queries[0]).toMatchObject({ inResult: 1 });
});

test('embeds a hypothetical passage as a document, and the other queries as queries', async () => {
  const llm = modelThat({
    'Write a passage': { queries: ['The lead approves it.'] },
    simpler: { queries: ['Who leads?'] },
  });
  const calls: unknown[] = [];
  const watched = {
    ...embedder,
    embed: (texts: readonly string[], options = {}) => {
      calls.push([texts, (options as { purpose?: string }).purpose]);
      return embedder.embed(texts);
    },
  };
  await retrieve(await optionsWith({ llm, model: watched, steps: { hyde: true, decompose: true } }));
  expect(calls).toEqual([
    [['Who approves travel?', 'Who leads?'], 'query'],
    [['The lead approves it.'], 'document'],
  ]);
});

test('rewrites the question with the conversation and uses the new one in all steps', async () => {
  const llm = modelThat({
    'Rewrite the last question': (prompt) => ({
      queries: [prompt.includes('sails') ? 'When does the blue team sail?' : ''],
    }),
    'in other words': (prompt) => ({ queries: prompt.includes('When does the blue') ? ['blue team Fridays'] : [] }),
  });
  const history = [{ role: 'user' as const, content: 'Which team sails?' }];
  const options = await optionsWith({ question: 'And when?', llm, history, steps: { rewrite: true, variants: true } });
  const { question, matches, trace } = await retrieve(options);
  expect(question).toBe('When does the blue team sail?');
  expect(matches[0]?.id).toBe('blue');
  expect(trace.map(({ step, queries }) => [step, queries.map(({ text }) => text)])).toEqual([
    ['question', ['When does the blue team sail?']],
    ['rewrite', []],
    ['variants', ['blue team Fridays']],
  ]);
});

test('narrows the search by a written filter, and never widens the given one', async () => {
  const fields = { team: { description: 'Name of the team', values: ['red', 'blue'] } };
  const llm = modelThat({ 'Write a filter': { filter: { $or: [{ team: 'blue' }, { team: 'red' }] } } });
  const options = await optionsWith({ llm, filter: { year: { $gte: 2022 } }, steps: { filter: { fields } } });
  const { matches, trace } = await retrieve(options);
  expect(ids(matches).toSorted()).toEqual(['blue', 'journey']);
  expect(trace[1]).toMatchObject({ step: 'filter', calls: 1, filter: { $or: [{ team: 'blue' }, { team: 'red' }] } });
});

test('lets the model correct a filter over undeclared fields once', async () => {
  const fields = { team: 'Name of the team', year: { description: 'Year', type: 'number' as const } };
  const answers = [{ filter: { owner: 'x' } }, { filter: { year: { $gt: 2021 } } }];
  const prompts: string[] = [];
  const llm = modelThat({ 'Write a filter': (prompt) => (prompts.push(prompt), answers[prompts.length - 1]!) });
  const { trace } = await retrieve(await optionsWith({ llm, steps: { filter: { fields } } }));
  expect(prompts[1]).toContain("The field 'owner' is not declared; declared: team, year");
  expect(trace[1]).toMatchObject({ calls: 2, filter: { year: { $gt: 2021 } } });

  const stubborn = modelThat({ 'Write a filter': { filter: { $not: { year: 'old' } } } });
  await expect(retrieve(await optionsWith({ llm: stubborn, steps: { filter: { fields } } }))).rejects.toMatchObject({
    code: 'RETRIEVE_STEP_FAILED',
    message: expect.stringContaining(`The value "old" of 'year' is not a number`),
  });
});

test('a failed step is an error, or is reported and left out', async () => {
  const steps = { variants: true, hyde: true };
  const llm = modelThat({ 'in other words': { wrong: 1 }, 'Write a passage': { queries: ['The lead approves it.'] } });
  await expect(retrieve(await optionsWith({ llm, steps }))).rejects.toMatchObject({
    code: 'RETRIEVE_STEP_FAILED',
    details: { step: 'variants' },
  });
  const failures: string[] = [];
  const onStepFailure: RetrieveOptions['onStepFailure'] = ({ step }) => failures.push(step);
  const { matches, trace } = await retrieve(await optionsWith({ llm, steps, onStepFailure }));
  expect(failures).toEqual(['variants']);
  expect(matches[0]?.id).toBe('approve');
  expect(trace.find(({ step }) => step === 'variants')).toMatchObject({
    queries: [],
    error: { code: 'EXTRACT_ANSWER_INVALID' },
  });
});

test('asks the model once per question with a cache', async () => {
  const cache = new Map<string, unknown>();
  const llm = modelThat({ 'in other words': { queries: ['journey'] } });
  const options = await optionsWith({ llm, cache, steps: { variants: true } });
  const first = await retrieve(options);
  const second = await retrieve(options);
  expect(second.matches).toEqual(first.matches);
  expect([first, second].map(({ trace }) => trace[1]?.calls)).toEqual([1, 0]);
  await retrieve({ ...options, cacheScope: 'another model' });
  expect(llm.doGenerateCalls).toHaveLength(2);
  cache.set([...cache.keys()][0]!, 'damaged');
  await retrieve(options);
  expect(llm.doGenerateCalls).toHaveLength(3);
});

test('caches no filter that was rejected', async () => {
  const cache = new Map<string, unknown>();
  const answers = [{ owner: 'x' }, { owner: 'x' }, { owner: 'x' }, { team: 'red' }];
  const llm = modelThat({ 'Write a filter': () => ({ filter: answers.shift() }) });
  const options = await optionsWith({ llm, cache, steps: { filter: { fields: { team: 'Name of the team' } } } });
  await expect(retrieve(options)).rejects.toMatchObject({ code: 'RETRIEVE_STEP_FAILED' });
  expect([...cache]).toEqual([]);
  const [second, third] = [await retrieve(options), await retrieve(options)];
  expect([second, third].map(({ trace }) => [trace[1]?.calls, trace[1]?.filter])).toEqual([
    [2, { team: 'red' }],
    [0, { team: 'red' }],
  ]);
});

test('keeps the question when the model answers with blank texts', async () => {
  const llm = modelThat({ 'Rewrite the last question': { queries: [' '] }, 'in other words': { queries: ['', ' '] } });
  const history = [{ role: 'user' as const, content: 'Which team sails?' }];
  const options = await optionsWith({ llm, history, mode: 'hybrid', steps: { rewrite: true, variants: true } });
  const { question, trace } = await retrieve(options);
  expect(question).toBe('Who approves travel?');
  expect(trace.flatMap(({ queries }) => queries.map(({ text }) => text))).toEqual([question]);
});

test.each(['January 5, 2024', '5', '2024-13-01'])('rejects the date %s, which is not in ISO 8601', async (date) => {
  const llm = modelThat({ 'Write a filter': { filter: { date: { $gte: date } } } });
  const fields = { date: { description: 'Date of the decision', type: 'date' as const } };
  await expect(retrieve(await optionsWith({ llm, steps: { filter: { fields } } }))).rejects.toThrow(
    "of 'date' is not a date in ISO 8601",
  );
});

test('gives a reranker four times topK of the merged results', async () => {
  const received: number[] = [];
  const scorer = async (_query: string, texts: readonly string[]): Promise<number[]> => {
    received.push(texts.length);
    return texts.map(() => 1);
  };
  const llm = modelThat({ 'in other words': { queries: ['Who may sail?', 'forms of expenses'] } });
  const reranker = { model: scorer, options: { topK: 3 } };
  const texts = Array.from({ length: 20 }, (_, place) => `The team ${'sails '.repeat(place)}to travel.`);
  for (const step of [{}, { llm, steps: { variants: true } }]) {
    const options = await optionsWith({ reranker, topK: 2, ...step });
    const store = options.vectorStore;
    await store.upsert({ indexName: 'handbook', documents: texts, vectors: await embedder.embed(texts) });
    expect((await retrieve(options)).matches).toHaveLength(2);
  }
  expect(received).toEqual([8, 8]);
});

test('stops also when the model does not react to the signal', async () => {
  const controller = new AbortController();
  const llm = modelThat({});
  llm.doGenerate = () => {
    controller.abort(new Error('enough'));
    return new Promise(() => undefined);
  };
  const options = await optionsWith({ llm, steps: { variants: true }, signal: controller.signal });
  await expect(retrieve(options)).rejects.toThrow('enough');
});

test.each<[string, Changes & Record<string, unknown>]>([
  [
    "retrieve has no option 'steps.varaints'. Did you mean 'steps.variants'? The options of 'steps' are: rewrite,",
    { steps: { varaints: true } as never },
  ],
  ["'steps.variants.count' must be an integer from 1 to 10, not 0.", { steps: { variants: { count: 0 } } }],
  ["'steps.hyde.weight' must be a finite number above 0, not NaN.", { steps: { hyde: { weight: Number.NaN } } }],
  ["The step 'rewrite' needs history", { steps: { rewrite: true } }],
  ["The step 'filter' needs fields", { steps: { filter: {} as never } }],
  ["The step 'hyde' has no language model", { steps: { hyde: true } }],
  ["'steps.hyde' must be true or an object of options, not 'yes'.", { steps: { hyde: 'yes' as never } }],
  [
    "no option 'steps.hyde.model'. The options of 'steps.hyde' are: llm, weight.",
    { steps: { hyde: { model: 'x' } as never } },
  ],
  [
    "no option 'steps.filter.fields.team.desc'. Did you mean 'steps.filter.fields.team.description'?",
    { steps: { filter: { fields: { team: { desc: 'Team' } as never } } } },
  ],
  ["retrieve: 'mode' must be one of 'vector', 'keyword', 'hybrid', not 'text'.", { mode: 'text' as never }],
  ["'history[0]' must be a turn", { history: [{ role: 'user', content: [{ type: 'text' }] }] as never }],
  ['The question is empty', { question: ' ' }],
  ['at most 8000 are searched for', { question: 'x'.repeat(8001) }],
  ['topK', { topK: 0 }],
  ['Unsupported operator', { filter: { $where: 1 } }],
])('rejects wrong options before the first request: %s', async (message, options) => {
  const llm = message.includes('no language model') ? {} : { llm: modelThat({}) };
  await expect(retrieve(await optionsWith({ ...llm, ...options }))).rejects.toThrow(message);
});

test('names a missing store and a missing model', async () => {
  const { vectorStore, model, ...options } = await optionsWith({});
  await expect(retrieve({ ...options, vectorStore })).rejects.toMatchObject({
    code: 'OPTIONS_INVALID',
    message: expect.stringContaining("retrieve needs 'model'"),
  });
  await expect(retrieve({ ...options, model } as unknown as RetrieveOptions)).rejects.toMatchObject({
    code: 'OPTIONS_INVALID',
    message: expect.stringContaining("retrieve needs 'vectorStore'"),
  });
});

test('searches the records of a scope, and none when the scope is missing', async () => {
  const { matches } = await retrieve(await optionsWith({ scope: { team: 'blue' }, topK: 10 }));
  expect(ids(matches)).toEqual(['blue']);
  const none = await optionsWith({ scope: { team: 'blue' }, filter: { year: { $lt: 2022 } } });
  expect((await retrieve(none)).matches).toEqual([]);
  const unknown = { ...none, scope: undefined } as unknown as RetrieveOptions;
  await expect(retrieve(unknown)).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
});
