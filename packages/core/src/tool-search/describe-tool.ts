import { toModelSchema, type JsonSchema, type Schema } from '../schema/index.js';

/** A definition of a tool, such as one of `tools/list`. */
export interface SearchableTool {
  name: string;
  title?: unknown;
  description?: unknown;
  inputSchema?: unknown;
  /** Name of the server that offers it. */
  server?: string;
}

/** The words of a tool that a search compares. */
export interface ToolDescription {
  name: string;
  title?: string;
  description?: string;
  /** Names and descriptions of the parameters, also of inner ones. */
  parameters: string;
  server?: string;
}

/** Parts of a schema that are read. */
const MAX_PARTS = 500;

/** Returns the words of a tool. A schema that cannot be read has none: the tool is still found by its name. */
export function describeTool(name: string, tool: object): ToolDescription {
  const { title, description, server } = tool as Partial<SearchableTool>;
  return {
    name,
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    ...(typeof server === 'string' && { server }),
    parameters: readParameters(readInput(tool)).join(' '),
  };
}

/** Returns the input schema of a tool as a model receives it, `undefined` if it has none or it cannot be read. */
export function readInput(tool: object): JsonSchema | undefined {
  const { inputSchema } = tool as Partial<SearchableTool>;
  if (inputSchema === undefined || inputSchema === null) return undefined;
  try {
    return toModelSchema(inputSchema as Schema);
  } catch {
    return undefined;
  }
}

function readParameters(schema: unknown): string[] {
  const words: string[] = [];
  const waiting: unknown[] = [schema];
  for (let parts = 0; waiting.length > 0 && parts < MAX_PARTS; parts++) {
    const part = waiting.shift();
    if (typeof part !== 'object' || part === null) continue;
    const { description, properties, items, enum: values } = part as Record<string, unknown>;
    if (parts > 0 && typeof description === 'string') words.push(description);
    if (Array.isArray(values)) words.push(...values.filter((value) => typeof value === 'string').slice(0, 20));
    if (typeof properties === 'object' && properties !== null)
      for (const [name, property] of Object.entries(properties)) {
        words.push(name);
        waiting.push(property);
      }
    if (items !== undefined) waiting.push(items);
    for (const key of ['anyOf', 'oneOf', 'allOf']) {
      const alternatives = (part as Record<string, unknown>)[key];
      if (Array.isArray(alternatives)) waiting.push(...alternatives);
    }
  }
  return words;
}
