import { createOpenAI as createOpenAIv2 } from '@ai-sdk/openai-v2';
import { createOpenAI as createOpenAIv3 } from '@ai-sdk/openai-v3';
import { createOpenAI as createOpenAIv4 } from '@ai-sdk/openai-v4';
import type { LanguageModel } from '@quiver/core/llm';
import { describe, expect, it } from 'vitest';
import { buildChunkGraph } from './build-chunk-graph.js';
import { extractTriples, type TripleFailure } from './extract-triples.js';
import type { Triple } from './passage.js';

const passages = [
  { id: 'film', document: 'The film was directed by Tim Burton.' },
  { id: 'actor', document: 'Johnny Depp worked with Tim Burton.' },
  { id: 'empty', document: ' ' },
];
const readBurton = (prompt: string): string =>
  JSON.stringify({
    triples: [{ subject: prompt.includes('film') ? 'film' : 'Depp', predicate: 'by', object: 'Tim Burton' }],
  });

/** The models of the AI SDK; only what the network would answer is ours. */
function modelThat(
  answer: (prompt: string) => string | Promise<string>,
  create: typeof createOpenAIv3 = createOpenAIv3,
): LanguageModel {
  const fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    const prompt = String(init?.body);
    const content = await answer(prompt);
    return Response.json({
      id: '1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    });
  };
  return create({ apiKey: 'none', fetch }).chat('m') as LanguageModel;
}

describe('extractTriples', () => {
  it.each([
    ['5', createOpenAIv2 as unknown as typeof createOpenAIv3],
    ['6', createOpenAIv3],
    ['7', createOpenAIv4 as unknown as typeof createOpenAIv3],
  ])('reads statements with a model of AI SDK %s, which connect passages', async (_version, create) => {
    const triples = await extractTriples({ passages, model: modelThat(readBurton, create) });
    expect(triples.get('film')).toEqual([{ subject: 'film', predicate: 'by', object: 'Tim Burton' }]);
    expect(triples.get('empty')).toEqual([]);
    const graph = await buildChunkGraph({
      passages: passages.map((passage) => ({ ...passage, triples: triples.get(passage.id) })),
      vectors: new Float32Array(3),
      dimension: 1,
      edges: { phrases: false },
    });
    expect([...graph.edges()]).toMatchObject([{ kind: 'triple', reason: 'both speak of “tim burton”' }]);
  });

  it('resumes an interrupted run, and reads equal texts once', async () => {
    const cache = new Map<string, readonly Triple[]>();
    const controller = new AbortController();
    let asked = 0;
    const many = Array.from({ length: 10 }, (_, n) => ({ id: String(n), document: `film ${n}` }));
    const model = modelThat((prompt) => {
      asked += 1;
      return readBurton(prompt);
    });
    const interrupted = extractTriples({
      passages: many,
      model,
      cache,
      concurrency: 1,
      signal: controller.signal,
      onProgress: ({ done }) => {
        if (done === 4) controller.abort(new Error('enough'));
      },
    });
    await expect(interrupted).rejects.toThrow('enough');
    expect(asked).toBe(4);
    const progress: number[] = [];
    const found = await extractTriples({ passages: many, model, cache, onProgress: ({ done }) => progress.push(done) });
    expect([found.size, asked, progress.at(-1)]).toEqual([10, 10, 10]);
    await extractTriples({ passages: [{ id: 'copy', document: 'film 3' }], model, cache });
    expect(asked).toBe(10);
    await extractTriples({ passages: [{ id: 'copy', document: 'film 3' }], model, cache, cacheScope: 'other model' });
    expect(asked).toBe(11);
  });

  it('asks once for equal texts that are read at the same time', async () => {
    let asked = 0;
    const model = modelThat((prompt) => {
      asked += 1;
      return readBurton(prompt);
    });
    const copies = ['a', 'b', 'c'].map((id) => ({ id, document: 'film' }));
    const found = await extractTriples({ passages: copies, model });
    expect([...found.values()].map((triples) => triples.length)).toEqual([1, 1, 1]);
    expect(asked).toBe(1);
  });

  it.each([
    { concurrency: 0 },
    { concurrency: Number.NaN },
    { maxTriples: 0 },
    { maxTriples: 1.5 },
    { cacheScope: 5 as never },
  ])('refuses %j', async (options) => {
    await expect(extractTriples({ passages, model: modelThat(readBurton), ...options })).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
    });
  });

  it('reads a text again when the cache holds something else', async () => {
    const cache = { get: () => 'rubbish', set: () => undefined };
    const found = await extractTriples({ passages, model: modelThat(readBurton), cache });
    expect(found.get('actor')).toHaveLength(1);
  });

  it('keeps no more triples than asked for', async () => {
    const triple = { subject: 'a', predicate: 'b', object: 'c' };
    const model = modelThat(() => JSON.stringify({ triples: Array.from({ length: 20 }, () => triple) }));
    const found = await extractTriples({ passages: passages.slice(0, 1), model, maxTriples: 3 });
    expect(found.get('film')).toHaveLength(3);
  });

  it('reports failures, returns the other triples, and throws without onFailure', async () => {
    const model = modelThat((prompt) => (prompt.includes('film') ? 'no JSON' : readBurton(prompt)));
    const cache = new Map<string, readonly Triple[]>();
    await expect(extractTriples({ passages, model, cache })).rejects.toMatchObject({
      code: 'TRIPLES_FAILED',
      message: expect.stringContaining("'film': The answer of the model is not JSON"),
    });
    expect(cache.size).toBe(1);
    const failures: TripleFailure[] = [];
    const found = await extractTriples({ passages, model, cache, onFailure: (failure) => failures.push(failure) });
    expect(failures).toMatchObject([{ id: 'film', error: { code: 'EXTRACT_ANSWER_INVALID' } }]);
    expect([...found.keys()].toSorted()).toEqual(['actor', 'empty']);
  });

  it('asks no more questions at a time than allowed', async () => {
    let [running, most] = [0, 0];
    const model = modelThat(async (prompt) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
      return readBurton(prompt);
    });
    const many = Array.from({ length: 9 }, (_, n) => ({ id: String(n), document: `text ${n}` }));
    await extractTriples({ passages: many, model, concurrency: 3 });
    expect(most).toBe(3);
  });
});
