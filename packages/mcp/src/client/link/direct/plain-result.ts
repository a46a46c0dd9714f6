import type { CallToolResult, ProtocolTool } from '../../../protocol/client-types.js';
import { isObject, type Params } from '../../../protocol/json-rpc.js';
import type { ServerEra } from '../era-memory.js';
import { repeatsArguments } from './repeats-arguments.js';

/**
 * The result of a tool call that needs no closer look: text and structured content of the right types.
 *
 * @returns `undefined` for everything else, which the SDK's schemas have to judge
 */
export function toPlainCallResult(
  result: Params,
  era: ServerEra,
  tool?: Pick<ProtocolTool, 'outputSchema'>,
): CallToolResult | undefined {
  const { content, structuredContent, isError } = result;
  if (!Array.isArray(content) || !content.every(isPlainText)) return undefined;
  if (isError !== undefined && typeof isError !== 'boolean') return undefined;
  if (structuredContent !== undefined && !isObject(structuredContent)) return undefined;
  const isForgotten = structuredContent === undefined && isError !== true && tool?.outputSchema !== undefined;
  if (era === 'modern' && isForgotten) return undefined;
  return withoutResultType(result, era) as CallToolResult | undefined;
}

/**
 * A complete list of tools that needs no closer look.
 *
 * @returns `undefined` for pages, for tools with unusual members, and for those whose arguments go into headers
 */
export function toPlainToolList(
  result: Params,
  era: ServerEra,
): { tools: ProtocolTool[]; ttlMs?: unknown } | undefined {
  const { tools, nextCursor } = result;
  if (nextCursor !== undefined) return undefined;
  if (!Array.isArray(tools) || !tools.every((tool) => isPlainTool(tool, era))) return undefined;
  if (era === 'modern' && !isCacheable(result)) return undefined;
  return withoutResultType(result, era) as { tools: ProtocolTool[] } | undefined;
}

/** Tells whether a result says how long it may be kept, and by whom, as the stateless revision wants it of lists. */
export function isCacheable({ ttlMs, cacheScope }: Params): boolean {
  return Number.isInteger(ttlMs) && (ttlMs as number) >= 0 && (cacheScope === 'public' || cacheScope === 'private');
}

/** The stateless revision says of each result that it is one; the older ones do not know the member. */
export function withoutResultType(result: Params, era: ServerEra): Params | undefined {
  if (era === 'legacy') return 'resultType' in result ? undefined : result;
  const { resultType, ...rest } = result;
  return resultType === 'complete' ? rest : undefined;
}

function isPlainText(part: unknown): boolean {
  if (!isObject(part) || part['type'] !== 'text' || typeof part['text'] !== 'string') return false;
  for (const key in part) if (key !== 'type' && key !== 'text') return false;
  return true;
}

const toolMembers: ReadonlySet<string> = new Set([
  'name',
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
  '_meta',
]);
const hints: ReadonlySet<string> = new Set(['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']);

function isPlainTool(tool: unknown, era: ServerEra): boolean {
  if (!isObject(tool) || typeof tool['name'] !== 'string') return false;
  for (const key in tool) if (!toolMembers.has(key)) return false;
  const { title = '', description = '', inputSchema, outputSchema, annotations = {}, _meta = {} } = tool;
  if (typeof title !== 'string' || typeof description !== 'string' || !isObject(_meta)) return false;
  if (!isObject(annotations)) return false;
  for (const key in annotations) {
    if (typeof annotations[key] !== (key === 'title' ? 'string' : hints.has(key) ? 'boolean' : '')) return false;
  }
  if (!isPlainSchema(inputSchema) || (outputSchema !== undefined && !isPlainSchema(outputSchema))) return false;
  return era === 'legacy' || !repeatsArguments(inputSchema as object);
}

function isPlainSchema(schema: unknown): boolean {
  if (!isObject(schema) || schema['type'] !== 'object') return false;
  const { properties = {}, required = [], $schema = '' } = schema;
  return (
    isObject(properties) &&
    typeof $schema === 'string' &&
    Array.isArray(required) &&
    required.every((name) => typeof name === 'string')
  );
}
