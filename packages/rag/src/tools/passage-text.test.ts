import { RequestContext } from '@quiver/core/request-context';
import { describe, expect, it } from 'vitest';
import { majors, toolResultsSeenBy } from '../../../core/test/ai-sdk-majors.js';
import { MDocument } from '../document/document.js';
import { createLexicalEmbedder } from '../embedding/index.js';
import { estimateTokens } from '../embedding/rate-limit.js';
import { ingest } from '../ingest/ingest.js';
import { LocalVector } from '../stores/local/index.js';
import { createGraphRAGTool } from './graph-rag-tool.js';
import { writePassages } from './passage-text.js';
import { callTool } from './call-tool.fixture.js';
import { createVectorQueryTool } from './vector-query-tool.js';

const model = createLexicalEmbedder();
const indexName = 'guides';
const guide = [
  '# Locks',
  '## Stale locks',
  'The lock file names its owner. A stale lock is taken over after thirty seconds.',
  '## Errors',
  'E1042 means that the lock belongs to another process. Wait, and try again.',
].join('\n\n');

async function createStore(): Promise<LocalVector> {
  const store = new LocalVector();
  const documents = [MDocument.fromMarkdown(guide, { source: 'docs/locks.md', title: 'Guide' })];
  await ingest({ documents, chunkOptions: { maxSize: 100 }, vectorStore: store, indexName, model });
  return store;
}

describe('the text of passages', () => {
  it('names number, title, headings, source and place once, above the text', () => {
    const metadata = { title: 'Guide', headings: ['Locks', 'Stale\nlocks'], source: 'locks.pdf', page: 3 };
    const document = 'A stale lock is taken over.';
    const passages = [
      { id: 'a', document, metadata },
      { id: 'b', document: `## Locks\n\n${document}`, metadata: { ...metadata, endPage: 4 } },
      { id: 'c', document: '', metadata },
      { id: 'd', document, metadata: { slide: 2, sheet: 'Sales' } },
      { id: 'e', document, metadata: {} },
    ];
    expect(writePassages(passages)).toEqual({
      omitted: 0,
      text: [
        `[1] Guide › Locks › Stale locks (locks.pdf, page 3)\n${document}`,
        `[2] (section of [1], pages 3–4)\n## Locks\n\n${document}`,
        `[4] (slide 2, sheet Sales)\n${document}`,
        `[5] ${document}`,
      ].join('\n\n'),
    });
  });

  it('repeats neither the title in a heading nor what an earlier passage of the file shows', () => {
    const passage = (id: string, metadata: Record<string, unknown>) => ({ id, document: 'Text.', metadata });
    const metadata = { title: 'Locks — Manual', source: 'manual/chapters/locks.html' };
    const { text } = writePassages([
      passage('a', { ...metadata, headings: ['Locks', 'Stale locks'] }),
      passage('b', { title: 'Locks — Manual', source: 'a.html' }),
      passage('c', { ...metadata, headings: ['Locks', 'Errors'], page: 2 }),
      passage('d', { ...metadata, headings: ['Locks', 'Errors'], page: 3 }),
      passage('e', { ...metadata, title: 'Attachment' }),
      passage('f', { title: 'Locks — Manual', source: 'a.html', headings: ['Use'] }),
    ]);
    expect(text.split('\n\n').map((part) => part.split('\n', 1)[0])).toEqual([
      '[1] Locks — Manual › Stale locks (manual/chapters/locks.html)',
      '[2] Locks — Manual (a.html)',
      '[3] Errors (file of [1], page 2)',
      '[4] (section of [3], page 3)',
      '[5] Attachment (manual/chapters/locks.html)',
      '[6] Use (a.html)',
    ]);
  });

  it('names the other places of a text', () => {
    const copies = ['b.md', 'c.md', 'd.md', 'e.md'].map((source, index) => ({ id: source, source, page: index }));
    const textOf = (alsoIn: unknown): string =>
      writePassages([{ id: 'a', document: 'Text.', metadata: { source: 'a.md', alsoIn } }]).text;
    expect(textOf(copies)).toBe('[1] (a.md, also in b.md, page 0 and c.md, page 1 and 2 more)\nText.');
    expect(textOf(copies.slice(0, 1))).toBe('[1] (a.md, also in b.md, page 0)\nText.');
    expect(textOf([{ id: 'x' }])).toBe('[1] (a.md)\nText.');
  });

  it('leaves out the last passages over the limit, and shortens the one before them after a sentence', () => {
    const passages = Array.from({ length: 6 }, (_, index) => ({
      id: `${index}`,
      document: `Passage ${index} begins. ${'It has many words, as most do. '.repeat(10)}It ends.`,
      metadata: { source: 'a.md' },
    }));
    for (const maxTokens of [100, 130, 200, 333, 400]) {
      const { text, omitted } = writePassages(passages, maxTokens);
      expect(estimateTokens(text), `${maxTokens}`).toBeLessThanOrEqual(maxTokens);
      const parts = text.split('\n\n');
      expect(parts.length).toBe(6 - omitted + 1);
      for (const part of parts.slice(0, -2)) expect(part).toMatch(/It ends\.$/);
      expect(parts.at(-2)).toMatch(/(?:It ends\.|\. …)$/);
      expect(parts.at(-1)).toContain(omitted === 1 ? '(1 more passage is' : `(${omitted} more passages are`);
    }
    expect(writePassages(passages, 10_000)).toEqual({ ...writePassages(passages), omitted: 0 });
  });

  it('always shows some of the first passage', () => {
    const { text, omitted } = writePassages([{ id: 'a', document: 'word '.repeat(500), metadata: {} }], 60);
    expect(text).toMatch(
      /^\[1\] (?:word )+…\n\n\(The last passage is not shown in full: the result has at most 60 tokens\./,
    );
    expect(omitted).toBe(0);
    expect(writePassages([{ id: 'a', document: '😀'.repeat(500), metadata: {} }], 1).text).toMatch(/^\[1\] 😀/);
  });
});

describe('the result of a query tool', () => {
  it.each(majors.map((major) => ({ name: `AI SDK ${major.version}`, major })))(
    'reaches a model as text in $name, while the program has all sources',
    async ({ major }) => {
      await using store = await createStore();
      const search = createVectorQueryTool({ vectorStore: store, indexName, model });
      const explore = createGraphRAGTool({ vectorStore: store, indexName, model });
      const script = major.createModel([
        { call: 'search', input: { queryText: 'thirty seconds', topK: 1 } },
        { call: 'explore', input: { queryText: 'thirty seconds', topK: 1 } },
        { say: 'done' },
      ]);
      const { content } = await major.generate({
        model: script.model,
        tools: { search, explore },
        prompt: 'go',
      });
      const value = expect.stringMatching(/^\[1\] Guide.* \(docs\/locks\.md\)\n[^]*A stale lock is taken over/);
      expect(toolResultsSeenBy(script.calls())).toEqual([
        { type: 'text', value },
        { type: 'text', value },
      ]);
      const results = content.filter(({ type }) => type === 'tool-result');
      for (const { output } of results) {
        const [source] = (output as unknown as { sources: Record<string, unknown>[] }).sources;
        expect(source).toMatchObject({
          id: expect.any(String),
          metadata: { source: 'docs/locks.md', startIndex: expect.any(Number) },
        });
        expect(source?.['vector']).toEqual([]);
        expect(source?.['metadata']).not.toHaveProperty('embedder');
        expect(source?.['metadata']).not.toHaveProperty('previousChunk');
      }
    },
  );

  it('has at most maxTokens for the model, of the tool or of the request context', async () => {
    await using store = await createStore();
    const search = createVectorQueryTool({ vectorStore: store, indexName, model, maxTokens: 70 });
    const result = await callTool(search, 'the lock file of a process');
    expect(result.sources.length).toBe(3);
    expect(result).toMatchObject({ omitted: 1, relevantContext: expect.stringContaining('at most 70 tokens') });
    const requestContext = new RequestContext([['maxTokens', 1000]]);
    const whole = await callTool(search, 'the lock file', { requestContext });
    expect(whole).not.toHaveProperty('omitted');
  });

  it('says that nothing was found', async () => {
    await using store = await createStore();
    const search = createVectorQueryTool({ vectorStore: store, indexName, model, mode: 'keyword' });
    const output = await callTool(search, 'banana');
    expect(output).toMatchObject({ relevantContext: '', sources: [], nothingFound: true });
    expect(search.toModelOutput?.(output)).toEqual({ type: 'text', value: 'No passage was found.' });
    const unsure = await callTool(search, 'Who sells a banana or a lock?', {
      requestContext: new RequestContext([['minConfidence', 1]]),
    });
    expect(search.toModelOutput?.(unsure)).toMatchObject({
      value: expect.stringMatching(/^No passage was found\. Nearest topics: Guide.*\.$/),
    });
  });

  it('ends with the cursor of a list', async () => {
    await using store = await createStore();
    const list = createVectorQueryTool({ vectorStore: store, indexName, mode: 'filter' });
    const output = await callTool(list, { topK: 1 });
    expect(list.toModelOutput?.(output)).toMatchObject({ value: expect.stringMatching(/\n\nnextCursor: \S+$/) });
  });
});
