import { escapeForLog, QuiverError, toErrorMessage } from '@quiver/core';
import { loadBuiltin } from '@quiver/core/internal';
import type { ProtocolTool } from '../../protocol/types.js';
import { isObject } from '../../protocol/json-rpc.js';
import { findParamHeaders } from '../../protocol/param-headers.js';

/** Tool definition that the client left out of a list. */
export interface MalformedTool {
  /** Name of the tool, or its position in the list. */
  readonly tool: string;
  readonly problem: string;
}

/**
 * Parses the entries of a `tools/list` result one by one, so that a malformed definition does not hide the other tools.
 *
 * @param isModern - whether the protocol version allows `outputSchema` to describe something other than an object, and repeats
 *   arguments in headers
 */
export function parseToolDefinitions(
  list: readonly unknown[],
  isModern: boolean,
): { tools: ProtocolTool[]; malformed: MalformedTool[] } {
  const malformed: MalformedTool[] = [];
  const tools = list.filter((tool, index): tool is ProtocolTool => {
    const problem = findProblem(tool, isModern);
    if (problem === undefined) return true;
    malformed.push({ tool: labelOf(tool, index), problem });
    return false;
  });
  return { tools, malformed };
}

/** Returns the error about malformed definitions, with one line per tool. */
export function malformedToolsError(serverName: string, malformed: readonly MalformedTool[]): QuiverError {
  const lines = malformed.map(({ tool, problem }) => `Left out ${tool} of MCP server '${serverName}': ${problem}.`);
  return new QuiverError('MCP_TOOL_DEFINITION_INVALID', lines.join('\n'), {
    details: { server: serverName, tools: malformed.map(({ tool }) => tool) },
  });
}

const maxLabelLength = 100;

function labelOf(tool: unknown, index: number): string {
  const name = isObject(tool) && tool['name'];
  if (typeof name !== 'string' || name === '') return `tool ${index + 1} of the list`;
  return `tool '${escapeForLog(name.slice(0, maxLabelLength))}'`;
}

const hintNames = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];

/** Checks what the protocol requires of a definition. Keywords in its schemas are checked when a value is validated. */
function findProblem(tool: unknown, isModern: boolean): string | undefined {
  if (!isObject(tool)) return `the definition is ${describe(tool)}, not an object`;
  const { name, title, description, inputSchema, outputSchema, annotations, _meta } = tool;
  const hints = isObject(annotations) ? annotations : {};
  const hint = hintNames.find((key) => !isOptional('boolean', hints[key])) ?? '';
  return (
    unless(typeof name === 'string' && name !== '', 'name', name, 'a string') ??
    unless(isOptional('string', title), 'title', title, 'a string') ??
    unless(isOptional('string', description), 'description', description, 'a string') ??
    unless(_meta === undefined || isObject(_meta), '_meta', _meta, 'an object') ??
    unless(annotations === undefined || isObject(annotations), 'annotations', annotations, 'an object') ??
    unless(isOptional('string', hints['title']), 'annotations.title', hints['title'], 'a string') ??
    unless(hint === '', `annotations.${hint}`, hints[hint], 'a Boolean') ??
    findSchemaProblem('inputSchema', inputSchema, true) ??
    (outputSchema === undefined ? undefined : findSchemaProblem('outputSchema', outputSchema, !isModern)) ??
    // `inputSchema` is an object: it has been checked.
    (isModern ? findHeaderProblem(inputSchema as object) : undefined)
  );
}

function findSchemaProblem(key: string, schema: unknown, mustBeObject: boolean): string | undefined {
  const { type, properties, required } = isObject(schema) ? schema : {};
  const isNameList = Array.isArray(required) && required.every((name) => typeof name === 'string');
  return (
    unless(isObject(schema), key, schema, 'a JSON Schema object') ??
    unless(!mustBeObject || type === 'object', `${key}.type`, type, "'object'") ??
    unless(properties === undefined || isObject(properties), `${key}.properties`, properties, 'an object') ??
    unless(required === undefined || isNameList, `${key}.required`, required, 'a list of names')
  );
}

function unless(isMet: boolean, path: string, value: unknown, expected: string): string | undefined {
  return isMet ? undefined : `\`${path}\` is ${describe(value)}, not ${expected}`;
}

function isOptional(type: 'string' | 'boolean', value: unknown): boolean {
  return value === undefined || typeof value === type;
}

function findHeaderProblem(inputSchema: object): string | undefined {
  try {
    findParamHeaders(inputSchema);
    return undefined;
  } catch (error) {
    return toErrorMessage(error);
  }
}

function describe(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'string') return `'${escapeForLog(value.slice(0, maxLabelLength))}'`;
  return typeof value === 'object' ? 'an object' : String(value);
}

/** Differences between two lists of a server's tools. Names are the server's own. */
export interface DefinitionChanges {
  added: string[];
  removed: string[];
  /** Same name, other description, schema, title or annotations. */
  changed: string[];
}

/**
 * Returns a hash of the members that models and users judge a tool by: name, title, description, schemas and annotations. The order of
 * keys does not matter. A tool that was approved and then has another fingerprint should be approved again.
 *
 * @returns SHA-256 in hexadecimal
 */
export function fingerprintTool(tool: ProtocolTool): string {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  const judged = { name, title, description, inputSchema, outputSchema, annotations };
  return toSha256(JSON.stringify(sortKeys(judged)));
}

/** Returns the SHA-256 of a text in hexadecimal. */
export function toSha256(text: string): string {
  return loadBuiltin('node:crypto').createHash('sha256').update(text).digest('hex');
}

/** Returns the differences between two lists of one server's tools, or `undefined` when there are none. */
export function compareDefinitions(
  before: readonly ProtocolTool[],
  after: readonly ProtocolTool[],
): DefinitionChanges | undefined {
  const prints = new Map(before.map((tool) => [tool.name, fingerprintTool(tool)]));
  const changes: DefinitionChanges = { added: [], removed: [], changed: [] };
  for (const tool of after) {
    const print = prints.get(tool.name);
    prints.delete(tool.name);
    if (print === undefined) changes.added.push(tool.name);
    else if (print !== fingerprintTool(tool)) changes.changed.push(tool.name);
  }
  changes.removed.push(...prints.keys());
  return [changes.added, changes.removed, changes.changed].some(({ length }) => length > 0) ? changes : undefined;
}

/** Returns a value whose objects have their keys in alphabetical order. */
export function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sortKeys(member)]));
}
