import { createOpenAI as createOpenAIv2 } from '@ai-sdk/openai-v2';
import { createOpenAI as createOpenAIv3 } from '@ai-sdk/openai-v3';
import { createOpenAI as createOpenAIv4 } from '@ai-sdk/openai-v4';
import type { LanguageModel } from '@quiver/core/llm';
import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { expectError } from '../../../../../scripts/test-error.ts';
import { MDocument } from '../document.js';
import { serve } from '../../http-server.fixture.js';
import type { ExtractFailure, ExtractParams, ExtractProgress } from './extract-options.js';

interface Body {
  messages: { content: string | { text: string }[] }[];
  response_format?: { type: string; json_schema?: { schema: unknown } };
}

const closed = { type: 'object', properties: { n: { type: 'string' } }, required: ['n'], additionalProperties: false };

let prompts: string[];
let formats: unknown[];
let answer: (prompt: string) => string | number;
let running = 0;
let mostRunning = 0;

/** A server that speaks the chat completions API; the models are the AI SDK's own. */
const baseURL = await serve((request, response) => {
  let text = '';
  request.setEncoding('utf8').on('data', (part: string) => (text += part));
  request.on('end', () => {
    const { messages, response_format: format } = JSON.parse(text) as Body;
    const content = messages[0]?.content ?? '';
    const prompt = typeof content === 'string' ? content : content.map((part) => part.text).join('');
    prompts.push(prompt);
    formats.push(format);
    const reply = answer(prompt);
    running += 1;
    mostRunning = Math.max(mostRunning, running);
    setTimeout(() => {
      running -= 1;
      response.writeHead(typeof reply === 'number' ? reply : 200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify(
          typeof reply === 'number'
            ? { error: { message: 'refused', type: 'invalid', code: 'x' } }
            : {
                id: '1',
                object: 'chat.completion',
                created: 1,
                model: 'm',
                choices: [{ index: 0, message: { role: 'assistant', content: reply }, finish_reason: 'stop' }],
                usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
              },
        ),
      );
    }, 10);
  });
});
beforeEach(() => {
  prompts = [];
  formats = [];
  mostRunning = 0;
  answer = (prompt) => `re: ${prompt.slice(-3)}`;
});

const versions: [string, () => LanguageModel][] = [
  ['v2', () => createOpenAIv2({ apiKey: 'k', baseURL }).chat('gpt-4o')],
  ['v3', () => createOpenAIv3({ apiKey: 'k', baseURL }).chat('gpt-4o')],
  ['v4', () => createOpenAIv4({ apiKey: 'k', baseURL }).chat('gpt-4o')],
];
const llm = (): LanguageModel => versions[2]![1]();
const divided = async (): Promise<MDocument> => {
  const document = MDocument.fromMarkdown('# A\n\none\n\n# B\n\ntwo\n\n# C\n\nsix', { source: 's' });
  await document.chunk();
  return document;
};

describe.each(versions)('models of specification %s', (_, create) => {
  test('give every chunk its titles, summaries, questions, keywords and facts', async () => {
    answer = (prompt) =>
      prompt.includes('JSON') ? `\`\`\`json\n{"n": "${prompt.slice(-3)}"}\n\`\`\`` : `re: ${prompt.slice(-3)}`;
    const document = await divided();
    const all = await document.extractMetadata({
      llm: create(),
      title: { nodes: 1 },
      summary: { summaries: ['self', 'prev', 'next'] },
      questions: true,
      keywords: { keywords: 2 },
      schema: { schema: z.object({ n: z.string() }) },
    });
    expect(all).toBe(document);
    expect(document.getMetadata()[1]).toEqual({
      source: 's',
      startIndex: 10,
      endIndex: 18,
      headings: ['B'],
      n: 'two',
      sectionSummary: 're: two',
      prevSectionSummary: 're: one',
      nextSectionSummary: 're: six',
      questionsThisExcerptCanAnswer: 're: two',
      excerptKeywords: 're: two',
      documentTitle: 're: one',
    });
    expect(document.getMetadata()[0]).not.toHaveProperty('prevSectionSummary');
    expect(formats.filter(Boolean)).toMatchObject(Array.from({ length: 3 }, () => ({ type: 'json_schema' })));
    // As strict mode requires it.
    const given = formats.flatMap((format) => (format as Body['response_format'])?.json_schema?.schema ?? []);
    expect(given).toEqual(Array.from({ length: 3 }, () => closed));
    expect(prompts.some((prompt) => prompt.includes('at most 2 keywords'))).toBe(true);
  });
});

describe('extraction', () => {
  test('is part of chunking on request', async () => {
    const chunks = await MDocument.fromText('one').chunk({
      strategy: 'recursive',
      extract: { llm: llm(), keywords: true },
    });
    expect(chunks[0]?.metadata).toMatchObject({ excerptKeywords: 're: one' });
  });

  test('before chunking reads whole documents, for all their chunks and without changing their ids', async () => {
    const document = MDocument.fromMarkdown('# A\n\none\n\n# B\n\ntwo');
    const ids = (await MDocument.fromMarkdown('# A\n\none\n\n# B\n\ntwo').chunk()).map(({ id }) => id);
    await document.extractMetadata({ llm: llm(), summary: true });
    expect(document.getMetadata()).toEqual([{ sectionSummary: 're: two' }]);
    const chunks = await document.chunk();
    expect(chunks.map(({ metadata }) => metadata['sectionSummary'])).toEqual(['re: two', 're: two']);
    expect(chunks.map(({ id }) => id)).toEqual(ids);
  });

  test('gives two calls at once each its own chunks', async () => {
    const document = MDocument.fromText('one two three four five');
    const [short, long] = await Promise.all([
      document.chunk({ maxSize: 10, overlap: 0, extract: { llm: llm(), summary: true } }),
      document.chunk({ maxSize: 20, overlap: 0, extract: { llm: llm(), keywords: true } }),
    ]);
    expect(short.map(({ text }) => text)).toEqual(['one two', 'three four', 'five']);
    expect(long.map(({ text }) => text)).toEqual(['one two three', 'four five']);
    expect(short.every(({ metadata }) => 'sectionSummary' in metadata && !('excerptKeywords' in metadata))).toBe(true);
    expect(long.every(({ metadata }) => 'excerptKeywords' in metadata)).toBe(true);
  });

  test('combines the titles of the first chunks, for chunks that share a docId too', async () => {
    const docs = ['one', 'two'].map((text) => ({ text, metadata: { docId: 'd' } }));
    const document = new MDocument({ docs, type: 'text' });
    await document.chunk();
    await document.extractMetadata({ llm: llm(), title: { combineTemplate: 'all of {context}!' } });
    expect(prompts).toContain('all of re: one\nre: two!');
    expect(document.getMetadata().map((metadata) => metadata['documentTitle'])).toEqual(['re: wo!', 're: wo!']);
  });

  test('does not take the number of a document for the docId of another', async () => {
    const docs = [{ text: 'one', metadata: { docId: 1 } }, { text: 'two' }];
    const document = new MDocument({ docs });
    await document.extractMetadata({ llm: llm(), title: true });
    expect(document.getMetadata().map((metadata) => metadata['documentTitle'])).toEqual(['re: one', 're: two']);
    await document.chunk();
    await document.extractMetadata({ llm: llm(), title: true });
    expect(document.getMetadata().map((metadata) => metadata['documentTitle'])).toEqual(['re: one', 're: two']);
  });

  test('keeps unknown placeholders of a template', async () => {
    await (await divided()).extractMetadata({ llm: llm(), summary: { promptTemplate: '{constructor} {context}' } });
    expect(prompts[0]).toMatch(/^{constructor} /);
  });

  test('makes no request for an extractor that is false', async () => {
    const params = { llm: llm(), keywords: false, title: false, schema: false };
    await (await divided()).extractMetadata(params as unknown as ExtractParams);
    expect(prompts).toEqual([]);
  });

  test('limits the parallel requests, and reports its progress', async () => {
    const progress: ExtractProgress[] = [];
    await (
      await divided()
    ).extractMetadata({
      llm: llm(),
      summary: true,
      keywords: true,
      concurrency: 2,
      onProgress: (event) => progress.push(event),
    });
    expect(mostRunning).toBe(2);
    expect(progress.map(({ done }) => done)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(progress[0]?.total).toBe(6);
  });

  test('reports the chunk of a failure, and continues with the others', async () => {
    answer = (prompt) => (prompt.endsWith('two') ? 400 : 'fine');
    const document = await divided();
    await expect(document.extractMetadata({ llm: llm(), summary: true })).rejects.toMatchObject({
      code: 'EXTRACTION_FAILED',
      message: expect.stringContaining('summary of chunk 1: refused') as string,
      details: { failures: [{ extractor: 'summary', chunk: 1, chunkId: (await (await divided()).chunk())[1]?.id }] },
    });
    expect(document.getMetadata().map((metadata) => metadata['sectionSummary'])).toEqual(['fine', undefined, 'fine']);
    const failures: ExtractFailure[] = [];
    await document.extractMetadata({ llm: llm(), keywords: true, onFailure: (failure) => failures.push(failure) });
    expect(failures).toMatchObject([{ extractor: 'keywords', chunk: 1 }]);
  });

  test('rejects answers that are empty, not JSON, or do not match the schema', async () => {
    for (const [reply, params] of [
      [' ', { summary: true }],
      ['no', { schema: { schema: z.object({}) } }],
      ['{"n":1}', { schema: { schema: z.object({ n: z.string() }), metadataKey: 'facts' } }],
      ['"text"', { schema: { schema: z.string() } }],
      ['[1, 2]', { schema: { schema: z.array(z.number()) } }],
      ['7', { schema: { schema: z.number() } }],
      ['{"startIndex":7}', { schema: { schema: z.object({ startIndex: z.number() }) } }],
      ['{"source":"b"}', { schema: { schema: z.object({ source: z.string() }) } }],
    ] as [string, ExtractParams][]) {
      answer = () => reply;
      await expect((await divided()).extractMetadata({ llm: llm(), ...params })).rejects.toMatchObject({
        cause: expect.objectContaining({ code: 'EXTRACT_ANSWER_INVALID' }) as unknown,
      });
    }
  });

  test.each<[unknown, z.ZodType]>([
    [['a', 'b'], z.array(z.string())],
    [{ a: '```' }, z.object({ a: z.string() })],
    ['about [a] and {b}', z.string()],
    [-4.5, z.number()],
    [true, z.boolean()],
    [null, z.null()],
  ])('keeps the answer %j under a key, also from a fence', async (value, schema) => {
    const json = JSON.stringify(value);
    for (const reply of [json, `\n${json} `, `\`\`\`json\n${json}\n\`\`\``]) {
      answer = () => reply;
      const document = await divided();
      await document.extractMetadata({ llm: llm(), schema: { schema, metadataKey: 'fact' } });
      for (const metadata of document.getMetadata()) expect(metadata).toMatchObject({ fact: value });
    }
  });

  test.each(['Here: [{"a":1}].', 'See [1]: {"a":1}', '{"a":1} [end]'])(
    'finds JSON in the prose of %s',
    async (reply) => {
      answer = () => reply;
      const document = await divided();
      const one = z.object({ a: z.literal(1) });
      await document.extractMetadata({
        llm: llm(),
        schema: { schema: z.union([one, z.tuple([one])]), metadataKey: 'fact' },
      });
      for (const { fact } of document.getMetadata()) expect([fact].flat()).toEqual([{ a: 1 }]);
    },
  );

  test('stops for its signal', async () => {
    const controller = new AbortController();
    const document = await divided();
    const run = document.extractMetadata({
      llm: llm(),
      summary: true,
      concurrency: 1,
      signal: controller.signal,
      onProgress: () => controller.abort(),
    });
    await expect(run).rejects.toMatchObject({ name: 'AbortError' });
    expect(prompts).toHaveLength(1);
  });

  test('makes no request without a model, or with unknown options', async () => {
    const document = await divided();
    await expectError(document.extractMetadata({ title: true }), 'EXTRACT_MODEL_MISSING');
    const contains = 'must be a string that contains {context}, not ';
    for (const [params, problem] of [
      [{ title: { node: 1 } }, " has no option 'title.node'. Did you mean 'title.nodes'? The options of 'title' are: "],
      [{ llm: 5 }, ": 'llm' must be an AI SDK language model, or a string such as 'openai/gpt-5.1', not 5."],
      [{ keywords: { keywords: 0 } }, ": 'keywords.keywords' must be an integer of at least 1, not 0."],
      [{ summary: { promptTemplate: 'x' } }, `: 'summary.promptTemplate' ${contains}'x'.`],
      [{ title: { combineTemplate: 'x' } }, `: 'title.combineTemplate' ${contains}'x'.`],
      [
        { summary: { summaries: ['previous'] } },
        ": 'summary.summaries[0]' must be one of 'self', 'prev', 'next', not ",
      ],
      [{ title: { nodeTemplate: 5 } }, `: 'title.nodeTemplate' ${contains}5.`],
      [{ schema: true }, ": 'schema' must be one of false, or an object with options, not true."],
      [
        { schema: { schema: z.object({}), metadataKey: 5 } },
        ": 'schema.metadataKey' must be a metadata key other than",
      ],
      [
        { schema: { schema: z.object({}), metadataKey: 'startIndex' } },
        ": 'schema.metadataKey' must be a metadata key",
      ],
      [
        { context: 'suffix' },
        ": 'context' must be one of true, false, prefix, or an object with options, not 'suffix'.",
      ],
      [{ context: { cache: {} } }, ": 'context.cache' must be a Map, or an object with get and set, not an object."],
    ] as const) {
      await expectError(
        document.extractMetadata({ llm: llm(), ...params } as ExtractParams),
        'OPTIONS_INVALID',
        `extractMetadata${problem}`,
      );
    }
    await expectError(document.extractMetadata(null as unknown as ExtractParams), 'OPTIONS_INVALID');
    expect(prompts).toEqual([]);
  });
});

test('does not call a model for blank text', async () => {
  const all: ExtractParams = { llm: llm(), title: true, summary: true, questions: true, keywords: true };
  const schema = { schema: z.object({ n: z.string() }) };
  const blank = MDocument.fromText(' \n\t ', { source: 'blank.txt' });
  await blank.extractMetadata({ ...all, schema });
  const document = MDocument.fromText('one\n\n \n\ntwo');
  await document.chunk({ strategy: 'character', separator: '\n\n', maxSize: 5, overlap: 0, stripWhitespace: false });
  const texts = document.getText();
  expect(texts.some((text) => text.trim() === '')).toBe(true);
  expect(prompts).toEqual([]);
  await document.extractMetadata({ llm: llm(), title: { nodes: 1 }, keywords: true });
  expect(prompts).toHaveLength(1 + texts.filter((text) => text.trim() !== '').length);
});

describe('context of a chunk', () => {
  const text = '# Travel\n\nIt needs approval.\n\n# Expenses\n\nThey need a form.';
  const handbook = (): MDocument => MDocument.fromMarkdown(text, { title: 'Handbook', date: '2026-01-01' });
  const situate = (prompt: string): string => {
    const parts = [...prompt.matchAll(/<part number="(\d+)">\n([^\n]*)/g)];
    return JSON.stringify({
      contexts: parts.map(([, part, line]) => ({ chunk: Number(part), context: `On ${line}` })),
    });
  };
  const contextsOf = async (
    context: NonNullable<ExtractParams['context']>,
    more: ExtractParams = {},
  ): Promise<unknown[]> => {
    const chunks = await handbook().chunk({ extract: { llm: llm(), context, ...more } });
    return chunks.map(({ metadata }) => metadata['excerptContext']);
  };

  test('begins with title, headings and date, and needs no model for them', async () => {
    expect(await contextsOf('prefix')).toEqual(['Handbook › Travel › 2026-01-01', 'Handbook › Expenses › 2026-01-01']);
    expect(prompts).toEqual([]);
  });

  test('is written for all chunks of a document in one request, which begins with the document', async () => {
    answer = situate;
    expect(await contextsOf({ fields: ['title'] })).toEqual(['Handbook\nOn # Travel', 'Handbook\nOn # Expenses']);
    expect(prompts).toHaveLength(1);
    expect(prompts[0]).toMatch(/^<document>\n# Travel/);
  });

  test('is requested again only where the cache has none', async () => {
    answer = situate;
    const cache = new Map<string, unknown>();
    const first = await contextsOf({ cache });
    expect(await contextsOf({ cache })).toEqual(first);
    expect(prompts).toHaveLength(1);
    cache.delete([...cache.keys()][0]!);
    expect(await contextsOf({ cache })).toEqual(first);
    expect(prompts).toHaveLength(2);
    expect(prompts[1]).not.toContain('<part number="2">');
    // Such an entry is damaged.
    cache.set([...cache.keys()][0]!, '');
    expect(await contextsOf({ cache })).toEqual(first);
    expect(prompts).toHaveLength(3);
  });

  test('shows the model the surroundings of the chunks in a long document', async () => {
    answer = situate;
    const document = MDocument.fromText(`${'a'.repeat(5000)} middle ${'z'.repeat(5000)}`);
    await document.chunk({
      strategy: 'recursive',
      maxSize: 1000,
      overlap: 0,
      extract: { llm: llm(), context: { maxDocumentLength: 2000 } },
    });
    for (const prompt of prompts) {
      const [, shown, part] = /<document>\n(.*)\n<\/document>.*?<part number="1">\n([^\n]*)/s.exec(prompt)!;
      expect(shown).toHaveLength(2000);
      expect(shown).toContain(part);
    }
    expect(prompts).toHaveLength(11);
  });

  test('is an error when the model leaves out a chunk', async () => {
    answer = () => JSON.stringify({ contexts: [{ chunk: 1, context: 'Only one.' }] });
    await expectError(contextsOf(true), 'EXTRACTION_FAILED', 'no context for part 2 of 2');
  });

  test('is for chunks alone', async () => {
    await expectError(handbook().extractMetadata({ context: 'prefix' }), 'OPTIONS_INVALID');
  });
});
