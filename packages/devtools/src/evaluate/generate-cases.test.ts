import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MockLanguageModelV4 } from 'ai/test';
import { beforeAll, describe, expect, it } from 'vitest';
import { newFolder } from '../../../../scripts/test-folder.ts';
import { MDocument } from '@quiver/rag';
import { readCases, writeCases } from '@quiver/rag/evaluate';
import { generateCases, type GenerateCasesOptions } from './generate-cases.js';

const animals = ['ant', 'bee', 'cat', 'dog', 'eel', 'fox', 'gnu', 'hen', 'ibis', 'jay'];
const fact = (animal: string): string => `The ${animal} of this town sleeps for ${animal.length + 4} hours a day`;
const documents = animals.map((animal) =>
  MDocument.fromText(`${fact(animal)}. It is fed twice, once in the morning and once before the sun goes down.`, {
    source: `${animal}.md`,
  }),
);

/** A model that asks for the hours of the animal of a passage, and that can answer unless the animal is in `unknown`. */
function createModel({ unknown = [] as string[], write = (animal: string) => fact(animal) } = {}) {
  const prompts: string[] = [];
  const model = new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const asked = JSON.stringify(prompt);
      prompts.push(asked);
      const animal = /The (\w+) of this town/.exec(asked)?.[1] ?? '';
      const answer = asked.includes('Write one question')
        ? { question: `How long does the ${animal} sleep?`, quote: write(animal) }
        : { answerable: !unknown.includes(animal), answer: 'some hours' };
      return {
        content: [{ type: 'text', text: JSON.stringify(answer) }],
        finishReason: { unified: 'stop', raw: 'stop' },
        usage: { inputTokens: { total: 10 }, outputTokens: { total: 5 } } as never,
        warnings: [],
      };
    },
  });
  return { model, prompts };
}

let folder: string;
beforeAll(async () => void (folder = await newFolder()));

describe('generateCases', () => {
  it('writes a case for each sampled passage, with two calls each', async () => {
    const { model, prompts } = createModel();
    const seen: unknown[] = [];
    const { cases, rejected, cost } = await generateCases({
      documents,
      model,
      count: 4,
      concurrency: 1,
      onProgress: (one) => seen.push(one),
    });
    expect(cases).toHaveLength(4);
    for (const { question, relevant, answer } of cases) {
      const [target] = relevant;
      const animal = target?.source?.replace('.md', '') ?? '';
      expect({ question, relevant, answer }).toEqual({
        question: `How long does the ${animal} sleep?`,
        relevant: [{ quote: fact(animal), source: `${animal}.md` }],
        answer: 'some hours',
      });
    }
    expect(rejected).toEqual({ form: 0, quote: 0, unanswerable: 0 });
    expect(cost).toEqual({ calls: prompts.length, tokens: 15 * prompts.length });
    expect(seen.at(-1)).toEqual({ cases: 4, total: 4, passages: 4 });
  });

  it('chooses the same passages for the same seed in any order of documents, and others for another', async () => {
    const run = async (options: Partial<GenerateCasesOptions>): Promise<string[]> =>
      (await generateCases({ documents, model: createModel().model, count: 3, ...options })).cases.map(
        (one) => one.question,
      );
    const first = await run({});
    expect(await run({ documents: documents.toReversed(), concurrency: 1 })).toEqual(first);
    const others = await Promise.all([2, 3, 4].map((seed) => run({ seed })));
    expect(others.some((questions) => questions.join() !== first.join())).toBe(true);
  });

  it('rejects quotes that are not in the passage, questions without an answer, and answers of another form', async () => {
    const all = { documents, count: 10, maxPassages: 10 };
    const quotes = createModel({
      write: (animal) => (animal === 'cat' ? 'The cat sleeps' : fact(animal).toUpperCase()),
    });
    expect(await generateCases({ ...all, model: quotes.model })).toMatchObject({
      cases: { length: 9 },
      rejected: { form: 0, quote: 1, unanswerable: 0 },
      cost: { calls: 19 },
    });
    expect(await generateCases({ ...all, model: createModel({ unknown: ['dog', 'eel'] }).model })).toMatchObject({
      cases: { length: 8 },
      rejected: { unanswerable: 2 },
    });
    expect(
      await generateCases({
        ...all,
        model: createModel({ write: (animal) => (animal === 'fox' ? '' : fact(animal)) }).model,
      }),
    ).toMatchObject({
      cases: { length: 9 },
      rejected: { form: 1 },
    });
    await expect(generateCases({ ...all, model: createModel({ unknown: animals }).model })).rejects.toMatchObject({
      code: 'EVALUATION_FAILED',
      message: expect.stringContaining('None of 10 passages gave a case'),
    });
  });

  it('makes cases of the words of sentences without a model', async () => {
    const { cases, cost } = await generateCases({ documents, count: 12 });
    expect(cost).toEqual({ calls: 0 });
    expect(cases).toHaveLength(12);
    const texts = documents.flatMap(({ sources }) => sources.map(({ text }) => text));
    for (const { relevant } of cases) expect(texts.join(' ')).toContain(relevant[0]?.quote);
  });

  it('reads at most maxPassages', async () => {
    const { model, prompts } = createModel({ unknown: animals.slice(1) });
    await generateCases({ documents, model, count: 5, maxPassages: 3 }).catch(() => undefined);
    expect(prompts).toHaveLength(6);
  });

  it('resumes an interrupted run without asking again', async () => {
    const options = { documents, cache: new Map(), count: 8, concurrency: 1 };
    const first = createModel();
    const stop = new AbortController();
    const reason = new Error('enough');
    const onProgress = ({ passages }: { passages: number }): void => void (passages === 3 && stop.abort(reason));
    await expect(generateCases({ ...options, model: first.model, onProgress, signal: stop.signal })).rejects.toBe(
      reason,
    );
    const second = createModel();
    const { cases } = await generateCases({ ...options, model: second.model });
    const uninterrupted = await generateCases({ documents, count: 8, concurrency: 1, model: createModel().model });
    expect(cases).toEqual(uninterrupted.cases);
    expect(second.prompts.length).toBeLessThanOrEqual(10);
    expect(new Set([...first.prompts, ...second.prompts]).size).toBe(16);
  });

  it('names no source for a passage that several documents contain', async () => {
    const twice = ['a.md', 'b.md'].map((source) =>
      MDocument.fromText(documents[0]?.sources[0]?.text ?? '', { source }),
    );
    const { cases } = await generateCases({ documents: twice, model: createModel().model });
    expect(cases.map(({ relevant }) => relevant)).toEqual([[{ quote: fact('ant') }]]);
  });

  it('ends with the abort reason while a model that ignores the signal hangs', async () => {
    const stop = new AbortController();
    const reason = new Error('enough');
    const model = new MockLanguageModelV4({
      doGenerate: () => {
        stop.abort(reason);
        return new Promise(() => undefined);
      },
    });
    await expect(generateCases({ documents, model, signal: stop.signal })).rejects.toBe(reason);
  });

  it('throws errors of the model', async () => {
    const model = new MockLanguageModelV4({ doGenerate: () => Promise.reject(new Error('no key')) });
    await expect(generateCases({ documents, model })).rejects.toThrow('no key');
    await expect(generateCases({ documents, model: 'nobody/nothing' })).rejects.toMatchObject({
      code: expect.stringMatching(/^MODEL_/),
    });
  });

  it('rejects documents without text, and invalid numbers', async () => {
    const { model } = createModel();
    const code = { code: 'OPTIONS_INVALID' };
    await expect(generateCases({ documents: [MDocument.fromText('short')], model })).rejects.toMatchObject(code);
    for (const options of [{ count: 0 }, { maxPassages: 1.5 }, { concurrency: Number.NaN }])
      await expect(generateCases({ documents, model, ...options })).rejects.toMatchObject(code);
    await expect(generateCases({ model } as never)).rejects.toMatchObject({
      ...code,
      message: "generateCases: 'documents' must be a list or another iterable, not undefined.",
    });
    await expect(generateCases({ documents, model, concurrency: 1.5 })).rejects.toMatchObject({
      ...code,
      message: "generateCases: 'concurrency' must be an integer of at least 1, not 1.5.",
    });
  });
});

describe('a file of cases', () => {
  it('returns what was written, and accepts blank lines and a byte order mark', async () => {
    const path = join(folder, 'round.jsonl');
    const cases = [
      { question: 'a\nb “c”', relevant: [{ quote: 'x' }, { source: 's', startIndex: 0, endIndex: 2, gain: 2 }] },
      { question: 'd', relevant: [{ id: '1' }], answer: 'e' },
    ];
    await writeCases(path, cases);
    expect(await readCases(path)).toEqual(cases);
    await writeFile(path, `\uFEFF\n${JSON.stringify(cases[1])}\r\n\n`);
    expect(await readCases(path)).toEqual([cases[1]]);
  });

  it('rejects a line that is not a case, by its number', async () => {
    const path = join(folder, 'bad.jsonl');
    for (const [line, message] of [
      ['{"question": "a"', /Line 2 of '.*bad.jsonl' is not JSON/],
      ['{"question": "a"}', /Line 2 .* needs relevant/],
      ['5', /Line 2 .* needs a question/],
    ] as const) {
      await writeFile(path, `{"question":"a","relevant":[{"id":"1"}]}\n${line}\n`);
      await expect(readCases(path)).rejects.toThrow(message);
    }
    await expect(writeCases(path, [])).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    await expect(readCases(join(folder, 'missing.jsonl'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
