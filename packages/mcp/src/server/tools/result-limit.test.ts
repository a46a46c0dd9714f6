import { observe, type TraceEvent } from '@quiver/core';
import { createTool, type ResultLimit } from '@quiver/core/tools';
import { MCPClient } from '@quiver/mcp/client';
import { MCPServer, type MCPServerConfig } from '@quiver/mcp/server';
import { StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { connectV1, connectV2, modernPin, type RealClient } from '../../../test/clients/real-clients.ts';
import { modern, rpc } from '../../../test/clients/wire.ts';
import { InMemoryStore } from '../../shared-store/in-memory-store.js';
import { Instance } from '../../shared-store/instance.js';
import { ResultStore } from './result-store.js';

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

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
  opened.push(server);
  return async (method, params, caller = 'ada', era) => {
    const call = modern(method, params);
    const headers = {
      host: 'localhost',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(era
        ? { 'mcp-protocol-version': '2025-03-26' }
        : { ...call.headers, 'mcp-name': String(params['name'] ?? params['uri']) }),
    };
    const body = JSON.stringify(era ? rpc(method, params) : call.body);
    const request = new Request('http://localhost/mcp', {
      method: 'POST',
      headers: headers as Record<string, string>,
      body,
    });
    const response = await server.fetch(request, { serverless: true, authInfo: { extra: { subject: caller } } });
    return (await response.json()) as Answer;
  };
}

const call = { name: 'list', arguments: {} };

describe('a result over the limit', () => {
  test('of an array is cut at whole elements, and the rest can be read in parts', async () => {
    const send = serve(() => rows);
    const { result } = await send('tools/call', call);
    const [json, note, link] = result.content;
    expect(json.text.length).toBeLessThanOrEqual(1_000);
    const shown = JSON.parse(json.text);
    expect(shown).toEqual({ items: rows.slice(0, shown.next), truncated: true, total: 200, next: expect.any(Number) });
    expect(note.text).toContain(`the first ${shown.next} of 200 elements are shown`);
    expect(link).toMatchObject({
      type: 'resource_link',
      uri: expect.stringMatching(/^quiver-result:\/\/[0-9a-f]{32}\?offset=\d+$/),
    });
    expect(result._meta['quiver/truncated']).toEqual({ unit: 'elements', total: 200, next: shown.next, uri: link.uri });
    const read = [...shown.items];
    let uri: string | undefined = link.uri;
    while (uri) {
      const { contents } = (await send('resources/read', { uri })).result;
      expect(contents[0].text.length).toBeLessThanOrEqual(1_100);
      read.push(...JSON.parse(contents[0].text).items);
      uri = contents[0]._meta['quiver/truncated'].uri;
      expect(contents.length).toBe(uri ? 2 : 1);
    }
    expect(read).toEqual(rows);
  });

  test('of text is cut between characters, and the parts together are the text', async () => {
    const text = 'e\u0301🎉👩‍👩‍👧‍👦 कि'.repeat(300);
    const send = serve(() => text);
    const { result } = await send('tools/call', call);
    const [shown, note, link] = result.content;
    expect(note.text).toContain(`of ${text.length} characters`);
    const parts = [shown.text];
    let uri: string | undefined = link.uri;
    while (uri) {
      const { contents } = (await send('resources/read', { uri })).result;
      parts.push(contents[0].text);
      uri = contents[0]._meta['quiver/truncated'].uri;
    }
    expect(parts.join('')).toBe(text);
    const graphemes = (part: string): string[] =>
      Array.from(new Intl.Segmenter('und').segment(part), ({ segment }) => segment);
    expect(parts.flatMap(graphemes)).toEqual(graphemes(text));
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
    ['an element that is too long', () => ['x'.repeat(5_000), 'y']],
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
    expect(result.content.map(({ type }: { type: string }) => type)).toEqual([
      'text',
      'image',
      'text',
      'resource_link',
    ]);
    expect(result._meta).toMatchObject({ own: 1, 'quiver/truncated': { total: 1603, next: 800 } });
  });

  test('leaves out images, audio and files that exceed it, which their caller can read', async () => {
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
    const missing = (type: string, length: number): unknown[] => [
      { type: 'text', text: expect.stringContaining(`${type} with ${length} base64 characters was left out`) },
      expect.objectContaining({ type: 'resource_link', mimeType: type }),
    ];
    const [chart, caption, , , photo] = content;
    const left = [...missing('audio/wav', 2_000), ...missing('application/pdf', 404)];
    expect(result.content).toEqual([chart, caption, ...left, photo]);
    expect(result._meta['quiver/truncated']).toEqual({ files: 2 });
    const { uri } = result.content[3];
    const read = await send('resources/read', { uri });
    expect(read.result.contents).toEqual([{ uri, mimeType: 'audio/wav', blob: data(2_000) }]);
    expect((await send('resources/read', { uri }, 'eve')).error?.code).toBe(-32602);
  });

  test('in tokens leaves out images of more than 750,000 base64 characters', async () => {
    const image = (length: number): object => ({ type: 'image', data: 'A'.repeat(length), mimeType: 'image/png' });
    const send = serve(() => ({ content: [image(700_000), image(50_004), image(50_000)] }), {
      config: { resultLimit: { tokens: 1_000_000 } },
    });
    const { result } = await send('tools/call', call);
    expect(result.content.map(({ type }: { type: string }) => type)).toEqual([
      'image',
      'text',
      'resource_link',
      'image',
    ]);
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

  test('has no link for a client that does not know links, but the URI', async () => {
    const send = serve(() => rows);
    const { result } = await send('tools/call', call, 'ada', 'legacy');
    expect(result.content.map(({ type }: { type: string }) => type)).toEqual(['text', 'text']);
    expect(result.content[1].text).toContain('quiver-result://');
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

describe('the rest of a result', () => {
  const uriOf = async (send: ReturnType<typeof serve>): Promise<string> =>
    (await send('tools/call', call)).result.content[2].uri as string;

  test('exists only for the caller of the tool', async () => {
    const send = serve(() => rows);
    const uri = await uriOf(send);
    const foreign = await send('resources/read', { uri }, 'eve');
    const unknown = uri.replace(/[0-9a-f]{32}/, '0'.repeat(32));
    const missing = await send('resources/read', { uri: unknown }, 'eve');
    expect(foreign.error).toMatchObject({ code: -32602, message: `Resource not found: ${uri}` });
    expect(missing.error).toMatchObject({ code: -32602, message: `Resource not found: ${unknown}` });
    expect((await send('resources/list', {})).result.resources).toEqual([]);
  });

  test.each(['?offset=200', '?offset=999999999999', '?offset=-1', '?offset=x', '?page=1'])(
    'has no part %s',
    async (query) => {
      const send = serve(() => rows);
      const uri = (await uriOf(send)).replace(/\?.*/, query);
      expect((await send('resources/read', { uri })).error?.code).toBe(-32602);
    },
  );

  test('is deleted after ten minutes, and the oldest first when there are too many', async () => {
    let now = 0;
    const store = new ResultStore(
      new Instance({ store: new InMemoryStore(() => now), server: 'Limits', logger: silent }),
      () => now,
    );
    const keep = (whole: string): Promise<string | undefined> => store.keep({ principal: '', tool: 'list', whole });
    const first = (await keep('a')) ?? '';
    now += 600_000;
    expect(await store.find(first, '')).toBeUndefined();
    const large = 'x'.repeat(15 * 1024 * 1024);
    const uris: string[] = [];
    for (let count = 0; count < 5; count += 1) uris.push((await keep(large)) ?? '');
    const found = await Promise.all(uris.map((uri) => store.find(uri, '')));
    expect(found.map((result) => result !== undefined)).toEqual([false, true, true, true, true]);
    expect(await keep('x'.repeat(17 * 1024 * 1024))).toBeUndefined();
  });

  test.each([
    ['elements', Array.from({ length: 300 }, (_, id) => ({ id, text: 'a\0b\ud800\n\u2028🎉' }))],
    ['text', 'x\0\ud800y\n🎉'.repeat(300)],
  ])('of %s can be read from another instance with the same store', async (_title, value) => {
    const sharedStore = new InMemoryStore();
    const config = { sharedStore, resultLimit: { characters: 500 } };
    const [send, sendToOther] = [serve(() => value, { config }), serve(() => value, { config })];
    const { result } = await send('tools/call', call);
    const add = (text: string): void => {
      if (typeof value === 'string') parts.push(text);
      else parts.push(...JSON.parse(text).items);
    };
    const parts: unknown[] = [];
    add(result.content[0].text);
    for (let uri = result.content[2].uri; uri !== undefined;) {
      const { contents } = (await sendToOther('resources/read', { uri })).result;
      add(contents[0].text);
      uri = contents[0]._meta['quiver/truncated'].uri;
    }
    expect(typeof value === 'string' ? parts.join('') : parts).toEqual(value);
  });

  test.each([
    ['a head that is not JSON', () => 'x\n[1]'],
    ['another head', (value: string) => value.replace('"unit":"elements"', '"unit":"x"')],
    ['no head', () => ''],
    ['a body that is not JSON', (value: string) => `${value.slice(0, value.indexOf('\n'))}\n${'1]},\n'.repeat(200)}`],
  ])('is refused by name when the store has %s', async (_title, forge) => {
    const sharedStore = new InMemoryStore();
    const send = serve(() => rows, { config: { sharedStore, resultLimit: { characters: 500 } } });
    const { uri } = (await send('tools/call', call)).result.content[2];
    const [key = ''] = await sharedStore.keys('result/');
    await sharedStore.put(key, forge((await sharedStore.get(key))?.value ?? ''));
    const { error } = await send('resources/read', { uri });
    expect(error?.message).toContain('a result that MCPServer did not write');
    expect(silent.debug.mock.lastCall?.[1]).toMatchObject({ code: 'RESULT_RECORD_INVALID' });
  });

  test('is not offered when the store is unavailable', async () => {
    const sharedStore = { put: () => Promise.reject(new Error('store is down')) } as never;
    const store = new ResultStore(new Instance({ store: sharedStore, server: 'Limits', logger: silent }));
    expect(await store.keep({ principal: '', tool: 'list', whole: 'a' })).toBeUndefined();
    expect(silent.error.mock.lastCall?.[0]).toContain('store is down');
  });
});

describe('real clients', () => {
  async function listen(): Promise<URL> {
    const list = createTool({ id: 'list', description: 'Lists', execute: async () => rows });
    const config = { name: 'Limits', version: '1.0.0', resultLimit: { characters: 1_000 } };
    const { url, close } = await new MCPServer({ ...config, tools: { list } }).listen({ shutdownGrace: 100 });
    opened.push({ close });
    return new URL(url);
  }

  const kinds: [string, (url: URL) => Promise<RealClient>][] = [
    ['SDK 1', (url) => connectV1(new HttpV1(url))],
    ['SDK 2 (legacy)', (url) => connectV2('legacy', new HttpV2(url))],
    ['SDK 2 (modern)', (url) => connectV2(modernPin, new HttpV2(url))],
  ];
  test.each(kinds)('%s reads the rest of a result', async (_name, connect) => {
    const client = await connect(await listen());
    opened.unshift(client);
    const { content } = await client.callTool(call);
    const { contents } = await client.readResource({ uri: content[2].uri });
    const { next } = JSON.parse(content[0].text);
    expect(JSON.parse(contents[0].text).items[0]).toEqual(rows[next]);
    expect((await client.listResources()).resources).toEqual([]);
  });

  test.each(['legacy', 'modern'] as const)('MCPClient (%s) reads the rest of a result', async (protocol) => {
    const mcp = new MCPClient({ id: crypto.randomUUID(), servers: { it: { url: await listen(), protocol } } });
    opened.unshift({ close: () => mcp.disconnect() });
    const { content } = await mcp.callTool({ serverName: 'it', name: 'list' });
    const link = content.find(({ type }) => type === 'resource_link') as { uri: string };
    const { contents } = await mcp.resources.read('it', link.uri);
    expect(contents[0]).toMatchObject({ uri: link.uri, mimeType: 'application/json' });
  });
});

describe('limits', () => {
  test('of a tool replace that of the server', async () => {
    const unlimited = serve(() => rows, { mcp: { resultLimit: false } });
    expect((await unlimited('tools/call', call)).result.content).toHaveLength(1);
    const own = serve(() => rows, { mcp: { resultLimit: { characters: 500 } }, config: {} });
    const { content } = (await own('tools/call', call)).result;
    expect(content[0].text.length).toBeLessThanOrEqual(500);
    expect((await own('resources/read', { uri: content[2].uri })).error).toBeUndefined();
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
      expect.objectContaining({ code: 'RESULT_LIMIT_INVALID' }),
    );
  });
});
