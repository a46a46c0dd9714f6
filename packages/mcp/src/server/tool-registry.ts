import { toErrorMessage, type Logger } from '@quiver/core';
import { toJsonSchema, type JsonSchema, type Schema } from '@quiver/core/schema';
import type { ToolAnnotations, ToolLike } from '@quiver/core/tools';
import type { Era } from '../protocol/era-verdict.js';
import { findParamHeaders, type ParamHeader } from './modern/param-headers.js';

/** Tools by the name clients see: the key decides, not the tool's id. */
export type ToolsInput = Record<string, ToolLike>;

/** A tool as the protocol lists it. */
export interface ListedTool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  annotations?: ToolAnnotations;
  _meta?: Record<string, unknown>;
}

export interface RegisteredTool {
  readonly name: string;
  readonly tool: ToolLike;
  readonly listed: ListedTool;
  /** Results go out as `structuredContent`, per era: before 2026-07-28 only objects may. */
  readonly structured: Readonly<Record<Era, boolean>>;
  /** Arguments that modern clients repeat in headers. */
  readonly paramHeaders: readonly ParamHeader[];
}

/**
 * The table of a server's tools. Schemas are converted once, and the text of `tools/list` is made once.
 */
export class ToolRegistry {
  readonly #tools = new Map<string, RegisteredTool>();
  readonly #listTexts: Partial<Record<Era, string>> = {};

  /** Tools that cannot be offered are left out, or offered without the broken part, with a warning: the others stay. */
  constructor(tools: ToolsInput, logger: Logger) {
    for (const [name, tool] of Object.entries(tools)) {
      const registered = registerTool(name, tool, logger);
      if (registered) this.#tools.set(name, registered);
    }
  }

  get(name: string): RegisteredTool | undefined {
    return this.#tools.get(name);
  }

  values(): IterableIterator<RegisteredTool> {
    return this.#tools.values();
  }

  /** The `tools` member of a `tools/list` result: `"tools":[…]`. */
  listText(era: Era): string {
    return (this.#listTexts[era] ??=
      `"tools":${JSON.stringify([...this.#tools.values()].map((tool) => listedFor(era, tool)))}`);
  }
}

function listedFor(era: Era, { listed, structured }: RegisteredTool): ListedTool {
  if (structured[era] || !listed.outputSchema) return listed;
  const { outputSchema: _, ...rest } = listed;
  return rest;
}

function registerTool(name: string, tool: ToolLike, logger: Logger): RegisteredTool | undefined {
  if (typeof tool?.execute !== 'function') {
    logger.warn(`Tool '${name}' is not served: it has no execute function.`);
    return undefined;
  }
  const inputSchema = describeInput(name, tool.inputSchema, logger);
  if (!inputSchema) return undefined;
  const outputSchema = describeOutput(name, tool.outputSchema, logger);
  const listed: ListedTool = {
    name,
    ...(typeof tool.title === 'string' && { title: tool.title }),
    ...(typeof tool.description === 'string' && { description: tool.description }),
    inputSchema,
    ...(outputSchema && { outputSchema }),
    ...(tool.mcp?.annotations && { annotations: tool.mcp.annotations }),
    ...(tool.mcp?._meta && { _meta: tool.mcp._meta }),
  };
  return {
    name,
    tool,
    listed,
    structured: { legacy: outputSchema?.['type'] === 'object', modern: outputSchema !== undefined },
    paramHeaders: paramHeadersOf(name, inputSchema, logger),
  };
}

function paramHeadersOf(name: string, inputSchema: JsonSchema, logger: Logger): ParamHeader[] {
  try {
    return findParamHeaders(inputSchema);
  } catch (error) {
    logger.warn(`Clients over HTTP may leave out tool '${name}': ${toErrorMessage(error)}`);
    return [];
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
  // The protocol requires an object at the root; unions of objects say so only in their members.
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
