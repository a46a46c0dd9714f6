import type { ProtocolTool } from '../../protocol/client-types.js';
import { toToolName } from '../../tool-name.js';

/** Selection and names of a server's tools. */
export interface ToolSelection {
  /** All conditions must hold; `deny` wins. Names are the server's own. */
  tools?: {
    allow?: string[];
    deny?: string[];
    filter?: (tool: { name: string; description?: string | undefined; annotations?: object | undefined }) => boolean;
    /** New names by original name. */
    rename?: Record<string, string> | ((name: string) => string);
  };
  /** Prefix of the name in `listTools()`, followed by `_`. Default: the server's name; `false`: none. */
  toolPrefix?: string | false;
}

/** A tool of a server with its configured name, without prefix. */
export interface SelectedTool {
  readonly tool: ProtocolTool;
  readonly name: string;
}

export function selectTools(list: readonly ProtocolTool[], { tools = {} }: ToolSelection): SelectedTool[] {
  const { allow, deny, filter, rename } = tools;
  const selected = list.filter(
    (tool) => (!allow || allow.includes(tool.name)) && !deny?.includes(tool.name) && (!filter || filter(tool)),
  );
  const nameOf = (name: string): string => {
    if (typeof rename === 'function') return rename(name);
    return (rename && Object.hasOwn(rename, name) && rename[name]) || name;
  };
  return selected.map((tool) => ({ tool, name: nameOf(tool.name) }));
}

export interface NamedTool<Server> extends SelectedTool {
  readonly server: Server;
  /** Name that a model calls the tool by. */
  readonly id: string;
}

/**
 * Returns unique tool names that every model provider accepts. Where two would be equal, both end in a hash, so that no server can
 * take over the name of another server's tool.
 */
export function nameTools<Server extends { readonly name: string }>(
  lists: readonly (readonly [server: Server, prefix: string | false, tools: readonly SelectedTool[]])[],
): { named: NamedTool<Server>[]; collisions: string[] } {
  const entries = lists.flatMap(([server, prefix, tools]) => tools.map((tool) => ({ server, prefix, ...tool })));
  const uses = new Map<string, number>();
  const none = new Set<string>();
  for (const { prefix, name } of entries) {
    const plain = toToolName(prefix, name, none);
    uses.set(plain, (uses.get(plain) ?? 0) + 1);
  }
  const collisions = new Set([...uses].filter(([, count]) => count > 1).map(([name]) => name));
  const taken = new Set<string>(collisions);
  const named = entries.map(({ server, prefix, tool, name }) => {
    const plain = toToolName(prefix, name, none);
    // Without prefix the hash is made of the server's name too, or equal names would have equal hashes.
    const id = collisions.has(plain) ? toToolName(prefix, name, taken, server.name) : plain;
    return { server, tool, name, id };
  });
  return { named, collisions: [...collisions] };
}
