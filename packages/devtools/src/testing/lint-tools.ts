import { QuiverError } from '@quiver/core';
import { checkOptions, listOf, oneOf, type OptionChecks } from '@quiver/core/internal';
import { toolTokens } from '@quiver/core/tool-search';
import type { ProtocolTool } from '@quiver/mcp/client';
import { parseToolDefinitions } from '@quiver/mcp/internal';
import {
  checkName,
  checkPart,
  checkText,
  defaultLintProviders,
  lintProviders,
  ruleSources,
  type Finding,
  type LintProvider,
  type LintRule,
  type SchemaPart,
} from './lint-rules.js';

/** Options of `lintTools()`. */
export interface LintToolsOptions {
  /** Providers to check for. Default: all but `openai-strict`. */
  providers?: readonly LintProvider[];
  /** Rules to leave out. */
  ignore?: readonly LintRule[];
}

/** A problem of a tool definition. */
export interface ToolProblem {
  tool: string;
  rule: LintRule;
  /** JSON Pointer into the definition, for example `/inputSchema/properties/city`. */
  path: string;
  /** Providers that it concerns. */
  providers: LintProvider[];
  /** `rejected`: these providers answer the whole request with an error. `advice`: models or hosts use the tool less well. */
  effect: 'rejected' | 'advice';
  /** What is wrong, and what to do. */
  message: string;
  /** URL of the rule, or of a thread that quotes the error. */
  source: string;
  /** Estimated tokens of the definition. */
  tokens: number;
}

const checks: OptionChecks<LintToolsOptions> = {
  providers: listOf(oneOf(...lintProviders)),
  ignore: listOf(oneOf(...Object.keys(ruleSources))),
};

const advice: ReadonlySet<LintRule> = new Set([
  'annotations-missing',
  'description-copied',
  'description-missing',
  'invisible-characters',
  'output-schema-missing',
]);

/** Parts of a schema that are read. */
const maxParts = 10_000;

/**
 * Checks tool definitions against what providers accept and what models need. Reads them only: no request is sent.
 *
 * @param definitions - as of `tools/list`: `client.tools()`, or a recorded list
 * @returns problems by tool, in the order of the definitions
 * @throws `OPTIONS_INVALID`; `TEST_INVALID` for something else than a list
 * @example
 * const problems = lintTools(await client.tools(), { providers: ['openai', 'anthropic'] });
 * assert.deepEqual(problems.filter(({ effect }) => effect === 'rejected'), []);
 */
export function lintTools(definitions: readonly ProtocolTool[], options: LintToolsOptions = {}): ToolProblem[] {
  checkOptions('lintTools', options, checks);
  if (!Array.isArray(definitions))
    throw new QuiverError('TEST_INVALID', 'lintTools takes a list of definitions, for example `await client.tools()`.');
  const { providers = defaultLintProviders, ignore = [] } = options;
  const { tools, malformed } = parseToolDefinitions(definitions, true);
  const problems = malformed.map(({ tool, problem }) =>
    toProblem(tool, 0, { rule: 'definition-invalid', providers: lintProviders, message: `${problem}. Correct it.` }),
  );
  const tokens = new Map(
    toolTokens(Object.fromEntries(tools.map((tool) => [tool.name, tool]))).tools.map((tool) => [
      tool.name,
      tool.tokens,
    ]),
  );
  /** First tool by the words of its description. */
  const described = new Map(tools.toReversed().map((tool) => [wordsOf(tool.description ?? ''), tool.name]));
  for (const tool of tools) {
    const add = (finding: Finding, path?: string): unknown =>
      problems.push(toProblem(tool.name, tokens.get(tool.name) ?? 0, finding, path));
    for (const finding of checkName(tool.name)) add(finding, '/name');
    for (const key of ['name', 'title', 'description'] as const)
      for (const finding of checkText(tool[key])) add(finding, `/${key}`);
    for (const [path, finding] of checkDescriptions(tool, described)) add(finding, path);
    for (const [path, part] of partsOf(tool.inputSchema)) for (const finding of checkPart(part)) add(finding, path);
  }
  return problems
    .filter(({ rule }) => !ignore.includes(rule))
    .map((problem) => ({ ...problem, providers: problem.providers.filter((provider) => providers.includes(provider)) }))
    .filter((problem) => problem.providers.length > 0);
}

function toProblem(tool: string, tokens: number, { rule, providers, message }: Finding, path = ''): ToolProblem {
  const effect = advice.has(rule) ? 'advice' : 'rejected';
  return { tool, rule, path, providers: [...providers], effect, message, source: ruleSources[rule], tokens };
}

function* checkDescriptions(tool: ProtocolTool, described: ReadonlyMap<string, string>): Generator<[string, Finding]> {
  const { name, title, description = '', annotations = {}, outputSchema } = tool;
  const advise = (rule: LintRule, message: string): Finding => ({ rule, providers: lintProviders, message });
  const words = wordsOf(description);
  const first = described.get(words);
  if (words === '')
    yield ['/description', advise('description-missing', 'Say what the tool does, and when to use it.')];
  else if (words === wordsOf(name) || words === wordsOf(title ?? ''))
    yield [
      '/description',
      advise('description-copied', 'The description repeats the name. Say what the tool does, and when to use it.'),
    ];
  else if (first !== undefined && first !== name)
    yield ['/description', advise('description-copied', `'${first}' has the same description. Say how they differ.`)];
  const hasTitle = title !== undefined || annotations.title !== undefined;
  const missing = [
    ...(hasTitle ? [] : ['title']),
    ...(annotations.readOnlyHint === undefined ? ['annotations.readOnlyHint'] : []),
  ];
  const isWriting = annotations.readOnlyHint === false && annotations.destructiveHint === undefined;
  if (isWriting) missing.push('annotations.destructiveHint');
  if (missing.length > 0)
    yield [
      '/annotations',
      advise(
        'annotations-missing',
        `Hosts take a tool without hints for destructive, and show its title. Add ${missing.join(' and ')}.`,
      ),
    ];
  if (outputSchema === undefined)
    yield [
      '/outputSchema',
      advise('output-schema-missing', 'Without an output schema, programs receive text. Describe the output.'),
    ];
}

/** Words of a text, without the separators of names: `get_forecast` and `Get forecast.` have the same. */
function wordsOf(text: string): string {
  return text
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .join(' ');
}

const schemaKeys = ['items', 'additionalProperties', 'not', 'if', 'then', 'else'];
const listKeys = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const mapKeys = ['properties', 'patternProperties', '$defs', 'definitions'];

/** Returns all parts of an input schema with their paths. */
function* partsOf(root: unknown): Generator<[string, SchemaPart]> {
  const waiting: [path: string, schema: unknown, keyword: string | undefined][] = [['/inputSchema', root, undefined]];
  for (let count = 0; count < maxParts; count += 1) {
    const next = waiting.shift();
    if (!next) return;
    const [path, schema, keyword] = next;
    const isSchema = typeof schema === 'object' && schema !== null && !Array.isArray(schema);
    if (typeof schema !== 'boolean' && !isSchema) continue;
    const part = schema as SchemaPart['schema'];
    yield [path, { schema: part, keyword, root }];
    if (typeof part === 'boolean') continue;
    for (const key of schemaKeys) waiting.push([`${path}/${key}`, part[key], key]);
    for (const key of [...listKeys, ...mapKeys])
      for (const [name, value] of Object.entries(part[key] ?? {}))
        waiting.push([`${path}/${key}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, value, key]);
  }
}
