import type { IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { createCohere as createCohere3 } from '@ai-sdk/cohere-v3';
import { createCohere as createCohere4 } from '@ai-sdk/cohere-v4';
import { createOpenAI as createOpenAI2 } from '@ai-sdk/openai-v2';
import { createOpenAI as createOpenAI3 } from '@ai-sdk/openai-v3';
import { createOpenAI as createOpenAI4 } from '@ai-sdk/openai-v4';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { expectError } from '../../../../scripts/test-error.ts';
import type { VectorMatch } from '../store/vector-store.js';
import { rerank } from './rerank.js';
import { serve } from '../http-server.fixture.js';
import type { RelevanceModel } from './score-texts.js';

const match = (id: string, score: number): VectorMatch => ({ id, score, document: id, metadata: {} });
const results = [match('a', 0.9), match('b', 0.8), match('c', 0.7), match('d', 0.6)];
const twenty = [...results, ...Array.from({ length: 16 }, (_, n) => match(`m${n}`, 0.5))];
const relevance: Record<string, number> = { a: 0.1, b: 0.2, c: 1, d: 0.9 };
const order = (ranked: readonly { result: VectorMatch }[]): string[] => ranked.map(({ result }) => result.id);

interface Prompt {
  query: string;
  passages: { passage: number; text: string }[];
}

let questions: Prompt[];
let answer: (question: Prompt) => string;
let failures: number;

async function respond(request: IncomingMessage): Promise<unknown> {
  const body = (await json(request)) as Record<string, unknown>;
  if (request.url?.endsWith('/rerank')) {
    const { query, documents } = body as { query: string; documents: string[] };
    questions.push({ query, passages: documents.map((text, index) => ({ passage: index + 1, text })) });
    const scored = documents.map((text, index) => ({ index, relevance_score: relevance[text] ?? 0 }));
    return { id: 'x', meta: {}, results: scored.toSorted((a, b) => b.relevance_score - a.relevance_score) };
  }
  const messages = (body['messages'] ?? body['input']) as { content: string | { text: string }[] }[];
  const content = messages.at(-1)?.content ?? '';
  const question = JSON.parse(typeof content === 'string' ? content : (content[0]?.text ?? '')) as Prompt;
  questions.push(question);
  const text = answer(question);
  if (request.url?.endsWith('/responses')) {
    const parts = [{ type: 'output_text', text, annotations: [] }];
    const output = [{ type: 'message', role: 'assistant', id: 'm', content: parts }];
    return { id: 'x', created_at: 1, model: 'm', output, usage: { input_tokens: 1, output_tokens: 1 } };
  }
  const message = { role: 'assistant', content: text };
  const choices = [{ index: 0, message, finish_reason: 'stop' }];
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  return { id: 'x', object: 'chat.completion', created: 1, model: 'm', choices, usage };
}

/** A server that speaks the protocols of OpenAI (chat and responses) and of Cohere's reranking models. */
const baseURL = await serve((request, response) => {
  response.setHeader('content-type', 'application/json');
  if (failures-- > 0) {
    response.writeHead(429, { 'retry-after-ms': '1' });
    response.end(JSON.stringify({ error: { message: 'slow down' }, message: 'slow down' }));
  } else void respond(request).then((body) => response.end(JSON.stringify(body)));
});
beforeEach(() => {
  questions = [];
  failures = 0;
  answer = ({ passages }) =>
    JSON.stringify({ scores: passages.map(({ passage, text }) => ({ passage, score: relevance[text] ?? 0 })) });
});
afterEach(() => void vi.unstubAllEnvs());

const models: [string, () => RelevanceModel][] = [
  ['a language model of AI SDK 5', () => createOpenAI2({ apiKey: 'k', baseURL }).chat('gpt-4o')],
  ['a language model of AI SDK 6', () => createOpenAI3({ apiKey: 'k', baseURL }).chat('gpt-4o')],
  ['a language model of AI SDK 7', () => createOpenAI4({ apiKey: 'k', baseURL }).chat('gpt-4o')],
  ['a reranking model of AI SDK 6', () => createCohere3({ apiKey: 'k', baseURL }).reranking('rerank-v3.5')],
  ['a reranking model of AI SDK 7', () => createCohere4({ apiKey: 'k', baseURL }).reranking('rerank-v3.5')],
  ['a model string', () => 'openai/gpt-5.1'],
];

describe.each(models)('%s', (_name, create) => {
  beforeEach(() => {
    vi.stubEnv('OPENAI_BASE_URL', baseURL);
    vi.stubEnv('OPENAI_API_KEY', 'k');
  });

  it('is called once for twenty results', async () => {
    const ranked = await rerank(twenty, 'which?', create());
    expect(order(ranked)).toEqual(['c', 'd', 'a']);
    expect(ranked[0]?.score).toBeCloseTo(0.4 * 1 + 0.4 * 0.7 + 0.2 * 0.9);
    expect(questions).toMatchObject([{ query: 'which?', passages: { length: 20 } }]);
  });

  it('is called again when it is busy', async () => {
    failures = 1;
    expect(order(await rerank(results, 'which?', create()))).toEqual(['c', 'd', 'a']);
    expect(questions).toHaveLength(1);
  });

  it('fails the call with its error when it stays busy', async () => {
    failures = 3;
    await expectError(rerank(results, 'which?', create()), 'RERANK_FAILED', 'slow down');
  });
});

describe('a language model as judge', () => {
  const judge = (): RelevanceModel => createOpenAI4({ apiKey: 'k', baseURL }).chat('gpt-4o');

  it('is called once per twenty results; a failed call affects only its own results', async () => {
    const fifty = Array.from({ length: 50 }, (_, n) => match(`m${n}`, 0.5));
    const scores = answer;
    answer = (question) => (question.passages[0]?.text === 'm20' ? 'Sorry.' : scores(question));
    const ranked = await rerank(fifty, 'which?', judge(), { topK: 50 });
    expect(questions.map(({ passages }) => passages.length)).toEqual([20, 20, 10]);
    const failed = ranked.filter(({ details }) => details.error !== undefined);
    expect(order(failed).toSorted()).toEqual(Array.from({ length: 20 }, (_, n) => `m${n + 20}`));
  });

  it('may wrap its answer in prose, and may leave passages out', async () => {
    answer = () => 'Here:\n```json\n{"scores":[{"passage":3,"score":1},{"passage":99,"score":1}]}\n```';
    const ranked = await rerank(results, 'q', judge(), { topK: 4 });
    expect(order(ranked.filter(({ details }) => details.error === undefined))).toEqual(['c']);
  });

  it('may add members, and a malformed score affects only its own result', async () => {
    const scores = ['"0.9"', '{"toString":1,"valueOf":1}', '1', '0.5'].map(
      (score, n) => `{"passage":${n + 1},"score":${score},"reason":"[x]"}`,
    );
    answer = ({ query }) => `Scores [0 to 1]: {"query":"${query}","scores":[null,${scores.join()}]} [end]`;
    const ranked = await rerank(results, 'q', judge(), { topK: 4 });
    const semantic = ranked.map(({ result, details }) => [result.id, details.error?.slice(0, 41) ?? details.semantic]);
    expect(Object.fromEntries(semantic)).toEqual({
      a: 'The model gave a text the score "0.9". An',
      b: 'The model gave a text the score {"toStrin',
      c: 1,
      d: 0.5,
    });
  });

  it.each([
    ['nobody/model', 'MODEL_PROVIDER_UNKNOWN'],
    ['model', 'MODEL_STRING_INVALID'],
    [{ getRelevanceScore: 'high' }, 'OPTIONS_INVALID'],
  ])('fails before any call for the wrong model %j', async (model, code) => {
    await expect(rerank(results, 'q', model as RelevanceModel)).rejects.toMatchObject({ code });
  });

  it('fails the call when its response contains no scores', async () => {
    answer = () => 'I would rather not.';
    await expectError(rerank(results, 'q', judge()), 'RERANK_FAILED', 'rather not');
  });
});
