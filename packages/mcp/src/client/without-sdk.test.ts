import { execFile } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MCPServer } from '@quiver/mcp/server';
import { expect, onTestFinished, test } from 'vitest';
import { exampleTools } from '../../test/example-tools.ts';

const run = async (...args: string[]): Promise<unknown> => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--conditions=@quiver/source',
    '--import',
    fileURLToPath(new URL('../../../../scripts/source-hooks.mjs', import.meta.url)),
    fileURLToPath(new URL('../../test/tool-caller.ts', import.meta.url)),
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
])('%s, %s: a program that calls tools loads neither the SDK nor its schemas', async (kind, protocol) => {
  const server = new MCPServer({ name: 'Example', version: '1.0.0', instructions: 'Be kind.', tools: exampleTools });
  const { url } = await server.listen({ port: 0 });
  onTestFinished(() => server.close());
  expect(await run(kind, url, protocol)).toEqual({ output: { sum: 3 }, loaded: [] });
});
