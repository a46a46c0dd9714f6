// Each program does what it shows, and the documentation quotes it as it is.
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { after, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { MCPClient } from '@quiver/mcp/client';

const sources = fileURLToPath(new URL('../src/', import.meta.url));
const notes = fileURLToPath(new URL('../notes', import.meta.url));

/** The programs run in an empty folder, as somebody who reads the README saves them: as JavaScript. */
const folder = mkdtempSync(join(sources, '../check/saved-'));
after(() => rmSync(folder, { recursive: true }));
for (const name of readdirSync(sources))
  writeFileSync(join(folder, name.replace('.ts', '.mjs')), readFileSync(join(sources, name)));

function start(name: string, words: string[] = [], env: NodeJS.ProcessEnv = {}): ChildProcess {
  return spawn(process.execPath, [join(folder, name.replace('.ts', '.mjs')), ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, PORT: '0', ...env },
  });
}

/** Plays the API of the model provider: it calls the tool, and then says what it received. */
async function startModel(t: TestContext): Promise<NodeJS.ProcessEnv> {
  const server = createServer(async (request, response) => {
    const { input } = JSON.parse(await text(request)) as { input: { type?: string; output?: unknown }[] };
    const result = input.find(({ type }) => type === 'function_call_output');
    const call = {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'c1',
      name: 'weather_weather',
      arguments: '{"city":"Oslo"}',
    };
    const content = [
      { type: 'output_text', text: `The tool answered: ${JSON.stringify(result?.output)}`, annotations: [] },
    ];
    const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content };
    const usage = { input_tokens: 1, output_tokens: 1 };
    const body = { id: 'r1', created_at: 1, model: 'gpt-5.1', output: [result ? message : call], usage };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { OPENAI_API_KEY: 'test', OPENAI_BASE_URL: `http://127.0.0.1:${port}` };
}

async function outputOf(name: string, words: string[], env?: NodeJS.ProcessEnv): Promise<string> {
  const child = start(name, words, env);
  assert(child.stdout);
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  assert.equal(child.exitCode, 0);
  return output;
}

function connect(t: TestContext, name: string, ...args: string[]): MCPClient {
  const client = new MCPClient({
    id: name,
    servers: { it: { command: process.execPath, args: [join(folder, name.replace('.ts', '.mjs')), ...args] } },
  });
  t.after(() => client.disconnect());
  return client;
}

test('a server over stdio', async (t) => {
  const { it_coat: coat } = await connect(t, 'stdio-server.ts').listTools();
  assert(coat);
  assert.deepEqual(await coat.execute({ celsius: 4 }), { coat: 'winter coat' });
});

test('a server over HTTP, and an agent that calls it', async (t) => {
  const server = start('http-server.ts');
  t.after(() => server.kill());
  assert(server.stdout);
  const { value: line } = await createInterface(server.stdout)[Symbol.asyncIterator]().next();
  assert(line);
  assert.match(await outputOf('agent.ts', [line.replace('Serving ', '')], await startModel(t)), /Oslo.*celsius.*4/);
  const exit = once(server, 'exit');
  server.kill('SIGTERM');
  assert.deepEqual(await exit, [0, null]);
});

test('a search in a folder', async () => {
  const output = await outputOf('search-folder.ts', [notes, 'Where can I buy a winter coat?']);
  assert.match(output, /clothing\.md\n.*winter coat. The shop on Harbor Street/s);
});

test('a search tool for hosts', async (t) => {
  const { it_searchNotes: search } = await connect(t, 'documents-server.ts', notes).listTools();
  assert(search);
  assert.match(JSON.stringify(await search.execute({ queryText: 'When is the shop closed?' })), /except on Sundays/);
});

test('programs have at most 40 lines of 80 characters, and the documentation quotes them', () => {
  const repository = fileURLToPath(new URL('../../../', import.meta.url));
  const pages = globSync(['README.md', 'docs/**/*.md', 'examples/minimal/README.md'], {
    cwd: repository,
    exclude: (path) => /node_modules|reference\/api/.test(path),
  }).map((path) => readFileSync(join(repository, path), 'utf8'));
  for (const name of readdirSync(sources)) {
    const program = readFileSync(join(sources, name), 'utf8');
    const lines = program.split('\n');
    assert.ok(lines.length <= 41, `${name} has ${lines.length} lines`);
    assert.ok(
      lines.every(({ length }) => length <= 80),
      `${name} has a line of more than 80 characters`,
    );
    assert.ok(
      pages.some((page) => page.includes(program)),
      `no page quotes ${name}`,
    );
  }
});
