import { createHash } from 'node:crypto';
import type { ProtocolTool } from '../../protocol/client-types.js';

/** How the tools of a server differ from what they were. Names are the server's own. */
export interface DefinitionChanges {
  added: string[];
  removed: string[];
  /** Same name, other description, schema, title or annotations. */
  changed: string[];
}

/**
 * A hash of everything a model or a person judges a tool by: name, title, description, schemas and annotations. The order of keys
 * does not matter. A tool that was approved and then has another fingerprint should be approved again.
 *
 * @returns SHA-256 in hexadecimal
 */
export function fingerprintTool(tool: ProtocolTool): string {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  const judged = { name, title, description, inputSchema, outputSchema, annotations };
  return createHash('sha256')
    .update(JSON.stringify(sortKeys(judged)))
    .digest('hex');
}

/** The differences between two lists of one server's tools, or `undefined` when there are none. */
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
  return Object.values(changes).some((names) => (names as string[]).length > 0) ? changes : undefined;
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sortKeys(member)]));
}
