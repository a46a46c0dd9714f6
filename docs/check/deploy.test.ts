// The programs of docs/deploy for Express, Fastify, Hono, Workers and Lambda answer requests.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { MCPClient } from '@quiver/mcp/client';
import { readCodeBlocks, takeImports } from './code-blocks.ts';

const docs = fileURLToPath(new URL('..', import.meta.url));
const blocksOf = (page: string, language: string): string[] =>
  readCodeBlocks(readFileSync(join(docs, page), 'utf8'))
    .filter((block) => block.language === language)
    .map(({ code }) => code);

const server = `
import { createTool } from '@quiver/core/tools';
import { MCPServer } from '@quiver/mcp/server';
import { z } from 'zod';
const inputSchema = z.object({ text: z.string() });
const echo = createTool({ id: 'echo', description: 'Returns the text', inputSchema, execute: async ({ text }) => text });
export const server = new MCPServer({ name: 'Echo', version: '1.0.0', tools: { echo } });
`;
/** Starts servers on a free port, which it sends to the parent process. */
const freePort = `
import { Server } from 'node:net';
const { listen } = Server.prototype;
Server.prototype.listen = function (first, ...rest) {
  this.once('listening', () => process.send(this.address().port));
  return listen.call(this, typeof first === 'object' ? { ...first, port: 0 } : 0, ...rest);
};
`;
const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: { text: 'hi' } } };
const result = { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'hi' }] } };
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

function writeFiles(t: TestContext, files: Record<string, string>): string {
  const folder = mkdtempSync(join(docs, 'check/deploy-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, code] of Object.entries(files)) writeFileSync(join(folder, name), code);
  return folder;
}

for (const framework of ['express', 'fastify', 'hono']) {
  test(`the program for ${framework} serves a client`, async (t) => {
    const [main = ''] = blocksOf(`deploy/${framework}.md`, 'ts');
    const folder = writeFiles(t, { 'main.ts': main, 'server.ts': server, 'free-port.mjs': freePort });
    const child = spawn(process.execPath, ['--import', './free-port.mjs', 'main.ts'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    t.after(() => child.kill());
    const [port] = (await once(child, 'message')) as [number];
    const mcp = new MCPClient({ servers: { it: { url: `http://127.0.0.1:${port}/mcp` } } });
    t.after(() => mcp.disconnect());
    const { it_echo: echo } = await mcp.listTools();
    assert.partialDeepStrictEqual(await echo?.execute({ text: 'hi' }), result.result);
  });
}

test('the program with callers for Express checks the scopes of tools', async (t) => {
  const [, main = ''] = blocksOf('deploy/express.md', 'ts');
  const folder = writeFiles(t, { 'main.ts': main, 'free-port.mjs': freePort });
  const child = spawn(process.execPath, ['--import', './free-port.mjs', 'main.ts'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  t.after(() => child.kill());
  const [port] = (await once(child, 'message')) as [number];
  const url = `http://127.0.0.1:${port}/mcp`;
  assert.equal((await fetch(url, { method: 'POST', headers, body: JSON.stringify(call) })).status, 401);
  const resultOf = async (token: string, name: string): Promise<unknown> => {
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    const mcp = new MCPClient({ id: token + name, servers: { it: { url, requestInit } } });
    t.after(() => mcp.disconnect());
    return (await mcp.callTool({ serverName: 'it', name })).content;
  };
  const textOf = (text: string): object[] => [{ type: 'text', text }];
  assert.deepEqual(await resultOf('reader', 'describeCaller'), textOf('ada of acme: orders:read'));
  assert.deepEqual(await resultOf('writer', 'closeOrder'), textOf('Closed.'));
  await assert.rejects(resultOf('reader', 'closeOrder'), /403|insufficient_scope|scope/);
});

test('the program for Workers is one file that needs no package and no Node module', async (t) => {
  const [main = ''] = blocksOf('deploy/cloudflare-workers.md', 'ts');
  const [command = ''] = blocksOf('guides/bundle.md', 'sh');
  const folder = writeFiles(t, { 'index.ts': main, 'server.ts': server });
  const shell = command.replace('npx esbuild', 'esbuild').replace('src/index.ts', 'index.ts');
  const { status, stderr } = spawnSync(shell, { shell: true, cwd: folder, encoding: 'utf8' });
  assert.equal(status, 0, stderr);

  const file = join(folder, 'worker.js');
  assert.doesNotMatch(readFileSync(file, 'utf8'), /\bimport\b[^("';]*["']|\bimport["']/);
  const { default: worker } = (await import(pathToFileURL(file).href)) as {
    default: { fetch(request: Request): Promise<Response> };
  };
  const url = 'https://mcp.example.com/mcp';
  const response = await worker.fetch(new Request(url, { method: 'POST', headers, body: JSON.stringify(call) }));
  assert.deepEqual(await response.json(), result);
});

/** A file that, imported first, writes the files of packages that the program loads to standard error. */
const loadedFiles = `
import { registerHooks } from 'node:module';
const load = (url, context, next) => {
  if (!url.startsWith('node:')) console.error(url);
  return next(url, context);
};
registerHooks({ load });
`;
const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';

test('a bundle starts over stdio behind a compile cache, and loads no file of a package', (t) => {
  const [command = ''] = blocksOf('guides/mcp-server/transports.md', 'sh');
  const [start = ''] = blocksOf('guides/mcp-server/transports.md', 'js');
  const main = `import { server } from './server.ts';\nawait server.startStdio();`;
  const folder = writeFiles(t, { 'index.ts': main, 'server.ts': server, 'loaded.mjs': loadedFiles });
  const shell = command.replace('npx esbuild', 'esbuild --log-level=error').replace('src/index.ts', 'index.ts');
  const built = spawnSync(shell, { shell: true, cwd: folder, encoding: 'utf8' });
  assert.equal(built.status, 0, built.stderr);
  writeFileSync(join(folder, 'dist/start.mjs'), start);

  const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, 'cache') };
  const args = ['--import', './loaded.mjs', 'dist/start.mjs'];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, env, input: ping, encoding: 'utf8' });
  assert.equal(stdout, '{"jsonrpc":"2.0","id":1,"result":{}}\n');
  const outside = stderr
    .trim()
    .split('\n')
    .filter((url) => !url.startsWith(`${pathToFileURL(folder).href}/dist/`));
  assert.deepEqual(outside, []);
});

test('a server over stdio whose tools have JSON Schemas loads only Quiver', (t) => {
  const main = server
    .replace(/.*from 'zod';\n/, '')
    .replace(/z\.object.*;/, `{ type: 'object', properties: { text: { type: 'string' } } };`);
  const folder = writeFiles(t, {
    'index.mjs': `${main.replace('export ', '')}await server.startStdio();`,
    'loaded.mjs': loadedFiles,
  });
  const args = ['--import', './loaded.mjs', 'index.mjs'];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, input: ping, encoding: 'utf8' });
  assert.equal(stdout, '{"jsonrpc":"2.0","id":1,"result":{}}\n');
  const files = stderr.trim().split('\n');
  assert.ok(files.length > 10, stderr);
  assert.deepEqual(
    files.filter((url) => !/\/packages\/(core|mcp)\/dist\/|\/index\.mjs$/.test(url)),
    [],
  );
});

test('the program for Lambda without streaming answers an event', async (t) => {
  const blocks = takeImports(blocksOf('deploy/aws-lambda.md', 'ts'));
  const folder = writeFiles(t, { 'index.ts': `${blocks.header}\n${blocks.bodies[1]}`, 'server.ts': server });
  const { handler } = (await import(pathToFileURL(join(folder, 'index.ts')).href)) as {
    handler: (event: object) => Promise<{ statusCode: number; body: string }>;
  };
  const domainName = 'abc.lambda-url.eu-west-1.on.aws';
  const { statusCode, body } = await handler({
    version: '2.0',
    rawPath: '/mcp',
    rawQueryString: '',
    headers: { ...headers, host: domainName },
    requestContext: { domainName, http: { method: 'POST', path: '/mcp', protocol: 'HTTP/1.1', sourceIp: '192.0.2.1' } },
    isBase64Encoded: false,
    body: JSON.stringify(call),
  });
  assert.deepEqual([statusCode, JSON.parse(body)], [200, result]);
});

for (const [language, file] of [
  ['nginx', 'nginx.conf'],
  ['haproxy', 'haproxy.cfg'],
  ['caddy', 'Caddyfile'],
] as const)
  test(`the settings for ${language} are those that the example runs with`, () => {
    const lines = (text: string): string =>
      text
        .split('\n')
        .flatMap((line) => line.trim() || [])
        .join('\n');
    const example = lines(readFileSync(join(docs, '../examples/several-processes', file), 'utf8'));
    const [settings = ''] = blocksOf('deploy/restarts.md', language);
    assert.ok(settings !== '' && example.includes(lines(settings)), example);
  });

test('a bundle reads files in a worker thread, if it has its program', (t) => {
  const command = blocksOf('guides/bundle.md', 'sh').at(-1) ?? '';
  const main = `
import { loadDocument } from '@quiver/loaders/document';
const [rows, timeout] = process.argv.slice(2).map(Number);
const bytes = new TextEncoder().encode('a,b\\n1,2\\n'.repeat(rows));
const options = { name: 'a.csv', ...(timeout && { timeout }) };
await loadDocument(bytes, options).then(
  ([document]) => console.log(document.getText().length),
  ({ code, details }) => console.log(code, details?.limit ?? ''),
);`;
  const folder = writeFiles(t, { 'index.ts': main });
  const shell = command.replace('npx esbuild', 'esbuild --log-level=error').replace('src/index.ts', 'index.ts');
  const built = spawnSync(shell, { shell: true, cwd: folder, encoding: 'utf8' });
  assert.equal(built.status, 0, built.stderr);
  const run = (...args: string[]): { stdout: string; stderr: string } =>
    spawnSync(process.execPath, ['dist/index.js', ...args], { cwd: folder, encoding: 'utf8' });

  assert.deepEqual([run('1').stdout, run('1').stderr], ['1\n', '']);
  assert.equal(run('500000', '20').stdout, 'DOCUMENT_LIMIT_EXCEEDED time\n');
  rmSync(join(folder, 'dist/document-worker.js'));
  assert.equal(run('1').stdout, '1\n');
  assert.match(run('1').stderr, /warn: The worker thread .* cannot be started: .*document-worker\.js/);
  assert.equal(run('1', '20').stdout, 'DOCUMENT_WORKER_UNAVAILABLE \n');
});

test('a bundler accepts that no optional package is installed', (t) => {
  // These entry points extend the package that they need.
  const entries = Object.keys(readJson('../scripts/public-names.json')).filter(
    (name) => !/rag\/testing$|\/(testing\/vitest|otel)$/.test(name),
  );
  const optional = ['core', 'mcp', 'rag', 'loaders'].flatMap((name) =>
    Object.keys(readJson(`../packages/${name}/package.json`)['peerDependenciesMeta'] ?? {}),
  );
  assert.ok(optional.includes('ai') && optional.includes('pg'));
  // A dependency of a dependency, so always installed.
  optional.splice(optional.indexOf('zod'), 1);
  const folder = writeFiles(t, {
    'index.ts': entries.map((name, n) => `export * as e${n} from '${name}';`).join('\n'),
  });
  const missing = optional.map((name) => `--alias:${name}=not-installed`);
  const options = ['--bundle', '--platform=node', '--format=esm', '--outfile=out.js', '--log-level=error', ...missing];
  const { status, stderr } = spawnSync('esbuild', [join(folder, 'index.ts'), ...options], {
    cwd: folder,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
});

function readJson(path: string): Record<string, object> {
  return JSON.parse(readFileSync(join(docs, path), 'utf8')) as Record<string, object>;
}
