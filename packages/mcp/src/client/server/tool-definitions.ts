import { escapeForLog, QuiverError, toErrorMessage } from '@quiver/core';
import type { ProtocolTool } from '../../protocol/client-types.js';
import { isObject } from '../../protocol/json-rpc.js';
import { declaredParamHeaders } from '../../protocol/param-headers.js';

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

/** Returns the error that reports malformed definitions, with one line per tool. */
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

const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];

function findProblem(tool: unknown, isModern: boolean): string | undefined {
  if (!isObject(tool)) return `the definition is ${describe(tool)}, not an object`;
  const { name, title, description, inputSchema, outputSchema, annotations, _meta } = tool;
  if (typeof name !== 'string' || name === '') return `\`name\` is ${describe(name)}, not a string`;
  if (title !== undefined && typeof title !== 'string') return `\`title\` is ${describe(title)}, not a string`;
  if (description !== undefined && typeof description !== 'string')
    return `\`description\` is ${describe(description)}, not a string`;
  if (_meta !== undefined && !isObject(_meta)) return `\`_meta\` is ${describe(_meta)}, not an object`;
  return (
    findAnnotationProblem(annotations) ??
    findSchemaProblem('inputSchema', inputSchema, true) ??
    (outputSchema === undefined ? undefined : findSchemaProblem('outputSchema', outputSchema, !isModern)) ??
    // `inputSchema` is an object: it has been checked.
    (isModern ? findHeaderProblem(inputSchema as object) : undefined)
  );
}

function findAnnotationProblem(annotations: unknown): string | undefined {
  if (annotations === undefined) return undefined;
  if (!isObject(annotations)) return `\`annotations\` is ${describe(annotations)}, not an object`;
  const { title } = annotations;
  if (title !== undefined && typeof title !== 'string')
    return `\`annotations.title\` is ${describe(title)}, not a string`;
  const hint = hints.find((key) => annotations[key] !== undefined && typeof annotations[key] !== 'boolean');
  return hint && `\`annotations.${hint}\` is ${describe(annotations[hint])}, not a Boolean`;
}

/** Checks what the protocol requires of a schema. Keywords in it are checked when a value is validated. */
function findSchemaProblem(key: string, schema: unknown, mustBeObject: boolean): string | undefined {
  if (!isObject(schema)) return `\`${key}\` is ${describe(schema)}, not a JSON Schema object`;
  const { type, properties, required } = schema;
  if (mustBeObject && type !== 'object') return `\`${key}.type\` is ${describe(type)}, not 'object'`;
  if (properties !== undefined && !isObject(properties))
    return `\`${key}.properties\` is ${describe(properties)}, not an object`;
  const isNameList = Array.isArray(required) && required.every((name) => typeof name === 'string');
  if (required !== undefined && !isNameList) return `\`${key}.required\` is ${describe(required)}, not a list of names`;
  return undefined;
}

function findHeaderProblem(inputSchema: object): string | undefined {
  try {
    declaredParamHeaders(inputSchema);
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
