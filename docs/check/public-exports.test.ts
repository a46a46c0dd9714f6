// Every public export and every option of a public function has a docstring, and the code of every `@example` has the types that it claims.
// The option tables of the pages name the options of the types, and only those.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { takeImports } from './code-blocks.ts';
import { createProgram, readPublicExports } from './public-exports.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const pinned = JSON.parse(readFileSync(join(here, '../../scripts/public-names.json'), 'utf8')) as Record<
  string,
  { values: string[] }
>;
/** Pages with tables of options, and the types that they describe. */
const described: Readonly<Record<string, readonly string[]>> = {
  'guides/tools.md': ['@quiver/core/tools ToolOptions<any, any, any>'],
  'guides/mcp-client/servers.md': ['@quiver/mcp/client MastraMCPServerDefinition'],
  'guides/mcp-server.md': [
    '@quiver/mcp/server StreamableHTTPServerTransportOptions',
    '@quiver/mcp/server MCPServerConfig',
  ],
  'guides/mcp-server/tasks.md': ['@quiver/core/tools ToolTaskOptions', '@quiver/mcp/server TasksOptions'],
  'guides/mcp-server/middleware.md': ['@quiver/mcp/server RateLimitOptions', '@quiver/mcp/server CacheResultsOptions'],
  'guides/ingestion.md': ['@quiver/rag IngestOptions'],
  'guides/evaluate.md': [
    '@quiver/rag/evaluate EvaluateRetrievalOptions',
    '@quiver/devtools/evaluate GenerateCasesOptions',
    '@quiver/devtools/evaluate TuneOptions',
  ],
  'guides/observability.md': ['@quiver/core/otel InstrumentOptions'],
  'guides/graph-rag.md': ['@quiver/rag GraphRAGToolOptions'],
  'guides/chunks.md': ['@quiver/rag/document CommonChunkOptions', '@quiver/rag/document MeasureOptions'],
  'guides/web-pages.md': ['@quiver/loaders LoadPagesOptions'],
  'guides/chunking/character.md': ['@quiver/rag/document CharacterChunkOptions'],
  'guides/chunking/html.md': ['@quiver/rag/document HtmlChunkOptions'],
  'guides/chunking/json.md': ['@quiver/rag/document JsonChunkOptions'],
  'guides/chunking/markdown.md': ['@quiver/rag/document MarkdownChunkOptions'],
  'guides/chunking/recursive.md': ['@quiver/rag/document RecursiveChunkOptions'],
  'guides/chunking/semantic-markdown.md': ['@quiver/rag/document SemanticMarkdownChunkOptions'],
  'guides/chunking/sentence.md': ['@quiver/rag/document SentenceChunkOptions'],
  'guides/chunking/token.md': ['@quiver/rag/document TokenChunkOptions'],
};

/** Options of every strategy are on one page. */
const common = new Set(['CommonChunkOptions', 'MeasureOptions']);

/** The types in one module. */
const types = Object.values(described).flat();
const module = {
  file: join(here, 'option-types.ts'),
  text: types
    .map((type, place) => {
      const [entry = '', ...name] = type.split(' ');
      return `export type T${place} = import('${entry}').${name.join(' ')};`;
    })
    .join('\n'),
};
const program = createProgram(module);
const exported = readPublicExports(program);
const optionsOf = readOptions(program);

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
    // The packages as built, which readers install.
    customConditions: [],
    paths: {},
  };
  const configuration = { extends: '../../../tsconfig.base.json', compilerOptions, include: ['*.ts', '../given.d.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(configuration));
  const { stdout } = spawnSync('tsc', ['--checkers', '1', '-p', folder], { encoding: 'utf8' });
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

describe('the tables of options match the types:', () => {
  for (const [path, types] of Object.entries(described)) {
    test(path, () => {
      const page = readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
      const options = new Set(types.flatMap((type) => optionsOf.get(type) ?? []));
      const shared = types.some((type) => common.has(type.split(' ')[1] ?? '')) ? new Set<string>() : sharedOptions();
      const unknown = tableNames(page).filter((name) => !options.has(name));
      const missing = [...options].filter(
        (name) => !shared.has(name) && !new RegExp(`\`[^\`]*\\b${name}\\b`).test(page),
      );
      assert.ok(
        types.every((type) => (optionsOf.get(type) ?? []).length > 0),
        'A type does not exist.',
      );
      assert.deepEqual({ unknown, missing }, { unknown: [], missing: [] });
    });
  }
});

function sharedOptions(): Set<string> {
  return new Set([...common].flatMap((name) => optionsOf.get(`@quiver/rag/document ${name}`) ?? []).concat('strategy'));
}

/** Names in the first column of the tables whose header is `option`; `graphOptions.threshold` counts as `graphOptions`. */
function tableNames(page: string): string[] {
  const tables = page.matchAll(/^\| option [^\n]*\n\|[^\n]*\n((?:\|[^\n]*\n)+)/gm);
  const cells = [...tables].flatMap(([, rows = '']) =>
    rows
      .trim()
      .split('\n')
      .map((row) => row.split('|')[1] ?? ''),
  );
  return cells.flatMap((cell) => Array.from(cell.matchAll(/`([\w]+)/g), ([, name = '']) => name));
}

/** Returns the property names of the types, in the order of their aliases. */
function readOptions(program: ts.Program): Map<string, string[]> {
  const checker = program.getTypeChecker();
  const aliases = program.getSourceFile(module.file)?.statements.filter(ts.isTypeAliasDeclaration) ?? [];
  return new Map(
    aliases.map((alias, place) => {
      const type = checker.getTypeAtLocation(alias);
      const members = type.isUnion() ? type.types : [type];
      return [
        types[place] ?? '',
        [...new Set(members.flatMap((member) => member.getProperties().map(({ name }) => name)))],
      ];
    }),
  );
}
