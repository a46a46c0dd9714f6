// Each program does what it shows, and the documentation quotes it as it is.
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { MCPClient } from '@quiver/mcp/client';

const sources = fileURLToPath(new URL('../src/', import.meta.url));
const notes = fileURLToPath(new URL('../notes', import.meta.url));

function start(name: string, ...words: string[]): ChildProcess {
  const { OPENAI_API_KEY: _key, ...env } = process.env;
  return spawn(process.execPath, [join(sources, name), ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...env, PORT: '0' },
  });
}

async function outputOf(name: string, ...words: string[]): Promise<string> {
  const child = start(name, ...words);
  assert(child.stdout);
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  assert.equal(child.exitCode, 0);
  return output;
}

function connect(t: TestContext, name: string, ...args: string[]): MCPClient {
  const client = new MCPClient({
    id: name,
    servers: { it: { command: process.execPath, args: [join(sources, name), ...args] } },
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
  assert.match(await outputOf('agent.ts', line.replace('Serving ', '')), /Oslo.*celsius.*4/);
  const exit = once(server, 'exit');
  server.kill('SIGTERM');
  assert.deepEqual(await exit, [0, null]);
});

test('a search in a folder', async () => {
  const output = await outputOf('search-folder.ts', notes, 'Where can I buy a winter coat?');
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
  for (const name of readdirSync(sources).filter((file) => file !== 'rehearsed-model.ts')) {
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
