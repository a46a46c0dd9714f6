import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, describe, expect, test } from 'vitest';
import { aborted, exampleTools, waiting } from '../../../test/servers/example-tools.ts';
import { initializeParams, modern, rpc, toRequest } from '../../../test/clients/wire.ts';
import { MCPServer } from '../mcp-server.js';
import type { FetchOptions } from './transport-options.js';
import { scratchFolder } from '../../../test/scratch-folder.js';

const server = new MCPServer({ name: 'Web', version: '1.0.0', tools: exampleTools });
const url = 'http://localhost/mcp';
afterAll(() => server.close());

const post = (body: unknown, headers: Record<string, string> = {}, init: RequestInit = {}): Request =>
  toRequest({ headers, body }, init);

async function openSession(options?: FetchOptions): Promise<Record<string, string>> {
  const response = await server.fetch(post(rpc('initialize', initializeParams)), options);
  await response.text();
  return { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' };
}

describe('fetch()', () => {
  test('sends JSON, and an event stream only when a message precedes the result', async () => {
    const session = await openSession();
    const whole = await server.fetch(post(rpc('tools/call', { name: 'echo', arguments: { message: 'ü' } }), session));
    expect(whole.headers.get('content-type')).toBe('application/json');
    expect(await whole.json()).toEqual({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'ü' }] } });
    const stream = await server.fetch(post(rpc('tools/call', { name: 'steps', _meta: { progressToken: 1 } }), session));
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    expect((await stream.text()).match(/^data: /gm)?.length).toBeGreaterThan(2);
  });

  test('knows the caller, and a session belongs to it', async () => {
    const authInfo = { token: 'a', userId: 'ada' };
    const session = await openSession({ authInfo });
    const whoami = rpc('tools/call', { name: 'whoami' });
    const mine = (await (await server.fetch(post(whoami, session), { authInfo })).json()) as {
      result: { content: [{ text: string }] };
    };
    expect(JSON.parse(mine.result.content[0].text)).toMatchObject({ authInfo: { extra: { userId: 'ada' } } });
    expect((await server.fetch(post(whoami, session))).status).toBe(404);
    expect((await server.fetch(post(whoami, session), { authInfo: { token: 'b' } })).status).toBe(404);
  });

  test('opens the standalone stream of a session, and ends the session with DELETE', async () => {
    const session = await openSession();
    const get = (): Promise<Response> =>
      server.fetch(new Request(url, { headers: { ...session, accept: 'text/event-stream' } }));
    const stream = await get();
    expect(stream.status).toBe(200);
    expect((await get()).status).toBe(409);
    await stream.body?.cancel();
    const again = await get();
    expect(again.status).toBe(200);
    expect((await server.fetch(new Request(url, { method: 'DELETE', headers: session }))).status).toBe(200);
    await again.text();
    expect((await server.fetch(post(rpc('ping'), session))).status).toBe(404);
  });

  test('cancels the call of a modern client that disconnects, before and after the response began', async () => {
    const call = modern('tools/call', { name: 'wait', arguments: { milliseconds: 60_000 } });
    const before = aborted.count;
    const started = waiting.count;
    const controller = new AbortController();
    void server.fetch(toRequest(call, { signal: controller.signal }));
    await expect.poll(() => waiting.count).toBe(started + 1);
    controller.abort();
    await expect.poll(() => aborted.count).toBe(before + 1);
  });

  test('lets a platform cancel the event stream of a client that disconnects', async () => {
    const session = await openSession();
    const controller = new AbortController();
    const headers = { accept: 'text/event-stream', ...session };
    const { body } = await server.fetch(new Request(url, { headers, signal: controller.signal }));
    controller.abort();
    // Deno's order; a stream that has failed by now would be logged.
    await expect(body?.cancel()).resolves.toBeUndefined();
  });

  test.each([
    ['truncated JSON', post('{"jsonrpc":'), 400],
    ['text', post(rpc('ping'), { 'content-type': 'text/plain' }), 415],
    ['a client that takes HTML', post(rpc('ping'), { accept: 'text/html' }), 406],
    ['no session', post(rpc('ping')), 400],
    ['an unknown session', post(rpc('ping'), { 'mcp-session-id': 'nobody' }), 404],
    ['PUT', new Request(url, { method: 'PUT' }), 405],
    ['no body', toRequest({}), 400],
  ])('%s is refused', async (_what, request, status) => {
    expect((await server.fetch(request)).status).toBe(status);
  });

  test('bytes that are not UTF-8 and bodies that are too large are refused', async () => {
    const stream = (bytes: Uint8Array, times: number): ReadableStream => {
      let sent = 0;
      return new ReadableStream({
        pull: (controller) => ((sent += 1) > times ? controller.close() : controller.enqueue(bytes)),
      });
    };
    const half = { duplex: 'half' } as RequestInit;
    const invalid = await server.fetch(post(stream(Uint8Array.of(0x7b, 0xff, 0x7d), 1), {}, half));
    expect([invalid.status, ((await invalid.json()) as { error: { code: number } }).error.code]).toEqual([400, -32700]);
    const megabyte = new Uint8Array(1024 * 1024).fill(0x20);
    expect((await server.fetch(post(stream(megabyte, 100), {}, half))).status).toBe(413);
    expect((await server.fetch(post(' '.repeat(5 * 1024 * 1024)))).status).toBe(413);
    const declared = post('{}', { 'content-length': String(64 * 1024 * 1024) });
    expect((await server.fetch(declared)).status).toBe(413);
  });

  test('a body may arrive in parts', async () => {
    const parts = JSON.stringify(rpc('ping')).match(/.{1,7}/g)!;
    const body = ReadableStream.from(parts.map((part) => new TextEncoder().encode(part))) as ReadableStream;
    const response = await server.fetch(post(body, await openSession(), { duplex: 'half' } as RequestInit));
    expect(await response.json()).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  });

  test('names of other hosts are refused over http, where a page could rebind them', async () => {
    const body = rpc('initialize', initializeParams);
    const status = async (target: string, headers: object = {}, options?: FetchOptions): Promise<number> =>
      (await server.fetch(toRequest({ headers, body }, {}, target), options)).status;
    expect(await status('http://evil.example/mcp')).toBe(403);
    expect(await status('http://localhost/mcp', { origin: 'http://evil.example' })).toBe(403);
    expect(await status('http://evil.example/mcp', {}, { allowedHosts: ['evil.example'] })).toBe(200);
    expect(await status('https://mcp.example/mcp')).toBe(200);
    expect(await status('https://mcp.example/mcp', {}, { allowedHosts: ['other.example'] })).toBe(403);
    expect(await status('http://127.0.0.1:8787/mcp', { origin: 'http://localhost:5173' })).toBe(200);
  });

  test('disconnects a reader that does not keep up, without an effect on others', async () => {
    const flood = new MCPServer({
      name: 'Flood',
      version: '1.0.0',
      tools: {
        ...exampleTools,
        flood: {
          description: 'Sends 64 MiB before its answer',
          execute: async (_input: unknown, context: { mcp: { log(level: string, text: string): Promise<void> } }) => {
            for (let count = 0; count < 64; count += 1) await context.mcp.log('info', 'x'.repeat(1024 * 1024));
            return 'done';
          },
        },
      },
    });
    const stalled = await flood.fetch(post(rpc('tools/call', { name: 'flood' })), { serverless: true });
    await new Promise((resolve) => setTimeout(resolve, 50));
    await expect(stalled.text()).rejects.toThrow('keep up');
    const echo = await flood.fetch(post(rpc('tools/call', { name: 'echo', arguments: { message: 'a' } })), {
      serverless: true,
    });
    expect(echo.status).toBe(200);
    await flood.close();
  });
});

describe('on platforms without Node', () => {
  const here = dirname(fileURLToPath(import.meta.url));
  // One file, as for a Worker: its static imports include those of modules that the sources import dynamically.
  const bundle = async () => {
    const { outputFiles, metafile } = await build({
      entryPoints: [join(here, '../index.ts')],
      bundle: true,
      format: 'esm',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      conditions: ['@quiver/source', 'workerd', 'import'],
      external: ['node:*', 'ai'],
      // Globals of Node become undefined names.
      define: { process: 'absent', Buffer: 'absent', setImmediate: 'absent', global: 'absent' },
      outfile: 'server.js',
      write: false,
      metafile: true,
      logLevel: 'silent',
    });
    return { code: outputFiles[0]?.text ?? '', imports: metafile.outputs['server.js']?.imports };
  };

  test('a bundle of @quiver/mcp/server imports no Node module at startup', async () => {
    const { imports } = await bundle();
    expect(imports).toContainEqual({ path: 'node:http', kind: 'dynamic-import', external: true });
    expect(imports?.filter(({ kind }) => kind === 'import-statement')).toEqual([]);
  });

  test('a bundle answers both eras where process, Buffer and setImmediate do not exist', async () => {
    const { code } = await bundle();
    const directory = scratchFolder();
    writeFileSync(join(directory, 'server.js'), code);
    writeFileSync(join(directory, 'package.json'), '{ "type": "module" }');
    const ask = modern('tools/call', {
      name: 'ask',
      _meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } },
    });
    writeFileSync(
      join(directory, 'run.js'),
      `const { randomUUID, getRandomValues } = crypto;
       // As Workers do while a module loads.
       crypto.randomUUID = crypto.getRandomValues = () => { throw new Error('No random values at startup.'); };
       const { MCPServer } = await import('./server.js');
       const requestedSchema = { type: 'object', properties: { a: { type: 'string' } } };
       const ask = { description: 'd', execute: async (_, { mcp }) => (await mcp.elicitation.sendRequest({ message: 'm', requestedSchema })).action };
       const echo = { description: 'd', inputSchema: { type: 'object', properties: { a: { type: 'string' } } }, execute: async ({ a }) => a };
       const server = new MCPServer({ name: 'n', version: '1', tools: { ask, echo } });
       Object.assign(crypto, { randomUUID, getRandomValues });
       for (const { headers, body } of JSON.parse(process_argument)) {
         Object.assign(headers, { 'content-type': 'application/json' });
         const init = { method: 'POST', headers, body: JSON.stringify(body) };
         const response = await server.fetch(new Request('http://localhost/mcp', init), { serverless: true });
         console.log(await response.text());
       }`.replace(
        'process_argument',
        JSON.stringify(
          JSON.stringify([ask, { headers: {}, body: rpc('tools/call', { name: 'echo', arguments: { a: 'ü' } }) }]),
        ),
      ),
    );
    const { stdout } = await promisify(execFile)(process.execPath, [join(directory, 'run.js')]);
    const [asked, echoed] = stdout.trim().split('\n');
    expect(JSON.parse(asked ?? '')).toMatchObject({ result: { resultType: 'input_required' } });
    expect(JSON.parse(echoed ?? '')).toMatchObject({ result: { content: [{ text: 'ü' }] } });
  });
});
