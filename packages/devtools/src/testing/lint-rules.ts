import type { ProtocolTool } from '@quiver/mcp/client';
import { hasInvisibleText } from '@quiver/mcp/internal';
import { isObject } from '../json.js';
import { resolvePointer } from '@quiver/core/internal';

/**
 * Provider whose API reads tool definitions. `openai-strict` is OpenAI with `strict: true`. `gemini` is the field `parametersJsonSchema` of
 * Gemini, which the AI SDK sends; `gemini-parameters` is the field `parameters`, a subset of OpenAPI.
 */
export type LintProvider = 'openai' | 'openai-strict' | 'anthropic' | 'gemini' | 'gemini-parameters';

const strict: LintProvider = 'openai-strict';
/** Gemini's subset of OpenAPI. */
const subset: LintProvider = 'gemini-parameters';
export const lintProviders: readonly LintProvider[] = ['openai', strict, 'anthropic', 'gemini', subset];
/** Strict mode is an agreement between an application and its own tools: no published server keeps it. */
export const defaultLintProviders: readonly LintProvider[] = lintProviders.filter((name) => name !== strict);

/** A part of an input schema. */
export interface SchemaPart {
  readonly schema: Readonly<Record<string, unknown>>;
  /** Keyword that contains it; `undefined` for the root. */
  readonly keyword: string | undefined;
  readonly root: unknown;
}

/** Name of a rule of `lintTools()`. */
export type LintRule =
  | 'annotations-missing'
  | 'const'
  | 'definition-invalid'
  | 'description-copied'
  | 'description-missing'
  | 'enum-not-text'
  | 'invisible-characters'
  | 'items-missing'
  | 'name-characters'
  | 'name-length'
  | 'output-schema-missing'
  | 'ref-siblings'
  | 'ref-unresolved'
  | 'reference'
  | 'required-unknown'
  | 'root-union'
  | 'strict-additional-properties'
  | 'strict-keyword'
  | 'strict-required'
  | 'type-list'
  | 'type-missing'
  | 'union-in-items';

/** A problem: its message, which may come with other providers than those of the rule. `false` without a problem. */
export type Found = string | readonly [message: string, providers: readonly LintProvider[]] | false;

export interface Rule {
  /** Documentation of the provider or of the protocol, or a thread that quotes the error of the provider. */
  readonly source: string;
  /** Providers that it concerns. Default: all. */
  readonly providers?: readonly LintProvider[];
  /** Whether a model or a host uses the tool less well; otherwise the providers reject the request. */
  readonly isAdvice?: boolean;
  /** Member of a definition that {@link inTool} reads. */
  readonly member?: string;
  /** @param twin - the first tool with the same description */
  readonly inTool?: (tool: ProtocolTool, twin: string | undefined) => Found;
  readonly inText?: (text: string) => Found;
  readonly inSchema?: (schema: Readonly<Record<string, unknown>>, part: SchemaPart) => Found;
}

const unions = ['anyOf', 'oneOf', 'allOf'];
const strictKeywords = ['allOf', 'oneOf', 'not', 'if', 'dependentRequired', 'dependentSchemas', 'patternProperties'];
/** Members next to `$ref` that Gemini accepts. */
const harmlessSiblings = new Set(['description', 'default']);
/** Members that describe other schemas than the one they are in. */
const unreadKeys: ReadonlySet<string> = new Set(['$defs', 'definitions', '$schema', '$id', '$comment']);
const maxNameLength = 64;
const strictGuide = 'https://platform.openai.com/docs/guides/structured-outputs#supported-schemas';

/** The rules by name. */
export const lintRules: Readonly<Record<LintRule, Rule>> = {
  'annotations-missing': {
    source: 'https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations',
    isAdvice: true,
    member: 'annotations',
    inTool: ({ title, annotations = {} }) => {
      const isWriting = annotations.readOnlyHint === false && annotations.destructiveHint === undefined;
      const missing = [
        ...(title === undefined && annotations.title === undefined ? ['title'] : []),
        ...(annotations.readOnlyHint === undefined ? ['annotations.readOnlyHint'] : []),
        ...(isWriting ? ['annotations.destructiveHint'] : []),
      ];
      if (missing.length === 0) return false;
      return `Hosts take a tool without hints for destructive, and show its title. Add ${missing.join(' and ')}.`;
    },
  },
  const: {
    source: 'https://github.com/taylorwilsdon/google_workspace_mcp/issues/1099',
    providers: [subset],
    inSchema: (schema) => 'const' in schema && '`parameters` of Gemini has no `const`. Use `enum` with one value.',
  },
  'definition-invalid': { source: 'https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool' },
  'description-copied': {
    source: 'https://platform.openai.com/docs/guides/function-calling#best-practices-for-defining-functions',
    isAdvice: true,
    member: 'description',
    inTool: ({ name, title = '', description = '' }, twin) => {
      const words = wordsOf(description);
      if (words === '') return false;
      if (words === wordsOf(name) || words === wordsOf(title))
        return 'The description repeats the name. Say what the tool does, and when to use it.';
      return twin !== undefined && `'${twin}' has the same description. Say how they differ.`;
    },
  },
  'description-missing': {
    source: 'https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use',
    isAdvice: true,
    member: 'description',
    inTool: ({ description = '' }) => wordsOf(description) === '' && 'Say what the tool does, and when to use it.',
  },
  'enum-not-text': {
    source: 'https://github.com/google-gemini/gemini-cli/issues/4127',
    providers: [subset],
    inSchema: ({ enum: values }) => {
      const others = Array.isArray(values) ? values.filter((value) => typeof value !== 'string') : [];
      if (others.length === 0) return false;
      return `\`parameters\` of Gemini accepts texts in \`enum\` only, not ${JSON.stringify(others[0])}. Use texts, or a range.`;
    },
  },
  'invisible-characters': {
    source: 'https://embracethered.com/blog/posts/2024/hiding-and-finding-text-with-unicode-tags/',
    isAdvice: true,
    inText: (text) =>
      hasInvisibleText(text) &&
      'The text has characters that a user does not see, and a model reads: zero-width spaces, marks of direction or tags. Remove them.',
  },
  'items-missing': {
    source: 'https://github.com/digitalocean-labs/mcp-digitalocean/issues/265',
    providers: ['openai', strict, subset],
    inSchema: ({ type, items }) =>
      [type].flat().includes('array') && !isObject(items) && 'The array has no `items`. Describe them.',
  },
  'name-characters': {
    source: 'https://github.com/github/copilot-cli/issues/1879',
    member: 'name',
    inTool: ({ name }) => {
      const providers: LintProvider[] = [
        ...(/^[\w-]+$/.test(name) ? [] : (['openai', strict, 'anthropic'] as const)),
        ...(/^[A-Za-z_][\w.-]*$/.test(name) ? [] : (['gemini', subset] as const)),
      ];
      const message = `Providers accept letters, digits, '_' and '-', and Gemini a letter or '_' first. Rename the tool.`;
      return providers.length > 0 && [message, providers];
    },
  },
  'name-length': {
    source: 'https://platform.openai.com/docs/api-reference/chat/create',
    member: 'name',
    inTool: ({ name: { length } }) =>
      length > maxNameLength &&
      `The name has ${length} characters; providers accept ${maxNameLength}, and hosts put the name of the server before it. Shorten it.`,
  },
  'output-schema-missing': {
    source: 'https://modelcontextprotocol.io/specification/2025-11-25/server/tools#output-schema',
    isAdvice: true,
    member: 'outputSchema',
    inTool: ({ outputSchema }) =>
      outputSchema === undefined && 'Without an output schema, programs receive text. Describe the output.',
  },
  'ref-siblings': {
    source: 'https://github.com/anomalyco/opencode/issues/12295',
    inSchema: ({ $ref, ...siblings }) => {
      const names = Object.keys(siblings).filter((name) => !unreadKeys.has(name));
      if (typeof $ref !== 'string' || names.length === 0) return false;
      const message = `\`$ref\` stands next to ${names.map((name) => `\`${name}\``).join(', ')}. Move them into the referenced schema.`;
      return [message, names.every((name) => harmlessSiblings.has(name)) ? [strict] : [strict, 'gemini', subset]];
    },
  },
  'ref-unresolved': {
    source: 'https://json-schema.org/draft/2020-12/json-schema-core#section-8.2.3',
    inSchema: ({ $ref }, { root }) =>
      typeof $ref === 'string' &&
      resolvePointer(root, $ref) === undefined &&
      `'${$ref}' names no part of this schema. Add it to \`$defs\`, or write it in place.`,
  },
  reference: {
    source: 'https://github.com/google-gemini/gemini-cli/issues/13326',
    providers: [subset],
    inSchema: ({ $ref }) =>
      typeof $ref === 'string' && `\`parameters\` of Gemini does not resolve '${$ref}'. Write the schema in place.`,
  },
  'required-unknown': {
    source: 'https://github.com/anomalyco/opencode/issues/3140',
    providers: [strict, subset],
    inSchema: (schema) => {
      const unknown = requiredOf(schema).filter((name) => !propertiesOf(schema).includes(String(name)));
      if (unknown.length === 0) return false;
      return `\`required\` names ${list(unknown)}, which \`properties\` does not. Describe it, or remove it.`;
    },
  },
  'root-union': {
    source: 'https://github.com/nspady/google-calendar-mcp/issues/39',
    inSchema: (schema, { keyword }) => {
      const used = unions.filter((name) => name in schema);
      const all = [...used, ...['enum', 'not'].filter((name) => name in schema)];
      if (keyword !== undefined || all.length === 0) return false;
      const message = `The root has ${list(all)}, which providers reject. Make it one object, with the alternatives in a property.`;
      return [message, used.length > 0 ? lintProviders : ['openai', strict]];
    },
  },
  'strict-additional-properties': {
    source: strictGuide,
    providers: [strict],
    inSchema: (schema) =>
      isObjectSchema(schema) &&
      schema['additionalProperties'] !== false &&
      'Strict mode needs `additionalProperties: false` in every object.',
  },
  'strict-keyword': {
    source: strictGuide,
    providers: [strict],
    inSchema: (schema) => {
      const refused = strictKeywords.filter((name) => name in schema);
      if (refused.length === 0) return false;
      return `Strict mode rejects ${list(refused)}. Use \`anyOf\`, or explain the condition in the description.`;
    },
  },
  'strict-required': {
    source: strictGuide,
    providers: [strict],
    inSchema: (schema) => {
      const optional = propertiesOf(schema).filter((name) => !requiredOf(schema).includes(name));
      if (optional.length === 0) return false;
      return `Strict mode needs every property in \`required\`; ${list(optional)} is not. Make it required and nullable.`;
    },
  },
  'type-list': {
    source: 'https://github.com/zed-industries/zed/issues/44875',
    providers: [subset],
    inSchema: ({ type }) =>
      Array.isArray(type) &&
      `\`type\` is a list: ${JSON.stringify(type)}. Name one type, and make the property optional instead of nullable.`,
  },
  'type-missing': {
    source: 'https://github.com/google-gemini/gemini-cli/issues/4400',
    inSchema: (schema) =>
      !['type', '$ref', ...unions].some((name) => schema[name] !== undefined) && [
        'The schema has no `type`. Name it.',
        'enum' in schema || 'const' in schema ? [subset] : [strict, subset],
      ],
  },
  'union-in-items': {
    source: 'https://github.com/sbroenne/mcp-server-excel/issues/672',
    providers: [subset],
    inSchema: (schema, { keyword }) => {
      const used = unions.filter((name) => name in schema);
      return keyword === 'items' && used.length > 0 && `The items have ${list(used)}. Give them one type.`;
    },
  },
};

/** Words of a text, without the separators of names: `get_forecast` and `Get forecast.` have the same. */
export function wordsOf(text: string): string {
  return text
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .join(' ');
}

export function propertiesOf({ properties }: Readonly<Record<string, unknown>>): string[] {
  return isObject(properties) ? Object.keys(properties) : [];
}

function requiredOf({ required }: Readonly<Record<string, unknown>>): unknown[] {
  return Array.isArray(required) ? required : [];
}

function isObjectSchema({ type, properties }: Readonly<Record<string, unknown>>): boolean {
  return type === 'object' || properties !== undefined;
}

const maxNames = 5;

function list(names: readonly unknown[]): string {
  const shown = names.slice(0, maxNames).map((name) => `\`${String(name)}\``);
  return `${shown.join(', ')}${names.length > maxNames ? ` and ${names.length - maxNames} more` : ''}`;
}
