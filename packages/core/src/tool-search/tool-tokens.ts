import { readInput } from './describe-tool.js';

/** Tokens that the definitions of tools take, estimated. */
export interface ToolTokens {
  total: number;
  /** By tool, most first. */
  tools: { name: string; tokens: number }[];
  /** By server, where names begin with one, as those of `mcp.listTools()` do: the part before the first `_`. */
  servers: Record<string, number>;
}

/** Characters of JSON per token. With o200k_base, the definitions of published servers have 4.0 to 5.2, by server. */
const CHARACTERS_PER_TOKEN = 4;

/**
 * Estimates the tokens that the definitions of tools take in each request to a model: names, descriptions and input schemas.
 *
 * @param tools - by name
 * @example
 * const { total, servers } = toolTokens(await mcp.listTools());
 */
export function toolTokens(tools: Readonly<Record<string, object>>): ToolTokens {
  const counted = Object.entries(tools).map(([name, tool]) => {
    const { description = '' } = tool as { description?: unknown };
    const definition = JSON.stringify({ name, description, parameters: readInput(tool) });
    return { name, tokens: Math.ceil(definition.length / CHARACTERS_PER_TOKEN) };
  });
  const servers: Record<string, number> = {};
  for (const { name, tokens } of counted) {
    const server = name.split('_', 1)[0] ?? name;
    servers[server] = (servers[server] ?? 0) + tokens;
  }
  return {
    total: counted.reduce((sum, { tokens }) => sum + tokens, 0),
    tools: counted.toSorted((a, b) => b.tokens - a.tokens || a.name.localeCompare(b.name)),
    servers,
  };
}
