import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { Server } from '@modelcontextprotocol/server';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { eras } from '../../test/eras.ts';
import { serveHttp } from '../../test/after-test.ts';
import { exampleTools } from '../../test/servers/example-tools.ts';
import { startFaultProxy, type Fault } from '../../test/stores/fault-proxy.ts';
import { discovered, result, startScripted } from '../../test/servers/scripted-server.ts';
import { commandFor } from '../../test/programs/spawn-server.ts';
import { MCPServer } from '../server/mcp-server.js';
import { MCPClient } from './mcp-client.js';
import { scratchFolder } from '../../test/scratch-folder.js';
import { clientOf } from '../../test/clients/client-of.ts';

const scratch = scratchFolder();
const server = new MCPServer({ name: 'Example', version: '1', tools: exampleTools });
const http = await server.listen();
afterAll(() => server.close());

/** Starts a server that stops before the end of the test. */
async function listen(port = 0): Promise<{ url: string; port: number; stop: () => Promise<void> }> {
  const other = new MCPServer({ name: 'Other', version: '1', tools: exampleTools });
  const stop = (): Promise<void> => other.close({ grace: 0 });
  onTestFinished(stop);
  return { ...(await other.listen({ port })), stop };
}

/** A child process that says these lines of JavaScript. */
const child = (script: string): { command: string; args: string[] } => ({
  command: process.execPath,
  args: ['-e', script],
});

/** JavaScript of a minimal server over stdio: `answer(message)` returns text to write, or nothing. */
const minimal = (answer: string): string => `
  const answer = ${answer};
  require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const m = JSON.parse(line);
    const write = (o) => process.stdout.write((typeof o === 'string' ? o : JSON.stringify(o)) + '\\n');
    const reply = (result) => write({ jsonrpc: '2.0', id: m.id, result });
    if (m.method === 'initialize')
      reply({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'm', version: '1' } });
    else if (m.method === 'tools/list' && !answer.lists)
      reply({ tools: [{ name: 'go', inputSchema: { type: 'object' } }] });
    else if (m.id !== undefined) answer(m, reply, write);
  });`;

describe('what the network does', () => {
  const faults: [string, Fault, string][] = [
    ['reset', { kind: 'reset' }, 'MCP_CONNECTION_CLOSED'],
    ['half-open', { kind: 'half-open' }, 'MCP_REQUEST_TIMEOUT'],
    ['truncated headers', { kind: 'truncate', bytes: 30 }, 'MCP_CONNECTION_CLOSED'],
    ['truncated body', { kind: 'truncate', bytes: 300 }, 'MCP_CONNECTION_CLOSED'],
  ];

  test.each(eras)('%s: every fault ends in a named error, and the next call works', async (protocol) => {
    const proxy = await startFaultProxy(http.port);
    const mcp = clientOf({ it: { url: `http://127.0.0.1:${proxy.port}/mcp`, protocol } }, { timeout: 3000 });
    const echo = (): Promise<unknown> =>
      mcp.callTool({ serverName: 'it', name: 'echo', args: { message: 'x'.repeat(500) } });
    await echo();
    for (const [name, fault, reason] of faults) {
      proxy.setFault(fault);
      expect(await echo().catch((error: unknown) => error), name).toMatchObject({ details: { reason } });
      // Sent, and not sent again.
      expect(proxy.passed, name).toBeLessThanOrEqual(2);
      proxy.setFault({ kind: 'none' });
      expect(await echo(), name).toMatchObject({ content: [{ text: 'x'.repeat(500) }] });
    }
    proxy.setFault({ kind: 'latency', milliseconds: 100 });
    expect(await echo()).toMatchObject({ content: [{}] });
  });

  test('fails at once when an event stream breaks off, before the timeout', async () => {
    const proxy = await startFaultProxy(http.port);
    const mcp = clientOf(
      { it: { url: `http://127.0.0.1:${proxy.port}/mcp`, protocol: 'legacy' } },
      { timeout: 300_000 },
    );
    await mcp.listTools();
    const progress: number[] = [];
    const call = mcp.callTool({
      serverName: 'it',
      name: 'steps',
      onProgress: (update) => {
        progress.push(update.progress);
        proxy.setFault({ kind: 'truncate', bytes: 0 });
      },
    });
    expect(await call.catch((error: unknown) => error)).toMatchObject({ details: { reason: 'MCP_CONNECTION_CLOSED' } });
    expect(progress).toContain(1);
  });

  test('a server that is down is not stormed, and is found when it is back', async () => {
    const first = await listen();
    await first.stop();
    const attempts: unknown[] = [];
    const mcp = clientOf({
      it: {
        url: first.url,
        protocol: 'legacy',
        fetch: (url, init) => {
          attempts.push(url);
          return fetch(url, init);
        },
      },
    });
    const until = performance.now() + 800;
    while (performance.now() < until || attempts.length < 3) {
      await mcp.listToolsWithErrors();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(attempts.length).toBeLessThan(9);
    expect(mcp.status()['it']).toMatchObject({ state: 'failed', error: { code: 'MCP_CLIENT_CONNECT_FAILED' } });
    await listen(first.port);
    await mcp.reconnectServer('it');
    expect(Object.keys(await mcp.listTools())).toContain('it_echo');
  });

  test('reconnects a client with subscriptions without a request', async () => {
    const first = await listen();
    const mcp = clientOf({
      it: {
        url: first.url,
        protocol: 'legacy',
        reconnectionOptions: {
          initialReconnectionDelay: 50,
          maxReconnectionDelay: 100,
          reconnectionDelayGrowFactor: 1,
          maxRetries: 100_000,
        },
      },
    });
    await mcp.tools.onListChanged('it', () => {});
    await mcp.listTools();
    const { it: session } = mcp.sessionIds;
    await first.stop();
    await listen(first.port);
    await expect.poll(() => mcp.sessionIds['it'] ?? session).not.toBe(session);
  });
});

test.each(['/mcp', '/sse'])('no header follows a redirect of %s to another host', async (path) => {
  const seen: string[] = [];
  const other = await serveHttp((req, res) => {
    seen.push(JSON.stringify(req.headers));
    res.end();
  });
  const elsewhere = `http://localhost:${other.port}${path}`;
  const { origin } = await serveHttp((_req, res) => void res.writeHead(307, { location: elsewhere }).end());
  const url = `${origin}${path}`;
  const key = { 'x-api-key': 'secret' };
  const mcp = clientOf({
    fixed: { url, headers: key },
    init: { url, requestInit: { headers: key } },
    own: { url, headers: key, fetch: (to, init) => fetch(to, init) },
  });
  const { errors } = await mcp.listToolsWithErrors();
  expect(Object.keys(errors)).toEqual(['fixed', 'init', 'own']);
  expect(seen).toEqual([]);
});

describe('what servers say', () => {
  test('late, unknown and doubled answers are ignored', async () => {
    const mcp = clientOf({
      it: child(
        minimal(`(m, reply, write) => {
          write({ jsonrpc: '2.0', id: 999, result: { content: [] } });
          write({ jsonrpc: '2.0', method: 'notifications/unheard', params: { x: 1 } });
          reply({ content: [{ type: 'text', text: 'call ' + m.params.arguments.n }] });
          reply({ content: [{ type: 'text', text: 'again' }] });
        }`),
      ),
    });
    for (const n of [1, 2, 3]) {
      expect(await mcp.callTool({ serverName: 'it', name: 'go', args: { n } })).toMatchObject({
        content: [{ text: `call ${n}` }],
      });
    }
  });

  test('a list that never ends is an error, also when every page differs', async () => {
    const lists = (next: string): string =>
      minimal(`Object.assign((m, reply) => reply({
        tools: [{ name: 't' + (m.params?.cursor ?? 0), inputSchema: { type: 'object' } }],
        nextCursor: ${next},
      }), { lists: true })`);
    const mcp = clientOf({
      growing: child(lists('String(Number(m.params?.cursor ?? 0) + 1)')),
      good: { url: http.url },
    });
    const { tools, errorDetails } = await mcp.listToolsWithErrors();
    expect(errorDetails['growing']).toMatchObject({ code: 'MCP_LIST_ENDLESS' });
    expect(Object.keys(tools)).toContain('good_echo');
  });

  test('ten thousand tools and five megabytes are listed', async () => {
    const mcp = clientOf({
      many: child(
        minimal(`Object.assign((m, reply) => reply({
          tools: Array.from({ length: 10000 }, (_, i) => ({
            name: 'tool' + i, description: 'd'.repeat(450), inputSchema: { type: 'object' } })),
        }), { lists: true })`),
      ),
    });
    expect(Object.keys(await mcp.listTools())).toHaveLength(10_000);
  });

  test('an endless line ends the child and the call', async () => {
    const mcp = clientOf({
      it: child(minimal("() => { for (let i = 0; i < 64; i += 1) process.stdout.write('x'.repeat(1024 * 1024)); }")),
    });
    await mcp.listTools();
    const before = process.memoryUsage().rss;
    const error = await mcp.callTool({ serverName: 'it', name: 'go' }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      details: { reason: 'MCP_CONNECTION_CLOSED' },
      message: expect.stringContaining('10485760'),
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(120 * 1024 * 1024);
  });

  test('an endless HTTP answer ends the call', async () => {
    const { origin } = await serveHttp((req: IncomingMessage, res: ServerResponse) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      const more = (): void => {
        while (!res.destroyed && res.write(Buffer.alloc(1024 * 1024, 0x20)));
      };
      res.on('drain', more);
      req.resume();
      more();
    });
    const url = `${origin}/mcp`;
    const mcp = clientOf({ it: { url, protocol: 'legacy', transport: 'http', connectTimeout: 60_000 } });
    const { errors } = await mcp.listToolsWithErrors();
    expect(errors['it']).toMatch(/longer than|no answer/);
  });

  test('a custom fetch whose bodies are never canceled delays neither calls nor disconnect()', async () => {
    let canceled = 0;
    const stubborn = async (to: string | URL, init?: RequestInit): Promise<Response> => {
      const response = await fetch(to, { ...init, signal: null });
      const reader = response.body?.getReader();
      const pull = async (controller: ReadableStreamDefaultController): Promise<void> => {
        const { done = true, value } = (await reader?.read()) ?? {};
        if (done) controller.close();
        else controller.enqueue(value);
      };
      const cancel = (): Promise<void> => {
        canceled += 1;
        return new Promise(() => {});
      };
      return response.body ? new Response(new ReadableStream({ pull, cancel }), response) : response;
    };
    const url = `http://127.0.0.1:${http.port}/mcp`;
    const mcp = clientOf({ it: { url, protocol: 'legacy', fetch: stubborn } }, { timeout: 0 });
    const call = { serverName: 'it', name: 'echo', args: { message: 'hello' } };
    expect(await mcp.callTool(call)).toMatchObject({ content: [{ text: 'hello' }] });
    await mcp.disconnect();
    expect(await mcp.callTool(call)).toMatchObject({ content: [{ text: 'hello' }] });
    await mcp.disconnect();
    expect(canceled).toBeGreaterThan(0);
  });

  test('a flood on standard error stops nothing', async () => {
    const mcp = clientOf({
      it: child(
        minimal(`(m, reply) => {
          for (let i = 0; i < 10; i += 1) process.stderr.write('e'.repeat(1024 * 1024) + i);
          reply({ content: [{ type: 'text', text: 'done' }] });
        }`),
      ),
    });
    expect(await mcp.callTool({ serverName: 'it', name: 'go' })).toMatchObject({ content: [{ text: 'done' }] });
    await expect.poll(() => mcp.getServerStderr('it')?.endsWith('9')).toBe(true);
    expect(mcp.getServerStderr('it')?.length).toBeLessThanOrEqual(8200);
  });

  test('split characters, CRLF and many messages in one chunk are all read', async () => {
    const mcp = clientOf({
      it: child(
        minimal(`(m, reply, write) => {
          if (m.params.arguments.many) {
            const one = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress',
              params: { progressToken: m.params._meta.progressToken, progress: 1 } });
            process.stdout.write((one + '\\r\\n').repeat(10000));
            return reply({ content: [] });
          }
          const bytes = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: m.id,
            result: { content: [{ type: 'text', text: 'äöü😀'.repeat(50) }] } }) + '\\r\\n');
          let at = 0;
          const step = () => { process.stdout.write(bytes.subarray(at, at += 7)); if (at < bytes.length) setImmediate(step); };
          step();
        }`),
      ),
    });
    expect(await mcp.callTool({ serverName: 'it', name: 'go', args: {} })).toMatchObject({
      content: [{ text: 'äöü😀'.repeat(50) }],
    });
    let reports = 0;
    await mcp.callTool({ serverName: 'it', name: 'go', args: { many: true }, onProgress: () => (reports += 1) });
    expect(reports).toBe(10_000);
  });

  test('a message of a child that is none, or too deep to be written again, does no harm', async () => {
    const mcp = clientOf({
      it: child(
        minimal(`(m, reply, write) => {
          write('{"jsonrpc":"2.0","id":7,"result":null}');
          write('{"jsonrpc":"2.0","own":' + '['.repeat(50000) + ']'.repeat(50000) + '}');
          reply({ content: [{ type: 'text', text: 'done' }] });
        }`),
      ),
    });
    expect(await mcp.callTool({ serverName: 'it', name: 'go' })).toMatchObject({ content: [{ text: 'done' }] });
  });

  test('control characters of a server are escaped in logs and errors', async () => {
    const messages: string[] = [];
    const mcp = clientOf({
      it: {
        ...child(
          minimal(`(m, reply, write) => {
            write({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'a\\u001b[2J\\u202eb\\nc' } });
            write({ jsonrpc: '2.0', id: m.id, error: { code: -32603, message: 'x\\u001b[31m\\u200by' } });
          }`),
        ),
        log: ({ message }) => messages.push(message),
      },
    });
    const error = await mcp.callTool({ serverName: 'it', name: 'go' }).catch((thrown: Error) => thrown);
    expect((error as Error).message).toContain(String.raw`x\u001b[31m\u200by`);
    expect(messages).toContain(String.raw`[it] a\u001b[2J\u202eb\u000ac`);
  });
});

describe('time', () => {
  test('a child that ignores everything is killed when the client disconnects', async () => {
    const mcp = clientOf({
      it: child(`process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);
        ${minimal("(m, reply) => reply({ content: [{ type: 'text', text: String(process.pid) }] })")}
        process.stdin.on('end', () => {});`),
    });
    const result = await mcp.callTool({ serverName: 'it', name: 'go' });
    const pid = Number((result.content[0] as { text: string }).text);
    expect(isAlive(pid)).toBe(true);
    await mcp.disconnect();
    expect(isAlive(pid)).toBe(false);
  });

  test.skipIf(process.platform !== 'linux')(
    'a child ends with a host that exits before the child has started',
    async () => {
      const mark = `mark-${randomUUID()}`;
      const { args } = commandFor('starting-host.ts', mark);
      await promisify(execFile)(process.execPath, args);
      const isMarked = (pid: string): boolean => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
        } catch {
          return false;
        }
      };
      await expect.poll(() => readdirSync('/proc').filter(isMarked)).toEqual([]);
    },
  );

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL', 'exit', 'exception', 'rejection'] as const)(
    'children and their children end with the host: %s',
    async (end) => {
      const { host, pids } = await startHost(end);
      const exited = once(host, 'exit');
      if (isSignal(end)) host.kill(end);
      await exited;
      // After SIGKILL no process is left to end a grandchild; the child sees the end of its input.
      const mortal = end === 'SIGKILL' ? pids.slice(0, 1) : pids;
      for (const pid of pids.slice(mortal.length)) onTestFinished(() => void process.kill(pid, 'SIGKILL'));
      await expect.poll(() => mortal.filter(isAlive)).toEqual([]);
    },
  );

  test('a signal that the application handles once leaves the host and its children alive', async () => {
    const { host, pids } = await startHost('once');
    const exited = once(host, 'exit');
    host.kill('SIGTERM');
    // The handler calls a tool of the child before it ends the process.
    expect(await exited).toEqual([7, null]);
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  });

  test('the timeout stands still while a person answers', async () => {
    const mcp = clientOf({ it: { url: http.url, protocol: 'modern' } }, { timeout: 2000 });
    await mcp.elicitation.onRequest('it', async ({ message }) => {
      // A call that began after the input request ends by its timeout before the person answers.
      const late = mcp.callTool({ serverName: 'it', name: 'wait', args: { milliseconds: 60_000 } });
      await expect(late).rejects.toMatchObject({ details: { reason: 'MCP_REQUEST_TIMEOUT' } });
      return { action: 'accept', content: message.includes('old') ? { age: 1 } : { name: 'Ada' } };
    });
    // Sets up the connection, which is not part of the time of a call.
    await mcp.listTools();
    const answered = await mcp.callTool({ serverName: 'it', name: 'contact', args: {} });
    expect(answered).toMatchObject({ content: [{ text: 'Hello Ada, 1' }] });
  });

  test('questions without end are cut off', async () => {
    const params = { mode: 'form', message: 'Again?', requestedSchema: { type: 'object', properties: {} } };
    const inputRequests = { q: { method: 'elicitation/create', params } };
    const { url } = await startScripted({
      'server/discover': result(discovered),
      'tools/call': result({ resultType: 'input_required', inputRequests }),
    });
    const mcp = clientOf({ it: { url, protocol: 'modern', maxInputRounds: 3 } });
    let rounds = 0;
    await mcp.elicitation.onRequest('it', async () => {
      rounds += 1;
      return { action: 'accept', content: {} };
    });
    await expect(mcp.callTool({ serverName: 'it', name: 'go' })).rejects.toMatchObject({
      details: { reason: 'MCP_INPUT_ROUNDS_EXCEEDED' },
    });
    expect(rounds).toBe(3);
  });

  test('disconnecting does not wait for a server that leaves the set-up unanswered', async () => {
    const silent = minimal('() => {}').replace('{ tools: {} }', '{ tools: {}, logging: {} }');
    const mcp = clientOf({ it: { ...child(silent), serverLogLevel: 'info' } }, { timeout: 300_000 });
    const listing = mcp.listToolsWithErrors();
    await expect.poll(() => mcp.status()['it']?.state).toBe('ready');
    await mcp.disconnect();
    await listing;
  });

  test('what was listed before a disconnection is asked for again', async () => {
    let listed = 0;
    const lists = new Server({ name: 'lists', version: '1' }, { capabilities: { tools: { listChanged: true } } });
    lists.setRequestHandler('tools/list', async () => ({
      tools: [{ name: `t${(listed += 1)}`, inputSchema: { type: 'object' as const } }],
    }));
    const mcp = clientOf({ it: lists });
    expect(Object.keys(await mcp.listTools())).toEqual(['it_t1']);
    expect(Object.keys(await mcp.listTools())).toEqual(['it_t1']);
    await mcp.reconnectServer('it');
    expect(Object.keys(await mcp.listTools())).toEqual(['it_t2']);
    await mcp.disconnect();
    expect(Object.keys(await mcp.listTools())).toEqual(['it_t3']);
  });

  test('the time of all servers together is bounded by the caller', async () => {
    const mcp = clientOf({
      slow: { ...child('setInterval(() => {}, 1000)'), connectTimeout: 20_000 },
      good: { url: http.url },
    });
    // The server that answers is connected: on a busy machine, connecting may take longer than the limit.
    await mcp.reconnectServer('good');
    const { tools, errors, durations } = await mcp.listToolsWithErrors({ perServerTimeoutMs: 1000 });
    expect(errors['slow']).toContain('1000 ms');
    expect(durations['slow']).toBeLessThan(20_000);
    expect(Object.keys(tools)).toContain('good_echo');
  });
});

describe('sending again', () => {
  const dying = (annotations: string, file: string): { command: string; args: string[] } =>
    child(
      minimal(`Object.assign((m, reply) => {
        const fs = require('fs');
        if (m.method === 'tools/list')
          return reply({ tools: [{ name: 'go', inputSchema: { type: 'object' }, annotations: ${annotations} }] });
        fs.appendFileSync(${JSON.stringify(file)}, 'run\\n');
        if (fs.readFileSync(${JSON.stringify(file)}, 'utf8').split('\\n').length < 3) process.kill(process.pid, 'SIGKILL');
        reply({ content: [{ type: 'text', text: 'survived' }] });
      }, { lists: true })`),
    );

  test('after a killed process: a call is not repeated, also of an idempotent tool', async () => {
    const file = join(scratch, 'runs');
    const mcp = clientOf({ it: dying('{ idempotentHint: true }', file) });
    const tools = await mcp.listTools();
    await expect(tools['it_go']?.execute({})).rejects.toMatchObject({ code: 'MCP_CONNECTION_CLOSED' });
    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(1);
  });

  test('a session of an earlier connection is taken up', async () => {
    const seen: string[] = [];
    const spy = (url: string | URL, init?: RequestInit): Promise<Response> => {
      const { method } = JSON.parse(typeof init?.body === 'string' ? init.body : '{}') as { method?: string };
      seen.push(`${method ?? init?.method} ${new Headers(init?.headers).get('mcp-session-id') ?? '-'}`);
      return fetch(url, init);
    };
    const opened = await fetch(http.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
      }),
    });
    await opened.text();
    const sessionId = opened.headers.get('mcp-session-id') ?? '';
    const mcp = clientOf({ it: { url: http.url, protocol: 'legacy', sessionId, fetch: spy } });
    expect(Object.keys(await mcp.listTools())).toContain('it_echo');
    expect(seen).toEqual([`tools/list ${sessionId}`]);
    // A session that is gone is replaced.
    const lost = clientOf({ it: { url: http.url, protocol: 'legacy', sessionId: 'gone', fetch: spy } });
    expect(Object.keys(await lost.listTools())).toContain('it_echo');
  });
});

test('forty connections leave nothing behind', async () => {
  const count = (): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1;
    return counts;
  };
  const cycle = async (protocol: 'legacy' | 'modern'): Promise<void> => {
    await using mcp = new MCPClient({ servers: { it: { url: http.url, protocol }, ours: { server } } });
    await mcp.tools.onListChanged('it', () => {});
    await mcp.listTools();
    await mcp.callTool({ serverName: 'it', name: 'echo', args: { message: 'x' } });
  };
  await cycle('legacy');
  await cycle('modern');
  const before = count();
  const listeners = process.listenerCount('exit') + process.listenerCount('SIGTERM');
  for (let round = 0; round < 20; round += 1) {
    await cycle('legacy');
    await cycle('modern');
  }
  await expect.poll(() => (count()['Timeout'] ?? 0) - (before['Timeout'] ?? 0)).toBeLessThanOrEqual(3);
  await expect.poll(() => (count()['TCPSocketWrap'] ?? 0) - (before['TCPSocketWrap'] ?? 0)).toBeLessThanOrEqual(6);
  expect(process.listenerCount('exit') + process.listenerCount('SIGTERM')).toBeLessThanOrEqual(listeners);
});

test('children leave no listeners behind', async () => {
  const count = (): number[] => ['exit', 'SIGTERM', 'SIGINT', 'SIGHUP'].map((name) => process.listenerCount(name));
  const before = count();
  for (let round = 0; round < 2; round += 1) {
    await using mcp = new MCPClient({
      servers: { a: commandFor('stdio-server.ts'), b: commandFor('stdio-server.ts') },
    });
    await mcp.listTools();
  }
  // Children of the tests before may still be on their way out, so there may be fewer now.
  await expect.poll(() => count().every((listeners, signal) => listeners <= (before[signal] ?? 0))).toBe(true);
});

/** Starts a program with a child, which has a child too. Returns the ids of both. */
async function startHost(end: string): Promise<{ host: ChildProcess; pids: number[] }> {
  const { command, args } = commandFor('host.ts', end);
  const host = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = (await once(host.stdout, 'data')) as [Buffer];
  const pids = JSON.parse(line.toString('utf8')) as number[];
  expect(pids).toHaveLength(2);
  return { host, pids };
}

function isSignal(name: string): name is NodeJS.Signals {
  return name.startsWith('SIG');
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie without a waiting parent counts as dead.
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}
