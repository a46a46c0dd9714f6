// The option tables of the pages name the options of the types, and only those.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

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

const optionsOf = readOptions(Object.values(described).flat());

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

/** Returns the property names of types, given as `module Type`. */
function readOptions(types: readonly string[]): Map<string, string[]> {
  const file = fileURLToPath(new URL('option-types.ts', import.meta.url));
  const lines = types.map((type, place) => {
    const [module = '', ...name] = type.split(' ');
    return `export type T${place} = import('${module}').${name.join(' ')};`;
  });
  const configuration = ts.getParsedCommandLineOfConfigFile(
    fileURLToPath(new URL('../tsconfig.json', import.meta.url)),
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: () => assert.fail('docs/tsconfig.json cannot be read'),
    },
  );
  const options = { ...configuration?.options, noEmit: true };
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.getSourceFile = (name, ...rest) =>
    name === file
      ? ts.createSourceFile(name, lines.join('\n'), ts.ScriptTarget.Latest)
      : getSourceFile.call(host, name, ...rest);
  const program = ts.createProgram([file], options, host);
  const checker = program.getTypeChecker();
  const aliases = program.getSourceFile(file)?.statements.filter(ts.isTypeAliasDeclaration) ?? [];
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
