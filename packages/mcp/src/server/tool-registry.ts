import { toErrorMessage, type Logger } from '@quiver/core';
import { toJsonSchema, type JsonSchema, type Schema } from '@quiver/core/schema';
import { withInputSchema, type ToolAnnotations, type ToolLike, type ToolMcpOptions } from '@quiver/core/tools';
import { declaredParamHeaders, type ParamHeader } from '../protocol/param-headers.js';
import type { Era } from '../protocol/classify-era.js';
import { prepareResult, type Params, type PreparedResult, type ResultJson } from '../protocol/json-rpc.js';
import type { Icon } from '../resource.js';
import { encodePage } from './list-page.js';

/** Tools by the name clients see: the key decides, not the tool's id. */
export type ToolsInput = Record<string, ToolLike>;

/** Origin of a tool. */
export type ToolType = 'tool' | 'agent' | 'workflow';

/** A tool as the protocol lists it. */
export interface ListedTool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  annotations?: ToolAnnotations;
  icons?: Icon[];
  _meta?: Record<string, unknown>;
}

export interface RegisteredTool {
  readonly name: string;
  readonly tool: ToolLike;
  readonly toolType: ToolType;
  readonly listed: ListedTool;
  /** Results go out as `structuredContent`, per era: before 2026-07-28 only objects may. */
  readonly structured: Readonly<Record<Era, boolean>>;
  /** Arguments that modern clients repeat in headers. */
  readonly paramHeaders: readonly ParamHeader[];
}

export interface ToolRegistryOptions {
  readonly logger: Logger;
  /** Tools per page of `tools/list`. */
  readonly pageSize: number;
}

/**
 * Tools of a server. Schemas are converted once, and the result of `tools/list` is cached until the tools change.
 */
export class ToolRegistry {
  readonly #tools = new Map<string, RegisteredTool>();
  readonly #options: ToolRegistryOptions;
  #firstPages: Partial<Record<Era, PreparedResult>> = {};

  constructor(options: ToolRegistryOptions) {
    this.#options = options;
  }

  get(name: string): RegisteredTool | undefined {
    return this.#tools.get(name);
  }

  values(): IterableIterator<RegisteredTool> {
    return this.#tools.values();
  }

  /**
   * Adds a tool, or replaces the one of its name. A tool that cannot be offered is left out, or offered without the broken part, with a
   * warning: the others stay.
   */
  add(name: string, tool: ToolLike, toolType: ToolType = 'tool'): void {
    this.#firstPages = {};
    const registered = registerTool(name, tool, toolType, this.#options.logger);
    if (registered) this.#tools.set(name, registered);
    else this.#tools.delete(name);
  }

  /** @returns whether there was such a tool */
  remove(name: string): boolean {
    this.#firstPages = {};
    return this.#tools.delete(name);
  }

  /**
   * Returns a `tools/list` result, in the order the tools were added. The first page, which most clients request, is made once.
   *
   * @param close - returns the result of its members: `"tools":[…]`, and `"nextCursor"` when there are more
   * @throws ProtocolError -32602 for an unknown cursor
   */
  list(era: Era, params: Params | undefined, close: (members: string) => string): ResultJson {
    if (params?.['cursor'] !== undefined) return close(this.#pageMembers(era, params));
    return (this.#firstPages[era] ??= prepareResult(close(this.#pageMembers(era, params))));
  }

  #pageMembers(era: Era, params: Params | undefined): string {
    const items = [...this.#tools.values()].map((tool) => listedFor(era, tool));
    const { pageSize } = this.#options;
    return encodePage({ member: 'tools', items, keyOf: ({ name }) => name, params, pageSize });
  }
}

function listedFor(era: Era, { listed, structured }: RegisteredTool): ListedTool {
  if (structured[era] || !listed.outputSchema) return listed;
  const { outputSchema: _, ...rest } = listed;
  return rest;
}

/** @see [MCP, tool names](https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-names) */
const portableName = /^[A-Za-z0-9_.-]{1,128}$/;

function registerTool(name: string, tool: ToolLike, toolType: ToolType, logger: Logger): RegisteredTool | undefined {
  if (typeof tool?.execute !== 'function') {
    logger.warn(`Tool '${name}' is not served: it has no execute function.`);
    return undefined;
  }
  if (!portableName.test(name)) {
    logger.warn(
      `Tool ${JSON.stringify(name)} is served, but some clients will refuse its name: use 1 to 128 of A-Z a-z 0-9 _ . -`,
    );
  }
  const inputSchema = describeInput(name, withInputSchema(tool).inputSchema, logger);
  if (!inputSchema) return undefined;
  const outputSchema = describeOutput(name, tool.outputSchema, logger);
  const listed: ListedTool = {
    name,
    ...(typeof tool.title === 'string' && { title: tool.title }),
    ...(typeof tool.description === 'string' && { description: tool.description }),
    inputSchema,
    ...(outputSchema && { outputSchema }),
    ...describeMcp(name, tool.mcp, logger),
  };
  return {
    name,
    tool,
    toolType,
    listed,
    structured: { legacy: outputSchema?.['type'] === 'object', modern: outputSchema !== undefined },
    paramHeaders: paramHeadersOf(name, inputSchema, logger),
  };
}

function paramHeadersOf(name: string, inputSchema: JsonSchema, logger: Logger): readonly ParamHeader[] {
  try {
    return declaredParamHeaders(inputSchema);
  } catch (error) {
    logger.warn(`Clients over HTTP may leave out tool '${name}': ${toErrorMessage(error)}`);
    return [];
  }
}

/** Returns the members that only MCP clients see. */
function describeMcp(name: string, mcp: ToolMcpOptions | undefined, logger: Logger): Partial<ListedTool> {
  const { annotations, icons, _meta } = mcp ?? {};
  const described = {
    ...(annotations && { annotations }),
    ...(icons && icons.length > 0 && { icons }),
    ...(_meta && { _meta }),
  };
  try {
    JSON.stringify(described);
    return described;
  } catch (error) {
    logger.warn(`Tool '${name}' is offered without annotations, icons and _meta: ${toErrorMessage(error)}`);
    return {};
  }
}

function describeInput(name: string, schema: unknown, logger: Logger): JsonSchema | undefined {
  if (schema === undefined) return { type: 'object', properties: {} };
  const described = describe(
    schema,
    'input',
    () => ({ type: 'object' }),
    (reason) => logger.warn(`Tool '${name}' is offered without a description of its input: ${reason}`),
  );
  // The protocol requires `type: object` at the root; unions of objects have it only in their members.
  if (described['type'] === undefined) return { type: 'object', ...described };
  if (described['type'] === 'object') return described;
  logger.warn(
    `Tool '${name}' is not served: its input schema describes ${JSON.stringify(described['type'])}, and MCP tools take an object.`,
  );
  return undefined;
}

function describeOutput(name: string, schema: unknown, logger: Logger): JsonSchema | undefined {
  if (schema === undefined) return undefined;
  const described = describe(
    schema,
    'output',
    () => undefined,
    (reason) => logger.warn(`Tool '${name}' is offered without a description of its output: ${reason}`),
  );
  if (!described || described['type'] !== undefined || !isUnionOfObjects(described)) return described;
  return { type: 'object', ...described };
}

function describe<Fallback>(
  schema: unknown,
  direction: 'input' | 'output',
  fallback: () => Fallback,
  warn: (reason: string) => void,
): JsonSchema | Fallback {
  try {
    const described = toJsonSchema(schema as Schema, direction);
    // Written once here, so that what cannot be written fails for this tool and not for the whole list.
    JSON.stringify(described);
    return described;
  } catch (error) {
    warn(toErrorMessage(error));
    return fallback();
  }
}

function isUnionOfObjects(schema: JsonSchema): boolean {
  if ('properties' in schema) return true;
  const members = schema['oneOf'] ?? schema['anyOf'] ?? schema['allOf'];
  return (
    Array.isArray(members) && members.length > 0 && members.every((member: JsonSchema) => member?.['type'] === 'object')
  );
}
