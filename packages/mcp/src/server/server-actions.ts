import type { ServerDefinition } from './server-definition.js';
import type { ToolsInput } from './tool-registry.js';

/** Changes the tools of a running server. */
export interface ToolActions {
  /** Adds tools, or replaces those of the same names, and tells clients. */
  add(tools: ToolsInput): Promise<void>;
  /** Removes tools by the names clients see, and tells clients. Calls that run finish. */
  remove(names: readonly string[]): Promise<void>;
  /** Tells clients to list the tools again. */
  notifyListChanged(): Promise<void>;
}

export interface ResourceActions {
  /** Tells the clients that watch a resource that it changed. */
  notifyUpdated(resource: { uri: string }): Promise<void>;
  /** Tells clients to list the resources again. */
  notifyListChanged(): Promise<void>;
}

export interface PromptActions {
  /** Tells clients to list the prompts again. */
  notifyListChanged(): Promise<void>;
}

export function createToolActions({ tools, audience }: ServerDefinition): ToolActions {
  const notifyListChanged = (): Promise<void> => audience.publish({ kind: 'tools_list_changed' });
  return {
    add: (added) => {
      for (const [name, tool] of Object.entries(added)) tools.add(name, tool);
      return notifyListChanged();
    },
    remove: async (names) => {
      const removed = names.filter((name) => tools.remove(name));
      if (removed.length > 0) await notifyListChanged();
    },
    notifyListChanged,
  };
}

export function createResourceActions({ audience }: ServerDefinition): ResourceActions {
  return {
    notifyUpdated: ({ uri }) => audience.publish({ kind: 'resource_updated', uri }),
    notifyListChanged: () => audience.publish({ kind: 'resources_list_changed' }),
  };
}

export function createPromptActions({ audience }: ServerDefinition): PromptActions {
  return { notifyListChanged: () => audience.publish({ kind: 'prompts_list_changed' }) };
}
