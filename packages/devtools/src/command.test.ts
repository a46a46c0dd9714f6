import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { text as readAll } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createTool } from '@quiver/core/tools';
import { describe, expect, onTestFinished, test } from 'vitest';
import { scratchFolder } from '../../mcp/test/scratch-folder.ts';
import manifest from '../../mcp/package.json' with { type: 'json' };
import { commandFor } from '../../mcp/test/programs/spawn-server.ts';
import { MCPServer } from '@quiver/mcp/server';

const hooks = fileURLToPath(new URL('../../../scripts/source-hooks.mjs', import.meta.url));
const program = fileURLToPath(new URL('command.ts', import.meta.url));
const folder = scratchFolder();
const recorded = join(folder, 'recorded.json');
const tools = [{ name: 'echo', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } }];
writeFileSync(recorded, JSON.stringify({ weather: tools }));

async function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const argv = ['--conditions=@quiver/source', '--import', hooks, program, ...args];
  const child = spawn(process.execPath, argv, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code]] = await Promise.all([
    readAll(child.stdout),
    readAll(child.stderr),
    once(child, 'exit'),
  ]);
  return { code: code as number, stdout, stderr };
}

describe('npx @quiver/devtools types', () => {
  test('writes the types of a stdio server, and checks them', async () => {
    const { command, args } = commandFor('stdio-server.ts');
    const line = [command, ...args].map((word) => `'${word}'`).join(' ');
    const file = join(folder, 'stdio.ts');
    expect(await run('types', line, '-o', 'stdio.ts')).toEqual({ code: 0, stdout: '', stderr: 'Wrote stdio.ts.\n' });
    const written = readFileSync(file, 'utf8');
    expect(written).toContain('export interface Stdio {');
    const checked = await run('types', '-o', 'stdio.ts', '--check', '--', command, ...args);
    expect(checked).toEqual({ code: 0, stdout: '', stderr: '' });
    writeFileSync(file, written.replace(/(?<=\/\/ sha256 )[0-9a-f]{8}/, '00000000'));
    const { code, stderr } = await run('types', '-o', 'stdio.ts', '--check', '--', command, ...args);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^stdio\.ts is not up to date: .*changed Stdio\.\w+.* Run the command without --check\.\n$/);
  });

  test('writes the types of a server at a URL, with headers', async () => {
    const echo = createTool({ id: 'echo', description: 'Echo', execute: async () => 'x' });
    const server = new MCPServer({ name: 'n', version: '1', tools: { echo } });
    const { url } = await server.listen();
    onTestFinished(() => server.close());
    const { code, stdout } = await run('types', url, '--name', 'Echo', '--header', 'X-Trace: 1');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('export interface Echo {') });
  });

  test('needs no server for a recorded list', async () => {
    const { stdout } = await run('types', recorded);
    expect(stdout).toContain('export interface Weather {\n  // sha256');
    writeFileSync(join(folder, 'result.json'), JSON.stringify({ tools }));
    expect((await run('types', 'result.json', '--name', 'Weather')).stdout).toBe(stdout);
  });

  test('prints its usage and its version', async () => {
    const usage = { code: 0, stdout: expect.stringMatching(/^Usage: npx /), stderr: '' };
    expect(await run('--help')).toEqual(usage);
    expect(await run('types', '-h')).toEqual(usage);
    expect(await run('--version')).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' });
  });

  test('lints the tools of a server and of a recorded list', async () => {
    const { code, stdout } = await run('lint', recorded);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^advice echo \/description description-missing \(openai, anthropic, .*\): Say what/m);
    const server = new MCPServer({ name: 'n', version: '1', tools: {} });
    await server.toolActions.add({ 'a.b': createTool({ id: 'a.b', description: 'Greets', execute: async () => 'x' }) });
    const { url } = await server.listen();
    onTestFinished(() => server.close());
    const found = await run('lint', url, '--provider', 'openai', '--ignore', 'output-schema-missing');
    expect(found.code).toBe(1);
    expect(found.stdout).toMatch(/^rejected a\.b \/name name-characters \(openai\): /m);
    expect(found.stdout).not.toContain('output-schema-missing');
  });

  test.for<[reason: string, args: string[], message: RegExp]>([
    ['no arguments', [], /^Usage: npx @quiver\/devtools types /],
    ['an unknown option', ['types', recorded, '--chekc'], /^Unknown option '--chekc'.* Usage: /],
    ['an unknown provider', ['lint', recorded, '--provider', 'opnai'], /opnai/],
    ['--check without a file', ['types', recorded, '--check'], /^--check needs a file: -o weather\.ts\. Usage/],
    ['a file that does not exist', ['types', 'none.json'], /^Cannot read none\.json: ENOENT/],
    [
      'a recorded list that is not one',
      ['types', 'package.json'],
      /^The definitions of the server "name" are not a list\./,
    ],
    ['a name that is not one', ['types', recorded, '--name', 'a b'], /^The interface name "a b" is not a letter/],
    ['a program that does not exist', ['types', 'no-such-program --x'], /no-such-program/],
    [
      'a server that is down',
      ['types', 'http://127.0.0.1:1/mcp'],
      /^Could not list the tools of any MCP server\. .*127\.0\.0\.1:1/,
    ],
    ['headers of a program', ['types', 'node x', '--header', 'A: b'], /^--header applies to a URL, not to 'node'\.$/m],
  ])('reports %s in one line', async ([, args, message]) => {
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'x', type: 'module' }));
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr.match(/\n/g)).toHaveLength(1);
  });
});
