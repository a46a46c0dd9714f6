import { hasInvisibleText } from '@quiver/mcp/internal';
import { isObject } from '../json.js';

/**
 * Provider whose API reads tool definitions. `openai-strict` is OpenAI with `strict: true`. `gemini` is the field `parametersJsonSchema` of
 * Gemini, which the AI SDK sends; `gemini-parameters` is the field `parameters`, a subset of OpenAPI.
 */
export type LintProvider = 'openai' | 'openai-strict' | 'anthropic' | 'gemini' | 'gemini-parameters';

export const lintProviders: readonly LintProvider[] = [
  'openai',
  'openai-strict',
  'anthropic',
  'gemini',
  'gemini-parameters',
];
/** Strict mode is an agreement between an application and its own tools: no published server keeps it. */
export const defaultLintProviders: readonly LintProvider[] = lintProviders.filter((name) => name !== 'openai-strict');

const openai: LintProvider = 'openai';
const strict: LintProvider = 'openai-strict';
const anthropic: LintProvider = 'anthropic';
const gemini: LintProvider = 'gemini';
/** Gemini's subset of OpenAPI. */
const subset: LintProvider = 'gemini-parameters';

/** The sources of the rules: the documentation of the provider or of the protocol, or a thread that quotes the error of the provider. */
export const ruleSources = {
  'annotations-missing': 'https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations',
  const: 'https://github.com/taylorwilsdon/google_workspace_mcp/issues/1099',
  'definition-invalid': 'https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool',
  'description-copied':
    'https://platform.openai.com/docs/guides/function-calling#best-practices-for-defining-functions',
  'description-missing': 'https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use',
  'enum-not-text': 'https://github.com/google-gemini/gemini-cli/issues/4127',
  'invisible-characters': 'https://embracethered.com/blog/posts/2024/hiding-and-finding-text-with-unicode-tags/',
  'items-missing': 'https://github.com/digitalocean-labs/mcp-digitalocean/issues/265',
  'name-characters': 'https://github.com/github/copilot-cli/issues/1879',
  'name-length': 'https://platform.openai.com/docs/api-reference/chat/create',
  'output-schema-missing': 'https://modelcontextprotocol.io/specification/2025-11-25/server/tools#output-schema',
  'ref-siblings': 'https://github.com/anomalyco/opencode/issues/12295',
  'ref-unresolved': 'https://json-schema.org/draft/2020-12/json-schema-core#section-8.2.3',
  reference: 'https://github.com/google-gemini/gemini-cli/issues/13326',
  'required-unknown': 'https://github.com/anomalyco/opencode/issues/3140',
  'root-union': 'https://github.com/nspady/google-calendar-mcp/issues/39',
  'strict-additional-properties': 'https://platform.openai.com/docs/guides/structured-outputs#supported-schemas',
  'strict-keyword': 'https://platform.openai.com/docs/guides/structured-outputs#supported-schemas',
  'strict-required': 'https://platform.openai.com/docs/guides/structured-outputs#supported-schemas',
  'type-list': 'https://github.com/zed-industries/zed/issues/44875',
  'type-missing': 'https://github.com/google-gemini/gemini-cli/issues/4400',
  'union-in-items': 'https://github.com/sbroenne/mcp-server-excel/issues/672',
} as const;

/** Name of a rule of `lintTools()`. */
export type LintRule = keyof typeof ruleSources;

/** A problem before the tool and its source are known. */
export interface Finding {
  rule: LintRule;
  providers: readonly LintProvider[];
  message: string;
}

/** A part of an input schema. */
export interface SchemaPart {
  readonly schema: Readonly<Record<string, unknown>> | boolean;
  /** Keyword that contains it; `undefined` for the root. */
  readonly keyword: string | undefined;
  readonly root: unknown;
}

const unions = ['anyOf', 'oneOf', 'allOf'];
const maxNameLength = 64;
/** Members next to `$ref` that Gemini accepts. */
const harmlessSiblings = new Set(['description', 'default']);
const strictKeywords = ['allOf', 'oneOf', 'not', 'if', 'dependentRequired', 'dependentSchemas', 'patternProperties'];

/** Returns the problems of a name. */
export function checkName(name: string): Finding[] {
  const findings: Finding[] = [];
  if (name.length > maxNameLength) {
    const message = `The name has ${name.length} characters; providers accept ${maxNameLength}, and hosts put the name of the server before it. Shorten it.`;
    findings.push({ rule: 'name-length', providers: lintProviders, message });
  }
  const providers: LintProvider[] = [];
  if (!/^[\w-]+$/.test(name)) providers.push(openai, strict, anthropic);
  if (!/^[A-Za-z_][\w.-]*$/.test(name)) providers.push(gemini, subset);
  const message = `Providers accept letters, digits, '_' and '-', and Gemini a letter or '_' first. Rename the tool.`;
  if (providers.length > 0) findings.push({ rule: 'name-characters', providers, message });
  return findings;
}

/** Returns the problem of a name, title or description that contains what its reader does not see. */
export function checkText(text: unknown): Finding[] {
  if (typeof text !== 'string' || !hasInvisibleText(text)) return [];
  const message =
    'The text has characters that a user does not see, and a model reads: zero-width spaces, marks of direction or tags. Remove them.';
  return [{ rule: 'invisible-characters', providers: lintProviders, message }];
}

/** Returns the problems of one part of an input schema, without those of its own parts. */
export function checkPart(part: SchemaPart): Finding[] {
  const { schema } = part;
  if (typeof schema === 'boolean') {
    // `additionalProperties: false` has no value to describe.
    if (part.keyword === 'additionalProperties') return [];
    const message = 'A Boolean schema has no type. Name the type.';
    return [{ rule: 'type-missing', providers: [strict, subset], message }];
  }
  return [
    ...checkReference(schema, part.root),
    ...checkUnions(schema, part.keyword),
    ...checkType(schema),
    ...checkValues(schema),
    ...checkObject(schema),
    ...[schema['title'], schema['description']].flatMap(checkText),
  ];
}

function checkReference(schema: Readonly<Record<string, unknown>>, root: unknown): Finding[] {
  const { $ref, ...siblings } = schema;
  if (typeof $ref !== 'string') return [];
  const findings: Finding[] = [
    {
      rule: 'reference',
      providers: [subset],
      message: `\`parameters\` of Gemini does not resolve '${$ref}'. Write the schema in place.`,
    },
  ];
  if (!isResolved($ref, root)) {
    const message = `'${$ref}' names no part of this schema. Add it to \`$defs\`, or write it in place.`;
    findings.push({ rule: 'ref-unresolved', providers: lintProviders, message });
  }
  const names = Object.keys(siblings).filter((name) => !unreadKeys.has(name));
  if (names.length > 0) {
    const providers = names.every((name) => harmlessSiblings.has(name)) ? [strict] : [strict, gemini, subset];
    const message = `\`$ref\` stands next to ${names.map((name) => `\`${name}\``).join(', ')}. Move them into the referenced schema.`;
    findings.push({ rule: 'ref-siblings', providers, message });
  }
  return findings;
}

/** Members that describe other schemas than the one they are in. */
const unreadKeys: ReadonlySet<string> = new Set(['$defs', 'definitions', '$schema', '$id', '$comment']);

function isResolved(reference: string, root: unknown): boolean {
  if (reference === '#') return true;
  if (!reference.startsWith('#/')) return false;
  let found = root;
  for (const key of reference.slice(2).split('/')) {
    if (typeof found !== 'object' || found === null) return false;
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
    if (!Object.hasOwn(found, name)) return false;
    found = (found as Record<string, unknown>)[name];
  }
  return true;
}

function checkUnions(schema: Readonly<Record<string, unknown>>, keyword: string | undefined): Finding[] {
  const used = unions.filter((name) => name in schema);
  const findings: Finding[] = [];
  if (keyword === undefined) {
    const others = ['enum', 'not'].filter((name) => name in schema);
    const providers = used.length > 0 ? lintProviders : [openai, strict];
    const message = `The root has ${list([...used, ...others])}, which providers reject. Make it one object, with the alternatives in a property.`;
    if (used.length + others.length > 0) findings.push({ rule: 'root-union', providers, message });
  } else if (keyword === 'items' && used.length > 0) {
    const message = `The items have ${list(used)}. Give them one type.`;
    findings.push({ rule: 'union-in-items', providers: [subset], message });
  }
  const refused = strictKeywords.filter((name) => name in schema);
  if (refused.length > 0) {
    const message = `Strict mode rejects ${list(refused)}. Use \`anyOf\`, or explain the condition in the description.`;
    findings.push({ rule: 'strict-keyword', providers: [strict], message });
  }
  return findings;
}

function checkType(schema: Readonly<Record<string, unknown>>): Finding[] {
  const { type } = schema;
  if (Array.isArray(type)) {
    const message = `\`type\` is a list: ${JSON.stringify(type)}. Name one type, and make the property optional instead of nullable.`;
    return [{ rule: 'type-list', providers: [subset], message }];
  }
  if (type !== undefined || '$ref' in schema || unions.some((name) => name in schema)) return [];
  const providers = 'enum' in schema || 'const' in schema ? [subset] : [strict, subset];
  return [{ rule: 'type-missing', providers, message: 'The schema has no `type`. Name it.' }];
}

function checkValues(schema: Readonly<Record<string, unknown>>): Finding[] {
  const { type, enum: values } = schema;
  const findings: Finding[] = [];
  if (Array.isArray(values) && !values.every((value) => typeof value === 'string')) {
    const message = `\`parameters\` of Gemini accepts texts in \`enum\` only, not ${JSON.stringify(values.find((value) => typeof value !== 'string'))}. Use texts, or a range.`;
    findings.push({ rule: 'enum-not-text', providers: [subset], message });
  }
  if ('const' in schema) {
    const message = '`parameters` of Gemini has no `const`. Use `enum` with one value.';
    findings.push({ rule: 'const', providers: [subset], message });
  }
  const isArray = type === 'array' || (Array.isArray(type) && type.includes('array'));
  if (isArray && !isObject(schema['items'])) {
    const message = 'The array has no `items`. Describe them.';
    findings.push({ rule: 'items-missing', providers: [openai, strict, subset], message });
  }
  return findings;
}

function checkObject(schema: Readonly<Record<string, unknown>>): Finding[] {
  const { type, properties, required, additionalProperties } = schema;
  const findings: Finding[] = [];
  const names = isObject(properties) ? Object.keys(properties) : [];
  findings.push(...names.flatMap(checkText));
  const needed = Array.isArray(required) ? required : [];
  const unknown = needed.filter((name) => !names.includes(String(name)));
  if (unknown.length > 0) {
    const message = `\`required\` names ${list(unknown)}, which \`properties\` does not. Describe it, or remove it.`;
    findings.push({ rule: 'required-unknown', providers: [strict, subset], message });
  }
  if (type !== 'object' && properties === undefined) return findings;
  if (additionalProperties !== false) {
    const message = 'Strict mode needs `additionalProperties: false` in every object.';
    findings.push({ rule: 'strict-additional-properties', providers: [strict], message });
  }
  const optional = names.filter((name) => !needed.includes(name));
  if (optional.length > 0) {
    const message = `Strict mode needs every property in \`required\`; ${list(optional)} is not. Make it required and nullable.`;
    findings.push({ rule: 'strict-required', providers: [strict], message });
  }
  return findings;
}

const maxNames = 5;

function list(names: readonly unknown[]): string {
  const shown = names.slice(0, maxNames).map((name) => `\`${String(name)}\``);
  return `${shown.join(', ')}${names.length > maxNames ? ` and ${names.length - maxNames} more` : ''}`;
}
