import { checkOptions, listOf, oneOf, type OptionChecks, invalidOptions } from '@quiver/core/internal';
import { toolTokens } from '@quiver/core/tool-search';
import type { ProtocolTool } from '@quiver/mcp/client';
import { parseToolDefinitions } from '@quiver/mcp/internal';
import { isObject } from '../json.js';
import {
  defaultLintProviders,
  lintProviders,
  lintRules,
  propertiesOf,
  wordsOf,
  type LintProvider,
  type LintRule,
  type Rule,
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
  /** The problem and its remedy. */
  message: string;
  /** URL of the rule, or of a thread that quotes the error. */
  source: string;
  /** Estimated tokens of the definition. */
  tokens: number;
}

const checks: OptionChecks<LintToolsOptions> = {
  providers: listOf(oneOf(...lintProviders)),
  ignore: listOf(oneOf(...Object.keys(lintRules))),
};

/** Parts of a schema that are read. */
const maxParts = 10_000;

/**
 * Checks tool definitions against what providers accept and what models need. Reads them only: no request is sent.
 *
 * @param definitions - as of `tools/list`: `client.tools()`, or a recorded list
 * @returns problems by tool, in the order of the definitions
 * @throws `OPTIONS_INVALID` for something else than a list
 * @example
 * const problems = lintTools(await client.tools(), { providers: ['openai', 'anthropic'] });
 * assert.deepEqual(problems.filter(({ effect }) => effect === 'rejected'), []);
 */
export function lintTools(definitions: readonly ProtocolTool[], options: LintToolsOptions = {}): ToolProblem[] {
  checkOptions('lintTools', options, checks);
  if (!Array.isArray(definitions))
    throw invalidOptions('lintTools takes a list of definitions, for example `await client.tools()`.');
  const { providers = defaultLintProviders, ignore = [] } = options;
  const { tools, malformed } = parseToolDefinitions(definitions, true);
  const { tools: sizes } = toolTokens(Object.fromEntries(tools.map((tool) => [tool.name, tool])));
  const tokensOf = new Map(sizes.map((tool) => [tool.name, tool.tokens]));
  /** First tool by the words of its description. */
  const first = new Map(tools.toReversed().map(({ name, description = '' }) => [wordsOf(description), name]));
  const problems: ToolProblem[] = [];
  const add = (
    tool: string,
    rule: LintRule,
    path: string,
    found: string | readonly [string, readonly LintProvider[]],
  ) => {
    const { source, isAdvice, providers: all = lintProviders } = lintRules[rule];
    const [message, concerned] = typeof found === 'string' ? [found, all] : found;
    const own = concerned.filter((provider) => providers.includes(provider));
    const effect = isAdvice ? 'advice' : 'rejected';
    if (own.length > 0 && !ignore.includes(rule))
      problems.push({ tool, rule, path, providers: own, effect, message, source, tokens: tokensOf.get(tool) ?? 0 });
  };
  for (const { tool, problem } of malformed) add(tool, 'definition-invalid', '', `${problem}. Correct it.`);
  for (const tool of tools) {
    const { name, title, description = '', inputSchema } = tool;
    const twin = first.get(wordsOf(description));
    const parts = [...partsOf(inputSchema)];
    for (const [rule, { member, inTool, inText, inSchema }] of Object.entries(lintRules) as [LintRule, Rule][]) {
      const inWhole = inTool?.(tool, twin === name ? undefined : twin);
      if (inWhole) add(name, rule, `/${member}`, inWhole);
      for (const [key, text] of Object.entries({ name, title, description })) {
        const found = text !== undefined && inText?.(text);
        if (found) add(name, rule, `/${key}`, found);
      }
      for (const [path, part] of parts) {
        const found = inSchema?.(part.schema, part) || inText?.(textsOf(part.schema));
        if (found) add(name, rule, path, found);
      }
    }
  }
  return problems;
}

/** Returns what a model reads of a part: its title, its description and the names of its properties. */
function textsOf(schema: Readonly<Record<string, unknown>>): string {
  return [schema['title'], schema['description'], ...propertiesOf(schema)]
    .filter((text) => typeof text === 'string')
    .join('\n');
}

const schemaKeys = ['items', 'additionalProperties', 'not', 'if', 'then', 'else'];
/** Lists and objects of schemas. */
const nestedKeys = 'anyOf oneOf allOf prefixItems properties patternProperties $defs definitions'.split(' ');

/** Returns all parts of an input schema with their paths. */
function* partsOf(root: unknown): Generator<[string, SchemaPart]> {
  const waiting: [path: string, schema: unknown, keyword: string | undefined][] = [['/inputSchema', root, undefined]];
  for (let count = 0; count < maxParts; count += 1) {
    const next = waiting.shift();
    if (!next) return;
    const [path, schema, keyword] = next;
    // `additionalProperties: false` has no value to describe; other Boolean schemas have no type.
    const part = typeof schema === 'boolean' && keyword !== 'additionalProperties' ? {} : schema;
    if (!isObject(part)) continue;
    yield [path, { schema: part, keyword, root }];
    for (const key of schemaKeys) waiting.push([`${path}/${key}`, part[key], key]);
    for (const key of nestedKeys)
      for (const [name, value] of Object.entries(part[key] ?? {}))
        waiting.push([`${path}/${key}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, value, key]);
  }
}
