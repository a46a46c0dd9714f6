import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProtocolTool } from '@quiver/mcp/client';

/** Returns the definitions that `benchmarks/tool-search` has recorded, by server. @param folder - `QUIVER_TOOLS_CACHE` */
export function readPublishedTools(folder: string): Record<string, ProtocolTool[]> {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return Object.fromEntries(
    files.map((name) => [name.slice(0, -'.json'.length), JSON.parse(readFileSync(join(folder, name), 'utf8'))]),
  );
}
