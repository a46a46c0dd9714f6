// The commands of the migration page produce imports of modules that exist.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readCodeBlocks } from './code-blocks.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(repository, 'docs/help/migrate-from-mastra.md'), 'utf8');
const [currentApi, , v0Api] = readCodeBlocks(page).flatMap(({ language, code }) => (language === 'sh' ? [code] : []));

const replaced: Readonly<Record<string, string>> = {
  '@mastra/core/tools': '@quiver/core/tools',
  '@mastra/core/request-context': '@quiver/core/request-context',
  '@mastra/core/runtime-context': '@quiver/core/compat',
  '@mastra/core/di': '@quiver/core/compat',
  '@mastra/core/llm': '@quiver/core/llm',
  '@mastra/core/agent': '@quiver/core/agent',
  '@mastra/mcp': '@quiver/mcp',
  '@mastra/rag': '@quiver/rag',
  '@mastra/pg': '@quiver/rag/pg',
  '@mastra/chroma': '@quiver/rag/chroma',
  '@mastra/pinecone': '@quiver/rag/pinecone',
};
const kept = [
  '@mastra/core',
  '@mastra/core/mastra',
  '@mastra/core/workflows',
  '@mastra/core/tools/stream',
  '@mastra/core/agent-network',
  '@mastra/core/memory',
  '@mastra/core/logger',
  '@mastra/core/storage',
  '@mastra/core/vector',
  '@mastra/memory',
  '@mastra/libsql',
  '@mastra/loggers',
  '@mastra/mcp-docs-server',
  '@mastra/deployer-vercel',
];

/** Runs commands on a program that imports every module. */
function migrate(commands: readonly (string | undefined)[]): { imports: string[]; output: string } {
  const folder = mkdtempSync(join(tmpdir(), 'quiver-migration-'));
  mkdirSync(join(folder, 'src'));
  const program = join(folder, 'src/program.ts');
  const quoted = [...Object.keys(replaced), ...kept].map((name, index) => (index % 2 ? `'${name}'` : `"${name}"`));
  writeFileSync(program, quoted.map((name) => `import ${name};\n`).join(''));
  const outputs = commands.map((command = 'exit 1') => {
    const { stdout, stderr } = spawnSync('sh', ['-c', command], { cwd: folder, encoding: 'utf8' });
    assert.equal(stderr, '');
    return stdout;
  });
  const imports = readFileSync(program, 'utf8').match(/(?<=["'])@[^"']+/g) ?? [];
  rmSync(folder, { recursive: true });
  for (const name of imports.filter((module) => module.startsWith('@quiver/'))) assert.ok(exists(name), name);
  return { imports: [...imports], output: outputs.join('') };
}

function exists(module: string): boolean {
  const [, name = '', path = ''] = /^@quiver\/(\w+)(.*)$/.exec(module) ?? [];
  const manifest = readFileSync(join(repository, `packages/${name}/package.json`), 'utf8');
  return `.${path}` in (JSON.parse(manifest) as { exports: object }).exports;
}

test('the commands replace the imports that have a counterpart and list the others', () => {
  const { imports, output } = migrate([currentApi]);
  assert.deepEqual(imports, [...Object.values(replaced), ...kept]);
  assert.equal(output.trim().split('\n').length, kept.length);
});

test('the page names the counterparts of functions and options that exist only in Mastra', () => {
  const names = [
    'forwardInstructions',
    'instructionsMaxLength',
    'appResources',
    'mapAuthInfoToUser',
    'mcp.toMCPServerProxies()',
    'server.listResources()',
    'server.readResource(uri)',
    'weights',
  ];
  const rows = page.split('\n').filter((line) => line.startsWith('| ') && line.split('|').length === 5);
  assert.deepEqual(
    names.filter((name) => !rows.some((row) => row.split('|')[1]?.includes(`\`${name}\``))),
    [],
  );
});

test('the command for the v0 API imports createTool from the compat module', () => {
  const { imports } = migrate([v0Api, currentApi]);
  assert.deepEqual(imports, ['@quiver/core/compat', ...Object.values(replaced).slice(1), ...kept]);
});
