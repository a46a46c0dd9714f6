import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRequire } from 'node:module';
import { json } from 'node:stream/consumers';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createDocsServer, openIndex } from '../src/docs-server.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const inspector = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json')),
  'clients/launcher/build/index.js',
);

let scratch: string;
let notes: string;
let index: string;

/** Two sections, each long enough to be a separate passage. */
const tea = (degrees: number): string =>
  `# Tea\n\nGreen tea wants water of ${degrees} degrees. It is steamed or roasted soon after it was picked, so its leaves stay green. Steep it for two minutes at most, because it turns bitter after that, and use the same leaves a second and a third time.\n\n## Milk\n\nNever in green tea. Its taste is too fine for it. Black tea from Assam or Ceylon is strong enough; pour the tea first and the milk after it, so that you can see how much of it the cup still takes, and add sugar last if you like.\n`;

before(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'quiver-docs-server-'));
  notes = join(scratch, 'notes');
  index = join(scratch, 'index');
  await mkdir(join(notes, 'deep'), { recursive: true });
  await writeFile(join(notes, 'tea.md'), tea(80));
  await writeFile(join(notes, 'deep', 'coffee.md'), '# Coffee\n\nCoffee wants water of 94 degrees.\n');
  await writeFile(join(notes, 'picture.md'), Buffer.from([0x89, 0x50, 0x00, 0xff]));
});
after(() => rm(scratch, { recursive: true, force: true }));

interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

function run(command: string[], options: { uid?: number; env?: NodeJS.ProcessEnv } = {}): Promise<Run> {
  const [program, ...words] = command as [string, ...string[]];
  const { OPENAI_API_KEY: _key, ...inherited } = process.env;
  const env = { ...inherited, ...options.env };
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { ...options, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.on('error', reject).on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

const demo = (...words: string[]): Promise<Run> => run([process.execPath, main, ...words]);
const demoOnNotes = (...words: string[]): Promise<Run> =>
  demo(notes, 'How hot should the water for coffee be?', '--index', index, ...words);

/** Returns the JSON block of the output, which users paste into their MCP client. */
function printedConfiguration(stdout: string): { command: string; args: string[] } {
  const { mcpServers } = JSON.parse(stdout.slice(stdout.indexOf('\n{'), stdout.indexOf('\n}\n') + 2)) as {
    mcpServers: { docs: { command: string; args: string[] } };
  };
  return mcpServers.docs;
}

describe('documentation demo', () => {
  test('reads, indexes and serves documents, and returns passages with file, heading, range and score', async () => {
    const { code, stdout, stderr } = await demoOnNotes();
    assert.equal(code, 0, stderr);
    assert.match(stdout, /Reading .*notes, for the embedder quiver\/lexical/);
    assert.match(stdout, /Skipped {4}picture\.md: /);
    assert.match(stdout, /Indexed {4}2 documents: 3 passages embedded, 0 unchanged/);
    assert.match(stdout, /Connected {2}3 passages by \d+ connections/);
    assert.match(stdout, /Tools {6}docs_searchDocs, docs_exploreDocs\n/);
    assert.match(stdout, /The graph leads to no other file/);
    assert.match(
      stdout,
      / {2}\[1\] deep\/coffee\.md › Coffee {2}\[characters 0–43\], confidence [01]\.\d\d\n {6}# Coffee Coffee wants water of 94 degrees\./,
    );
    assert.match(stderr, /Indexing {3}2 documents/);
  });

  test('embeds only changed passages and removes deleted files', async () => {
    assert.match((await demoOnNotes()).stdout, /Indexed .*: 0 passages embedded, 3 unchanged, 0 removed/);
    await writeFile(join(notes, 'tea.md'), tea(75));
    assert.match((await demoOnNotes()).stdout, /Indexed .*: 1 passages embedded, 2 unchanged, 1 removed/);
    await rm(join(notes, 'deep', 'coffee.md'));
    assert.match((await demoOnNotes()).stdout, /Indexed .*: 0 passages embedded, 2 unchanged, 1 removed/);
  });

  test('prints a configuration that works in an MCP client over stdio', async () => {
    const { stdout } = await demoOnNotes();
    const client = new Client({ name: 'check', version: '1.0.0' });
    await client.connect(new StdioClientTransport(printedConfiguration(stdout)));
    await requireAnswer(client);
  });

  test('prints a configuration that works if it runs the sources of the packages, as in a clone', async () => {
    const runSource = fileURLToPath(new URL('../../../scripts/run-source.mjs', import.meta.url));
    const question = 'How hot should the water for coffee be?';
    const { code, stdout, stderr } = await run([process.execPath, runSource, main, notes, question, '--index', index]);
    assert.equal(code, 0, stderr);
    assert.ok(printedConfiguration(stdout).args.includes('--conditions=@quiver/source'));
    const client = new Client({ name: 'check', version: '1.0.0' });
    await client.connect(new StdioClientTransport(printedConfiguration(stdout)));
    await requireAnswer(client);
  });

  test('lists and runs its tools for the Inspector over stdio', async () => {
    const { command, args } = printedConfiguration((await demoOnNotes()).stdout);
    await inspect([command, ...args]);
  });
});

describe('graph of the demo', () => {
  test('finds a linked passage that the search misses, and draws the graph', async () => {
    const folder = join(scratch, 'linked');
    await mkdir(folder);
    for (let n = 0; n < 40; n += 1)
      await writeFile(join(folder, `kettle${n}.md`), `# Kettle ${n}\n\nThis kettle holds ${n} litres of water.\n`);
    await writeFile(join(folder, 'brewing.md'), '# Brewing\n\nBrewing oolong: see [vessels](vessels.md).\n');
    await writeFile(join(folder, 'vessels.md'), '# Clay\n\nUnglazed pots from Yixing keep their warmth.\n');
    const { stdout, stderr } = await demo(
      folder,
      'What is known about brewing oolong?',
      '--index',
      join(scratch, 'linked-index'),
    );
    assert.match(
      stdout,
      /Only exploreDocs finds vessels\.md › Clay .*\n.*Yixing.*\n {6}↳ link: brewing\.md links to vessels\.md\n/,
      stdout + stderr,
    );
    const page = /The graph around it: (file:.*graph\.html)/.exec(stdout)?.[1];
    assert.match(
      await readFile(new URL(page as string), 'utf8'),
      /<!doctype html>[\s\S]*brewing\.md links to vessels\.md/,
    );
  });
});

describe('demo with an OpenAI key', () => {
  test("uses OpenAI's model with a separate index, and never prints the key", async () => {
    const models = new Set<string>();
    const api = createServer(async (request, response) => {
      const { input, model } = (await json(request)) as { input: string[]; model: string };
      models.add(model);
      const data = input.map((text, position) => ({
        object: 'embedding',
        index: position,
        embedding: [text.length, 1, 2],
      }));
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ object: 'list', model, data, usage: { prompt_tokens: 1, total_tokens: 1 } }));
    }).listen(0, '127.0.0.1');
    await once(api, 'listening');
    const env = {
      OPENAI_API_KEY: 'sk-secret',
      OPENAI_BASE_URL: `http://127.0.0.1:${(api.address() as AddressInfo).port}/v1`,
    };
    try {
      const { code, stdout, stderr } = await run([process.execPath, main, notes, 'milk', '--index', index], { env });
      assert.equal(code, 0, stderr);
      assert.match(stdout, /for the embedder openai\/text-embedding-3-small\n/);
      assert.deepEqual([...models], ['text-embedding-3-small']);
      assert.doesNotMatch(stdout + stderr, /sk-secret/);
    } finally {
      api.close();
    }
  });
});

describe('server of the demo over HTTP', () => {
  test('lists and runs its tools for a client of SDK 1 and for the Inspector', async () => {
    const opened = openIndex(index);
    const server = createDocsServer(opened);
    const { url } = await server.listen();
    try {
      const client = new Client({ name: 'check', version: '1.0.0' });
      await client.connect(new StreamableHTTPClientTransport(new URL(url)));
      await requireAnswer(client);
      await inspect([String(url), '--transport', 'http']);
    } finally {
      await server.close();
      await opened.vectorStore.close();
    }
  });
});

async function requireAnswer(client: Client): Promise<void> {
  try {
    const { tools } = await client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['searchDocs', 'exploreDocs'],
    );
    const result = await client.callTool({
      name: 'searchDocs',
      arguments: { queryText: 'Is there milk in green tea?', topK: 1 },
    });
    const { sources } = result.structuredContent as { sources: { document: string }[] };
    assert.match(sources[0]?.document ?? '', /Never in green tea/);
  } finally {
    await client.close();
  }
}

async function inspect(target: string[]): Promise<void> {
  const env = { HOME: scratch };
  const listed = await run([process.execPath, inspector, '--cli', ...target, '--method', 'tools/list'], { env });
  assert.equal(listed.code, 0, listed.stderr);
  assert.match(listed.stdout, /"exploreDocs"/);
  const call = ['--method', 'tools/call', '--tool-name', 'searchDocs', '--tool-arg', 'queryText=milk'];
  const called = await run([process.execPath, inspector, '--cli', ...target, ...call], { env });
  assert.equal(called.code, 0, called.stderr);
  assert.match(called.stdout, /Never in green tea/);
}

describe('one-line error message and exit code 1', () => {
  async function requireOneLine(result: Promise<Run>, line: RegExp): Promise<void> {
    const { code, stderr } = await result;
    const lines = stderr
      .trim()
      .split('\n')
      .map((text) => text.replace(/^.*\r/, ''))
      .filter(Boolean);
    assert.equal(code, 1);
    assert.equal(lines.length, 1, stderr);
    assert.match(lines[0] ?? '', line);
  }

  test('for a missing folder', () => requireOneLine(demo(join(scratch, 'nowhere')), /nowhere cannot be read/));

  test('for an empty folder', async () => {
    await mkdir(join(scratch, 'empty'));
    await requireOneLine(demo(join(scratch, 'empty')), /no documents in .*empty/);
  });

  test('for a file in place of a folder', () =>
    requireOneLine(demo(join(notes, 'picture.md')), /picture\.md cannot be read: ENOTDIR/));

  test('for an index folder that is a file', () =>
    requireOneLine(demo(notes, '--index', join(notes, 'tea.md')), /tea\.md/));

  test(
    'for an index folder without write permission',
    { skip: process.getuid?.() !== 0 && 'needs root to become another user' },
    async () => {
      const locked = join(scratch, 'locked');
      await mkdir(locked, { mode: 0o755 });
      await chmod(scratch, 0o755);
      await requireOneLine(
        run([process.execPath, main, notes, '--index', join(locked, 'index')], { uid: 65_534 }),
        /EACCES: permission denied.*locked/,
      );
      assert.deepEqual(await readdir(locked), []);
    },
  );

  test('for a port in use', async () => {
    const blocker = createServer().listen(0, '127.0.0.1');
    await once(blocker, 'listening');
    const { port } = blocker.address() as AddressInfo;
    try {
      await requireOneLine(demoOnNotes('--port', String(port)), new RegExp(`${port}`));
    } finally {
      blocker.close();
    }
  });

  test('for an unknown option', () => requireOneLine(demo('--color'), /--color/));
});
