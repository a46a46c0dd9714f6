// Each program does what it shows, and the documentation quotes it verbatim. The check of the README runs the three programs that it prints.
import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { MCPClient } from '@quiver/mcp/client';

const sources = fileURLToPath(new URL('../src/', import.meta.url));
const notes = fileURLToPath(new URL('../notes', import.meta.url));

/** The programs run in an empty folder, as a reader of the README saves them: as JavaScript. */
const folder = mkdtempSync(join(sources, '../check/saved-'));
after(() => rmSync(folder, { recursive: true }));
for (const name of readdirSync(sources))
  writeFileSync(join(folder, name.replace('.ts', '.mjs')), readFileSync(join(sources, name)));

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
