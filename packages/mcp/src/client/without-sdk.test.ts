import { execFile } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MCPServer } from '@quiver/mcp/server';
import { expect, onTestFinished, test } from 'vitest';
import { exampleTools } from '../../test/servers/example-tools.ts';

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Runs Node on the sources and returns what the program prints. */
const run = async (...args: string[]): Promise<unknown> => {
  const hooks = fileOf('../../../../scripts/source-hooks.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--conditions=@quiver/source',
    '--import',
    hooks,
    ...args,
  ]);
  return JSON.parse(stdout);
};

test.each([
  ['http', 'legacy'],
  ['http', 'modern'],
  ['http', 'auto'],
  ['fetch', 'auto'],
  ['stdio', 'legacy'],
  ['stdio', 'modern'],
  ['stdio', 'auto'],
])('%s, %s: a program that calls tools loads neither the SDK nor its schemas nor TLS', async (kind, protocol) => {
  const server = new MCPServer({ name: 'Example', version: '1.0.0', instructions: 'Be kind.', tools: exampleTools });
  const { url } = await server.listen({ port: 0 });
  onTestFinished(() => server.close());
  expect(await run(fileOf('../../test/programs/tool-caller.ts'), kind, url, protocol)).toEqual({
    output: { sum: 3 },
    loaded: [],
  });
});

test.each([
  ['an import loads neither the HTTP stack of Node nor undici', '../index.ts', 'https?|internal.deps.undici'],
  [
    'an import of the client alone loads no Web Crypto either',
    './index.ts',
    'https?|internal.deps.undici|internal.crypto.webcrypto',
  ],
])('%s', async (_title, path, modules) => {
  const loaded = `process.moduleLoadList.filter((name) => /NativeModule (${modules})$/.test(name))`;
  const program = `await import(${JSON.stringify(new URL(path, import.meta.url).href)}); console.log(JSON.stringify(${loaded}))`;
  expect(await run('--input-type=module', '--eval', program)).toEqual([]);
});
