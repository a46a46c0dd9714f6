import { execFile } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MCPServer } from '@quiver/mcp/server';
import { expect, onTestFinished, test } from 'vitest';
import { exampleTools } from '../../../../test/example-tools.ts';

test.each(['legacy', 'modern', 'auto'])(
  '%s: a program that only calls tools does not load the SDK',
  async (protocol) => {
    const server = new MCPServer({ name: 'Example', version: '1.0.0', instructions: 'Be kind.', tools: exampleTools });
    const { url } = await server.listen({ port: 0 });
    onTestFinished(() => server.close());
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--conditions=@quiver/source',
      '--import',
      fileURLToPath(new URL('../../../../../../scripts/source-hooks.mjs', import.meta.url)),
      fileURLToPath(new URL('../../../../test/tool-caller.ts', import.meta.url)),
      url,
      protocol,
    ]);
    expect(JSON.parse(stdout)).toEqual({ output: { sum: 3 }, loaded: [] });
  },
);
