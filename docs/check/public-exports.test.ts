// Every public export and every option of a public function has a docstring, and the code of every `@example` has the types that it claims.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { takeImports } from './code-blocks.ts';
import { readPublicExports } from './public-exports.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const pinned = JSON.parse(readFileSync(join(here, '../../scripts/public-names.json'), 'utf8')) as Record<
  string,
  { values: string[] }
>;
const exported = readPublicExports();

test('every public export has a docstring', () => {
  assert.ok(exported.length > 400);
  const bare = exported.filter(({ documentation }) => documentation.trim() === '');
  assert.deepEqual(
    bare.map(({ file, name }) => `${file}: ${name}`),
    [],
  );
});

test('every option of a public function has a sentence', () => {
  const options = exported.flatMap((found) => [...found.options, ...found.methodOptions]);
  assert.ok(options.length > 500, `Only ${options.length} options were found.`);
  const bare = options.filter(({ documentation }) => documentation === '');
  assert.deepEqual([...new Set(bare.map(({ owner, name }) => `${owner}.${name}`))], []);
});

test('every example compiles', (t) => {
  const folder = mkdtempSync(join(here, 'examples-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const { name, examples } of exported) {
    for (const [n, example] of examples.entries()) {
      const code = example.replaceAll(/^```\w*$/gm, '');
      const { header, bodies } = takeImports([code]);
      writeFileSync(join(folder, `${name}-${n}.ts`), `${header} ${importsOf(code, header)} export {};\n${bodies[0]}\n`);
    }
  }
  const compilerOptions = {
    exactOptionalPropertyTypes: false,
    noImplicitAny: false,
    noUncheckedIndexedAccess: false,
    noUnusedLocals: false,
  };
  const configuration = { extends: '../../../tsconfig.base.json', compilerOptions, include: ['*.ts', '../given.d.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(configuration));
  const { stdout } = spawnSync('tsc', ['-p', folder], { encoding: 'utf8' });
  // Examples show one thing at a time: names that they do not declare are those of the reader, and so is the function around them.
  const errors = stdout
    .split('\n')
    .filter((line) => /^docs\/check\/.* error TS(?!1108|2304|2552|2593|18004)/.test(line));
  assert.deepEqual(errors, []);
});

/** Imports of the public names that an example uses without importing them. */
function importsOf(code: string, header: string): string {
  const names = new Set(code.match(/\b[A-Za-z]\w*(?=[(<.])/g));
  return [...names]
    .filter(
      (name) => !new RegExp(`\\b${name}\\b`).test(header) && !new RegExp(`(const|function) ${name}\\b`).test(code),
    )
    .flatMap((name) => {
      const entry = Object.entries(pinned).find(
        ([path, { values }]) => !path.endsWith('/compat') && values.includes(name),
      );
      return entry ? `import { ${name} } from '${entry[0]}';` : [];
    })
    .join(' ');
}
