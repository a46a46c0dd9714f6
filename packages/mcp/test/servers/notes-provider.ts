import { createTool } from '@quiver/core/tools';
import { Result } from '../../src/content.js';
import type { Resource } from '../../src/resource.js';
import type { RegisteredTool } from '../../src/server/call-extension.js';
import type { Provider, RequestedItems, RequestedList } from '../../src/server/provider.js';
import type { ProvidedTools } from '../../src/server/tools/tool-registry.js';

/** A small provider: notes as resources, and a tool that counts them. */
export class NotesProvider implements Provider {
  readonly capabilities = { resources: {} };
  readonly variesByCaller = false;
  readonly #notes: ReadonlyMap<object, string>;
  readonly #tools: ProvidedTools;

  /** @param notes - texts by the names of the notes */
  constructor(notes: Readonly<Record<string, string>>) {
    this.#notes = new Map(Object.entries(notes).map(([name, text]) => [{ name, uri: `note://${name}` }, text]));
    this.#tools = new Map([['count_notes', countTool(() => this.#notes.size)]]);
  }

  async find(): Promise<readonly ProvidedTools[]> {
    return [this.#tools];
  }

  async list<Method extends RequestedList>(_request: object, method: Method): Promise<RequestedItems[Method][]> {
    // The cast: resources are the items of this list.
    return method === 'resources/list' ? ([...this.#notes.keys()] as RequestedItems[Method][]) : [];
  }

  owns(item: object): boolean {
    return this.#notes.has(item);
  }

  async answer(_request: object, item: object): Promise<Result> {
    // The cast: the provider owns the item.
    const { uri } = item as Resource;
    return Result.of({ contents: [{ uri, text: this.#notes.get(item) }] });
  }

  async watch(): Promise<() => void> {
    return () => {};
  }
}

function countTool(count: () => number): RegisteredTool {
  const listed = { name: 'count_notes', description: 'Counts the notes', inputSchema: { type: 'object' } };
  return {
    name: listed.name,
    tool: createTool({ id: listed.name, description: listed.description, execute: async () => `${count()} notes` }),
    toolType: 'tool',
    listed,
    item: { type: 'tool', toolType: 'tool', ...listed },
    structured: { legacy: false, modern: false },
    paramHeaders: [],
    extensions: [],
  };
}
