// Follows the README literally in an empty folder, with nothing but the packed packages: its commands, its programs and their output. Two
// things differ: the port is a free one, and a server of this test stands for the provider of the model.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { json } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'quiver-readme-'));
const home = join(scratch, 'home');
const port = await freePort();
const provider = await startProvider();
const started = [];
after(() => {
  for (const child of started) child.kill();
  provider.close();
  rmSync(scratch, { recursive: true, force: true });
});

const readme = readFileSync(join(root, 'README.md'), 'utf8').replaceAll('3000', String(port));
/** The blocks of code in their order, each with the file name at the end of the sentence before it. */
const blocks = Array.from(
  readme.matchAll(/(?:`([\w-]+\.mjs)`:\s+)?```(\w+)\n(.*?)\n```/gs),
  ([, file, language, code]) => ({ file, language, code }),
);

test('the README works as printed, in an empty folder', async () => {
  const env = {
    ...process.env,
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: home,
    npm_config_cache: process.env.npm_config_cache ?? join(homedir(), '.npm'),
    OPENAI_BASE_URL: `http://127.0.0.1:${provider.address().port}`,
  };
  cpSync(join(root, 'examples/minimal/notes'), join(home, 'notes'), { recursive: true });
  const packages = packAll();
  let folder = scratch;
  let programs = 0;
  for (const [index, { file, language, code }] of blocks.entries()) {
    if (language === 'ts') writeFileSync(join(folder, file), code);
    if (language !== 'sh') continue;
    const command = code.replaceAll(/@quiver\/(\w+)/g, (_, name) => packages[name]);
    const shown = blocks[index + 1]?.language === 'text' ? blocks[index + 1].code : undefined;
    if (command === 'node server.mjs') {
      const child = spawn('sh', ['-c', `exec ${command}`], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
      started.push(child);
      const { value } = await createInterface(child.stdout)[Symbol.asyncIterator]().next();
      assert.equal(value, shown);
    } else {
      const { status, output } = await run(command, folder, env);
      assert.equal(status, 0, `${command}\n${output}`);
      if (shown !== undefined) assert.equal(output.trim(), shown.trim());
      const [, into] = /cd (\w+)/.exec(command) ?? [];
      if (into) folder = join(folder, into);
    }
    if (command.includes('node ')) programs += 1;
  }
  assert.equal(programs, 3);
});

/** Returns the paths of the packed packages by their short names. */
function packAll() {
  const folder = join(scratch, 'packed');
  const command = ['--filter', './packages/*', 'pack', '--pack-destination', folder];
  const { status, stderr } = spawnSync('pnpm', command, { cwd: root, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return Object.fromEntries(readdirSync(folder).map((file) => [file.split('-')[1], join(folder, file)]));
}

function run(command, cwd, env) {
  return new Promise((resolve) => {
    const child = spawn('sh', ['-ec', command], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('close', (status) => resolve({ status, output }));
  });
}

/** Stands for the API of the model provider: calls the tool, then answers with what the tool returned. */
async function startProvider() {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const call = { type: 'function_call', id: 'f', call_id: 'c', name: 'weather_weather', arguments: '{"city":"Oslo"}' };
  const server = createServer(async (request, response) => {
    const { input } = await json(request);
    const result = input.find(({ type }) => type === 'function_call_output');
    const celsius = result && JSON.parse(result.output).celsius;
    const content = [{ type: 'output_text', text: `Yes: it is ${celsius} °C in Oslo.`, annotations: [] }];
    const message = { type: 'message', id: 'm', role: 'assistant', status: 'completed', content };
    const output = [result ? message : call];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id: 'r', created_at: 1, model: 'gpt-5.1', output, usage }));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port: free } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return free;
}
