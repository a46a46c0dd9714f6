import { observe, type TraceEvent } from '@quiver/core';
import type { ResultLimit } from '@quiver/core/tools';
import { MCPServer, type MCPServerConfig } from '@quiver/mcp/server';
import { describe, expect, test, vi } from 'vitest';
import { afterTest } from '../../../test/after-test.ts';
import { z } from 'zod';
import { callServer } from '../../../test/clients/fetch-caller.ts';
import { toolOf } from '../../../test/servers/tool-of.ts';

const silent = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
const rows = Array.from({ length: 200 }, (_, id) => ({ id, text: `row ${id}` }));

interface ServeOptions {
  readonly mcp?: object;
  readonly outputSchema?: z.ZodType;
  readonly config?: Partial<MCPServerConfig>;
}

function serve(execute: () => unknown, options: ServeOptions = {}): MCPServer {
  const { mcp, outputSchema, config = { resultLimit: { characters: 1_000 } } } = options;
  const more = { ...(mcp && { mcp }), ...(outputSchema && { outputSchema }) };
  const list = toolOf('list', more, async () => execute() as never);
  const server = new MCPServer({ name: 'Limits', version: '1.0.0', tools: { list }, logger: silent, ...config });
  afterTest(() => server.close());
  return server;
}

/** Returns the result of a call of a tool, as clients receive it. */
async function resultOf(execute: () => unknown, options?: ServeOptions, era: 'legacy' | 'modern' = 'modern') {
  return (await callServer(serve(execute, options), era, 'tools/call', { name: 'list', arguments: {} })).result;
}

describe('a result over the limit', () => {
  test('of an array is cut at whole elements', async () => {
    const result = await resultOf(() => rows);
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
    const result = await resultOf(() => text);
    const [shown, note] = result.content;
    expect(note.text).toContain(`of ${text.length} characters`);
    const graphemes = (part: string): string[] =>
      Array.from(new Intl.Segmenter('und').segment(part), ({ segment }) => segment);
    const kept = graphemes(shown.text);
    expect(kept).toEqual(graphemes(text).slice(0, kept.length));
  });

  test('of an object is cut in its longest array', async () => {
    const { text } = (await resultOf(() => ({ count: 200, page: { rows }, tags: ['a', 'b'] }))).content[0];
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
    const result = await resultOf(execute);
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
    const result = await resultOf(() => ({ content, _meta: { own: 1 } }));
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
    const result = await resultOf(() => ({ content }));
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
    const content = [image(700_000), image(50_004), image(50_000)];
    const result = await resultOf(() => ({ content }), { config: { resultLimit: { tokens: 1_000_000 } } });
    expect(result.content.map(({ type }: { type: string }) => type)).toEqual(['image', 'text', 'image']);
  });

  test('is marked as an error where it is one', async () => {
    const fail = () => Promise.reject(new Error('x'.repeat(5_000)));
    const events: TraceEvent[] = [];
    const stop = observe((event, phase) => void (phase === 'end' && events.push(event)));
    const result = await resultOf(fail).finally(stop);
    expect(events).toContainEqual(expect.objectContaining({ method: 'tools/call', isToolError: true }));
    expect(result.isError).toBe(true);
    expect(result.content[0].text).toHaveLength(1_000);
  });

  test('is cut for a legacy client too', async () => {
    const result = await resultOf(() => rows, {}, 'legacy');
    expect(result.content.map(({ type }: { type: string }) => type)).toEqual(['text', 'text']);
  });

  test('keeps whole elements before one that is too long', async () => {
    const result = await resultOf(() => [1, 2, 'x'.repeat(5_000)]);
    expect(JSON.parse(result.content[0].text)).toEqual({ items: [1, 2], truncated: true, total: 3, next: 2 });
  });
});

describe('structured content', () => {
  test('is complete where the text is cut', async () => {
    const result = await resultOf(() => ({ rows }), { outputSchema: z.object({ rows: z.array(z.unknown()) }) });
    expect(result.structuredContent).toEqual({ rows });
    expect(JSON.parse(result.content[0].text).rows).toMatchObject({ truncated: true, total: 200 });
    expect(result.content[0].text.length).toBeLessThanOrEqual(1_000);
  });

  test('is no reason for a cut', async () => {
    const result = await resultOf(() => ({
      content: [{ type: 'text', text: '200 rows' }],
      structuredContent: { rows },
    }));
    expect(result).toMatchObject({ content: [{ text: '200 rows' }], structuredContent: { rows } });
    expect(result._meta).not.toHaveProperty(['quiver/truncated']);
  });
});

describe('limits', () => {
  test('of a tool replace that of the server', async () => {
    expect((await resultOf(() => rows, { mcp: { resultLimit: false } })).content).toHaveLength(1);
    const own = { mcp: { resultLimit: { characters: 500 } }, config: {} };
    expect((await resultOf(() => rows, own)).content[0].text.length).toBeLessThanOrEqual(500);
  });

  test.each<[ResultLimit, number]>([
    [{ tokens: 300 }, 1_200],
    [{ tokens: 300, countTokens: (text) => text.split(/\s+/).length }, 1_800],
  ])('in tokens: %j', async (resultLimit, length) => {
    const { text } = (await resultOf(() => 'word '.repeat(5_000), { config: { resultLimit } })).content[0];
    expect(Math.abs(text.length - length)).toBeLessThan(320);
  });

  test('that a counter cannot measure end the call in an error', async () => {
    const config = { resultLimit: { tokens: 10, countTokens: () => Number.NaN } };
    const result = await resultOf(() => 'x'.repeat(5_000), { config });
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
