import { observe, type TraceEvent } from '@quiver/core';
import { createTool, type ResultLimit } from '@quiver/core/tools';
import { MCPServer, type MCPServerConfig } from '@quiver/mcp/server';
import { describe, expect, test, vi } from 'vitest';
import { afterTest } from '../../../test/after-test.ts';
import { z } from 'zod';
import { modern, rpc, toRequest } from '../../../test/clients/wire.ts';

const silent = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
const rows = Array.from({ length: 200 }, (_, id) => ({ id, text: `row ${id}` }));

interface Answer {
  // oxlint-disable-next-line typescript/no-explicit-any -- any JSON that the server sent
  result?: any;
  error?: { code: number; message: string };
}

/** Serves one tool, and returns a function that sends a request as a caller. */
function serve(
  execute: () => unknown,
  options: { mcp?: object; outputSchema?: z.ZodType; config?: Partial<MCPServerConfig> } = {},
): (method: string, params: Record<string, unknown>, caller?: string, era?: 'legacy') => Promise<Answer> {
  const { mcp, outputSchema, config = { resultLimit: { characters: 1_000 } } } = options;
  const tool = createTool({
    id: 'list',
    description: 'Lists',
    ...(mcp && { mcp }),
    ...(outputSchema && { outputSchema }),
    execute: async () => execute() as never,
  });
  const server = new MCPServer({ name: 'Limits', version: '1.0.0', tools: { list: tool }, logger: silent, ...config });
  afterTest(() => server.close());
  return async (method, params, caller = 'ada', era) => {
    const legacy = { headers: { 'mcp-protocol-version': '2025-03-26' }, body: rpc(method, params) };
    const request = toRequest(era ? legacy : modern(method, params));
    const response = await server.fetch(request, { serverless: true, authInfo: { extra: { subject: caller } } });
    return (await response.json()) as Answer;
  };
}

const call = { name: 'list', arguments: {} };

describe('a result over the limit', () => {
  test('of an array is cut at whole elements', async () => {
    const send = serve(() => rows);
    const { result } = await send('tools/call', call);
    const [json, note, ...others] = result.content;
    expect(others).toEqual([]);
    expect(json.text.length).toBeLessThanOrEqual(1_000);
    const shown = JSON.parse(json.text);
    expect(shown).toEqual({ items: rows.slice(0, shown.next), truncated: true, total: 200, next: expect.any(Number) });
    expect(note.text).toBe(
      `The result was cut because it is too long: the first ${shown.next} of 200 elements are shown. Call the tool with arguments that return less.`,
    );
    expect(result._meta['quiver/truncated']).toEqual({ unit: 'elements', total: 200, next: shown.next });
  });

  test('of text is cut between characters', async () => {
    const text = 'e\u0301🎉👩‍👩‍👧‍👦 कि'.repeat(300);
    const send = serve(() => text);
    const { result } = await send('tools/call', call);
    const [shown, note] = result.content;
    expect(note.text).toContain(`of ${text.length} characters`);
    const graphemes = (part: string): string[] =>
      Array.from(new Intl.Segmenter('und').segment(part), ({ segment }) => segment);
    const kept = graphemes(shown.text);
    expect(kept).toEqual(graphemes(text).slice(0, kept.length));
  });

  test('of an object is cut in its longest array', async () => {
    const send = serve(() => ({ count: 200, page: { rows }, tags: ['a', 'b'] }));
    const { text } = (await send('tools/call', call)).result.content[0];
    expect(JSON.parse(text)).toMatchObject({
      count: 200,
      page: { rows: { truncated: true, total: 200 } },
      tags: ['a', 'b'],
    });
  });

  test.each([
    ['a first element that is too long', () => ['x'.repeat(5_000), 'y']],
    ['an object without arrays', () => ({ text: 'x'.repeat(5_000) })],
    ['numbers that would be rounded', () => `[${'12345678901234567890,'.repeat(200)}1]`],
    ['invalid JSON', () => `[${'x'.repeat(5_000)}`],
    ['JSON that is nested too deep', () => '['.repeat(100_000) + ']'.repeat(100_000)],
  ])('with %s is cut as text', async (_title, execute) => {
    const send = serve(execute);
    const { result } = await send('tools/call', call);
    expect(result.content[0].text).toHaveLength(1_000);
    expect(result._meta['quiver/truncated'].unit).toBe('characters');
  });

  test('keeps images within it, and leaves out the texts behind the cut', async () => {
    const image = { type: 'image', data: 'AAAA'.repeat(50), mimeType: 'image/png' };
    const content = [
      { type: 'text', text: 'a'.repeat(800) },
      image,
      { type: 'resource', resource: { uri: 'x:y', text: 'b'.repeat(800) } },
      { type: 'text', text: 'c' },
    ];
    const send = serve(() => ({ content, _meta: { own: 1 } }));
    const { result } = await send('tools/call', call);
    expect(result.content.map(({ type }: { type: string }) => type)).toEqual(['text', 'image', 'text']);
    expect(result._meta).toMatchObject({ own: 1, 'quiver/truncated': { total: 1603, next: 800 } });
  });

  test('leaves out images, audio and files that exceed it', async () => {
    const data = (length: number): string => 'QUJD'.repeat(length / 4);
    const content = [
      { type: 'image', data: data(600), mimeType: 'image/png' },
      { type: 'text', text: 'A chart' },
      { type: 'audio', data: data(2_000), mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'x:y', blob: data(404), mimeType: 'application/pdf' } },
      { type: 'image', data: data(300), mimeType: 'image/jpeg' },
    ];
    const send = serve(() => ({ content }));
    const { result } = await send('tools/call', call);
    const missing = (type: string, length: number): unknown => ({
      type: 'text',
      text: expect.stringContaining(`${type} with ${length} base64 characters was left out`),
    });
    const [chart, caption, , , photo] = content;
    const left = [missing('audio/wav', 2_000), missing('application/pdf', 404)];
    expect(result.content).toEqual([chart, caption, ...left, photo]);
    expect(result._meta['quiver/truncated']).toEqual({ files: 2 });
  });

  test('in tokens leaves out images of more than 750,000 base64 characters', async () => {
    const image = (length: number): object => ({ type: 'image', data: 'A'.repeat(length), mimeType: 'image/png' });
    const send = serve(() => ({ content: [image(700_000), image(50_004), image(50_000)] }), {
      config: { resultLimit: { tokens: 1_000_000 } },
    });
    const { result } = await send('tools/call', call);
    expect(result.content.map(({ type }: { type: string }) => type)).toEqual(['image', 'text', 'image']);
  });

  test('is marked as an error where it is one', async () => {
    const send = serve(() => {
      throw new Error('x'.repeat(5_000));
    });
    const events: TraceEvent[] = [];
    const stop = observe((event, phase) => void (phase === 'end' && events.push(event)));
    const { result } = await send('tools/call', call).finally(stop);
    expect(events).toContainEqual(expect.objectContaining({ method: 'tools/call', isToolError: true }));
    expect(result.isError).toBe(true);
    expect(result.content[0].text).toHaveLength(1_000);
  });

  test('is cut for a legacy client too', async () => {
    const send = serve(() => rows);
    const { result } = await send('tools/call', call, 'ada', 'legacy');
    expect(result.content.map(({ type }: { type: string }) => type)).toEqual(['text', 'text']);
  });

  test('keeps whole elements before one that is too long', async () => {
    const send = serve(() => [1, 2, 'x'.repeat(5_000)]);
    const { result } = await send('tools/call', call);
    expect(JSON.parse(result.content[0].text)).toEqual({ items: [1, 2], truncated: true, total: 3, next: 2 });
  });
});

describe('structured content', () => {
  test('is complete where the text is cut', async () => {
    const send = serve(() => ({ rows }), { outputSchema: z.object({ rows: z.array(z.unknown()) }) });
    const { result } = await send('tools/call', call);
    expect(result.structuredContent).toEqual({ rows });
    expect(JSON.parse(result.content[0].text).rows).toMatchObject({ truncated: true, total: 200 });
    expect(result.content[0].text.length).toBeLessThanOrEqual(1_000);
  });

  test('is no reason for a cut', async () => {
    const send = serve(() => ({ content: [{ type: 'text', text: '200 rows' }], structuredContent: { rows } }));
    const { result } = await send('tools/call', call);
    expect(result).toMatchObject({ content: [{ text: '200 rows' }], structuredContent: { rows } });
    expect(result._meta).not.toHaveProperty(['quiver/truncated']);
  });
});

describe('limits', () => {
  test('of a tool replace that of the server', async () => {
    const unlimited = serve(() => rows, { mcp: { resultLimit: false } });
    expect((await unlimited('tools/call', call)).result.content).toHaveLength(1);
    const own = serve(() => rows, { mcp: { resultLimit: { characters: 500 } }, config: {} });
    const { content } = (await own('tools/call', call)).result;
    expect(content[0].text.length).toBeLessThanOrEqual(500);
  });

  test.each<[ResultLimit, number]>([
    [{ tokens: 300 }, 1_200],
    [{ tokens: 300, countTokens: (text) => text.split(/\s+/).length }, 1_800],
  ])('in tokens: %j', async (resultLimit, length) => {
    const send = serve(() => 'word '.repeat(5_000), { config: { resultLimit } });
    const { text } = (await send('tools/call', call)).result.content[0];
    expect(Math.abs(text.length - length)).toBeLessThan(320);
  });

  test('that a counter cannot measure end the call in an error', async () => {
    const send = serve(() => 'x'.repeat(5_000), {
      config: { resultLimit: { tokens: 10, countTokens: () => Number.NaN } },
    });
    const { result } = await send('tools/call', call);
    expect(result.isError).toBe(true);
    expect(result.content[0].text).toContain('countTokens of resultLimit returned NaN');
  });

  test.each([
    {},
    { characters: 0 },
    { characters: 1.5 },
    { tokens: '5' },
    { characters: 5, tokens: 5 },
    { chars: 5 },
    { characters: 5, countTokens: () => 1 },
    5,
    null,
  ])('that are invalid are rejected: %j', (resultLimit) => {
    expect(() => serve(() => rows, { config: { resultLimit: resultLimit as never } })).toThrow(
      expect.objectContaining({ code: 'OPTIONS_INVALID' }),
    );
  });
});
