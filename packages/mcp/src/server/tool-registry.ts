import { toErrorMessage, type Logger } from '@quiver/core';
import { toJsonSchema, type JsonSchema, type Schema } from '@quiver/core/schema';
import { withInputSchema, type ToolAnnotations, type ToolLike, type ToolMcpOptions } from '@quiver/core/tools';
import { declaredParamHeaders, type ParamHeader } from '../protocol/param-headers.js';
import type { Era } from '../protocol/classify-era.js';
import { prepareResult, type PreparedResult } from '../protocol/json-rpc.js';
import type { Icon } from '../resource.js';
import type { EncodedResult } from '../content.js';
import { encodePage, type PageRequest } from './list-page.js';

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

/** The part of a `tools/list` request that decides about its result. */
interface ListRequest extends PageRequest {
  readonly era: Era;
  toJson(result: EncodedResult): string;
}

/**
 * Tools of a server. Schemas are converted once, and the result of `tools/list` is cached until the tools change.
 */
export class ToolRegistry {
  readonly #tools = new Map<string, RegisteredTool>();
  readonly #logger: Logger;
  #firstPages: Partial<Record<Era, PreparedResult>> = {};

  constructor(logger: Logger) {
    this.#logger = logger;
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
    const registered = registerTool(name, tool, toolType, this.#logger);
    if (registered) this.#tools.set(name, registered);
    else this.#tools.delete(name);
  }

  /** @returns whether there was such a tool */
  remove(name: string): boolean {
    this.#firstPages = {};
    return this.#tools.delete(name);
  }

  /**
   * Answers `tools/list`, in the order the tools were added. The first page, which most clients request, is made once.
   *
   * @throws ProtocolError -32602 for an unknown cursor
   */
  list(request: ListRequest): EncodedResult | PreparedResult {
    const { era, params } = request;
    const encode = (): EncodedResult => {
      const items = [...this.#tools.values()].map((tool) => listedFor(era, tool));
      return encodePage(request, 'tools', items, ({ name }) => name);
    };
    if (params?.['cursor'] !== undefined) return encode();
    return (this.#firstPages[era] ??= prepareResult(request.toJson(encode())));
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
  /** Leaves out a broken part, with a warning. A part without a JSON form fails here, and not in the whole list. */
  const attempt = <Part>(consequence: string, describe: () => Part): Part | undefined => {
    try {
      const part = describe();
      JSON.stringify(part);
      return part;
    } catch (error) {
      logger.warn(`${consequence}: ${toErrorMessage(error)}`);
      return undefined;
    }
  };
  const { inputSchema: given } = withInputSchema(tool);
  const described = attempt(`Tool '${name}' is offered without a description of its input`, () =>
    given === undefined ? { type: 'object', properties: {} } : toJsonSchema(given as Schema, 'input'),
  );
  // The protocol requires `type: object` at the root; unions of objects have it only in their members.
  const inputSchema: JsonSchema = described?.['type'] === undefined ? { type: 'object', ...described } : described;
  if (inputSchema['type'] !== 'object') {
    logger.warn(
      `Tool '${name}' is not served: its input schema describes ${JSON.stringify(inputSchema['type'])}, and MCP tools take an object.`,
    );
    return undefined;
  }
  const outputSchema = attempt(`Tool '${name}' is offered without a description of its output`, () =>
    tool.outputSchema === undefined ? undefined : describeOutput(tool.outputSchema as Schema),
  );
  return {
    name,
    tool,
    toolType,
    listed: {
      name,
      ...(typeof tool.title === 'string' && { title: tool.title }),
      ...(typeof tool.description === 'string' && { description: tool.description }),
      inputSchema,
      ...(outputSchema && { outputSchema }),
      ...attempt(`Tool '${name}' is offered without annotations, icons and _meta`, () => describeMcp(tool.mcp)),
    },
    structured: { legacy: outputSchema?.['type'] === 'object', modern: outputSchema !== undefined },
    paramHeaders:
      attempt(`Clients over HTTP may leave out tool '${name}'`, () => declaredParamHeaders(inputSchema)) ?? [],
  };
}

/** Returns the members that only MCP clients see. */
function describeMcp({ annotations, icons, _meta }: ToolMcpOptions = {}): Partial<ListedTool> {
  return {
    ...(annotations && { annotations }),
    ...(icons && icons.length > 0 && { icons }),
    ...(_meta && { _meta }),
  };
}

function describeOutput(schema: Schema): JsonSchema {
  const described = toJsonSchema(schema, 'output');
  return described['type'] === undefined && isUnionOfObjects(described) ? { type: 'object', ...described } : described;
}

function isUnionOfObjects(schema: JsonSchema): boolean {
  if ('properties' in schema) return true;
  const members = schema['oneOf'] ?? schema['anyOf'] ?? schema['allOf'];
  return (
    Array.isArray(members) && members.length > 0 && members.every((member: JsonSchema) => member?.['type'] === 'object')
  );
}
