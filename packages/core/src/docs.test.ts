import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOpenAiServer, type OpenAiServer } from '../test/openai-server.js';

/** The pages whose programs are run: each block of TypeScript, and the output that the page shows after it. */
const pages = {
  'README.md': new URL('../README.md', import.meta.url),
  'docs/guides/tools.md': new URL('../../../docs/guides/tools.md', import.meta.url),
  'docs/guides/ai-sdk.md': new URL('../../../docs/guides/ai-sdk.md', import.meta.url),
  'docs/help/migrate-from-mastra.md': new URL('../../../docs/help/migrate-from-mastra.md', import.meta.url),
};

interface Program {
  name: string;
  file: URL;
  code: string;
  output: string;
}

const folder = new URL('../test/.docs-programs/', import.meta.url);

const programs: Program[] = Object.entries(pages).flatMap(([page, url]) => {
  const text = readFileSync(url, 'utf8');
  const blocks = text.matchAll(/```ts\n([^]*?)```(?:\n[^`]*?```text\n([^]*?)```)?/g);
  return [...blocks].map(([, code = '', output = ''], index) => {
    const name = `${page}, program ${index + 1}`;
    return { name, file: new URL(`${name.replaceAll(/\W+/g, '-')}.ts`, folder), code, output };
  });
});

const binaries = new URL('../../../node_modules/.bin/', import.meta.url);
const run = promisify(execFile);
let server: OpenAiServer;

beforeAll(async () => {
  server = await startOpenAiServer();
  mkdirSync(folder, { recursive: true });
  for (const { file, code } of programs) writeFileSync(file, code);
  const configuration = { extends: '../../../../tsconfig.base.json', include: ['*.ts'] };
  writeFileSync(new URL('tsconfig.json', folder), JSON.stringify(configuration));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server.close();
});

describe('the programs of the documentation', () => {
  it('type-check', async () => {
    const compiler = new URL('tsc', binaries).pathname;
    const { stdout } = await run(compiler, ['--checkers', '1', '-p', new URL('tsconfig.json', folder).pathname]).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe('');
  });

  it.each(programs)('print what the page shows: $name', async ({ file, output }) => {
    const sourceHooks = new URL('../../../scripts/source-hooks.mjs', import.meta.url).href;
    const settings = ['--conditions=@quiver/source', '--import', sourceHooks, '--no-warnings'];
    const { FORCE_COLOR: _color, ...environment } = process.env;
    const { stdout } = await run(process.execPath, [...settings, file.pathname], {
      env: { ...environment, OPENAI_API_KEY: 'key', OPENAI_BASE_URL: server.baseURL },
    });
    expect(stdout).toBe(output);
  });
});
