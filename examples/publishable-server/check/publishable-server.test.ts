import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { MCPClient } from '@quiver/mcp/client';

const root = fileURLToPath(new URL('..', import.meta.url));
const mcpb = join(dirname(createRequire(import.meta.url).resolve('@anthropic-ai/mcpb')), 'cli/cli.js');
/** The oldest Node that is supported, when `npm test` started with it. */
const node = process.env['QUIVER_HOST_NODE'] ?? process.execPath;
const readJson = async (path: string) => JSON.parse(await readFile(join(root, path), 'utf8'));

let scratch: string;
let copy: string;
let tarball: string;
let service: Server;
let environment: Record<string, string>;

before(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'quiver-publishable-'));
  await run('npm', ['run', 'build'], root);
  // A copy: in the workspace, the tools visit all links of pnpm first.
  copy = join(scratch, 'package');
  for (const name of ['package.json', 'README.md', 'manifest.json', 'dist'])
    await cp(join(root, name), join(copy, name), { recursive: true });
  const pack = ['pack', '--json', '--silent', '--ignore-scripts', '--pack-destination', scratch];
  const [packed] = JSON.parse(await run('npm', pack, copy));
  tarball = packed.filename;
  assert.deepEqual(
    packed.files.map(({ path }: { path: string }) => path),
    ['README.md', 'dist/server.mjs', 'package.json'],
  );
  service = createServer(({ url, headers }, response) => {
    response.statusCode = headers.authorization === 'Bearer s3cret' ? 200 : 401;
    response.end(JSON.stringify({ celsius: url === '/v1/weather?city=Oslo' ? 4 : 21 }));
  }).listen(0, '127.0.0.1');
  await once(service, 'listening');
  const { port } = service.address() as AddressInfo;
  environment = { WEATHER_KEY: 's3cret', WEATHER_URL: `http://127.0.0.1:${port}` };
});
after(async () => {
  service.close();
  await rm(scratch, { recursive: true, force: true });
});

function start(command: string, words: string[], cwd: string, env: Record<string, string> = {}): ChildProcess {
  return spawn(command, words, { cwd, env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
}

/** Runs a program to its end, and returns its output. */
async function run(command: string, words: string[], cwd: string): Promise<string> {
  const child = start(command, words, cwd);
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout as NodeJS.ReadableStream),
    text(child.stderr as NodeJS.ReadableStream),
    once(child, 'close'),
  ]);
  assert.equal(code, 0, errors);
  return output;
}

/** Calls the tool of a server, and returns the temperature. */
async function callWeather(definition: { command: string; args: string[]; cwd?: string; env: Record<string, string> }) {
  await using mcp = new MCPClient({ id: definition.args.join(' '), servers: { weather: definition } });
  const { structuredContent } = await mcp.callTool({ serverName: 'weather', name: 'weather', args: { city: 'Oslo' } });
  return structuredContent;
}

describe('the package', () => {
  test('runs with npx from the tarball alone, without a network', async () => {
    // npx finds relative paths from the nearest package.json.
    await writeFile(join(scratch, 'package.json'), '{}');
    const offline = { npm_config_offline: 'true', npm_config_cache: join(scratch, 'cache') };
    const result = await callWeather({
      command: 'npx',
      args: ['-y', `./${tarball}`],
      cwd: scratch,
      env: { ...environment, ...offline },
    });
    assert.deepEqual(result, { celsius: 4 });
  });

  test('has the version of the package, and ends with its host', async () => {
    const child = start(node, ['dist/server.mjs'], root, environment);
    const clientInfo = { name: 'check', version: '1.0.0' };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
    const [line] = await once(child.stdout as NodeJS.ReadableStream, 'data');
    assert.equal(JSON.parse(line).result.serverInfo.version, (await readJson('package.json')).version);
    child.stdin?.end();
    assert.deepEqual(await once(child, 'close'), [0, null]);
  });

  test('names a missing key in one line on standard error', async () => {
    const child = start(node, ['dist/server.mjs'], root, { WEATHER_KEY: '' });
    const [output, errors, [code]] = await Promise.all([
      text(child.stdout as NodeJS.ReadableStream),
      text(child.stderr as NodeJS.ReadableStream),
      once(child, 'close'),
    ]);
    assert.deepEqual(
      { code, output, errors },
      {
        code: 1,
        output: '',
        errors: 'weather-mcp-server: WEATHER_KEY is not set. Get a key at https://weather.example.com/keys\n',
      },
    );
  });
});

test('the bundle for Claude Desktop is valid, and runs with the command of its manifest', async () => {
  const manifest = await readJson('manifest.json');
  const { name, version } = await readJson('package.json');
  assert.deepEqual({ name: manifest.name, version: manifest.version }, { name, version });
  const bundle = join(scratch, 'weather.mcpb');
  const folder = join(scratch, 'bundle');
  await run(node, [mcpb, 'pack', copy, bundle], root);
  await run(node, [mcpb, 'unpack', bundle, folder], root);
  const { args } = manifest.server.mcp_config;
  const result = await callWeather({
    command: node,
    args: args.map((argument: string) => argument.replace('${__dirname}', folder)),
    env: environment,
  });
  assert.deepEqual(result, { celsius: 4 });
});

describe('the links of the README', async () => {
  const page = await readFile(join(root, 'README.md'), 'utf8');
  const link = (host: string) => new URL(new RegExp(`${host}\\]\\((\\S+)\\)`).exec(page)?.[1] ?? '');
  const entry = { command: 'npx', args: ['-y', 'weather-mcp-server@1'], env: { WEATHER_KEY: 'your key' } };

  for (const host of ['Cursor', 'LM Studio']) {
    test(`contain the entry for ${host}`, () => {
      const { searchParams } = link(host);
      assert.equal(searchParams.get('name'), 'weather');
      const config = Buffer.from(searchParams.get('config') ?? '', 'base64').toString();
      assert.deepEqual(JSON.parse(config), entry);
    });
  }

  test('contain the entry for VS Code, with an input for the key', () => {
    const { protocol, pathname, search } = new URL(link('VS Code').searchParams.get('url') ?? '');
    assert.equal(protocol + pathname, 'vscode:mcp/install');
    const { name, inputs, ...config } = JSON.parse(decodeURIComponent(search.slice(1)));
    assert.equal(name, 'weather');
    assert.deepEqual(config, { ...entry, env: { WEATHER_KEY: `\${input:${inputs[0].id}}` } });
    assert.equal(inputs[0].password, true);
  });

  test('contain the parameters for Goose', () => {
    const { searchParams } = link('Goose');
    assert.deepEqual([searchParams.get('cmd'), ...searchParams.getAll('arg')], [entry.command, ...entry.args]);
    assert.match(searchParams.get('env') ?? '', /^WEATHER_KEY=/);
  });

  test('agree with the entry for other hosts and with the package', async () => {
    const { name, version } = await readJson('package.json');
    assert.equal(entry.args[1], `${name}@${version.split('.')[0]}`);
    const [, config = ''] = /```json\n([^]*?)```/.exec(page) ?? [];
    assert.deepEqual(JSON.parse(config), { mcpServers: { weather: entry } });
  });
});

test('the page about publishing shows these files', async () => {
  const page = await readFile(join(root, '../../docs/getting-started/publish-a-server.md'), 'utf8');
  const [shebang = '', ...lines] = (await readFile(join(root, 'src/server.ts'), 'utf8')).split('\n');
  const manifest = await readFile(join(root, 'manifest.json'), 'utf8');
  const { scripts, bin, files } = await readJson('package.json');
  const shown = [`${shebang}\n// src/server.ts\n${lines.join('\n')}`, manifest, scripts.build, scripts.prepack];
  for (const text of [...shown, `bin.weather-mcp-server=${bin['weather-mcp-server']}`, `files[0]=${files[0]}`])
    assert.ok(page.includes(text), text);
});
