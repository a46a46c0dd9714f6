import { QuiverError, type Logger } from '@quiver/core';
import {
  createToolIndex,
  describeFound,
  describeResults,
  readInnerCall,
  requireFound,
  searchToolDefinitions,
  type SearchToolName,
  type ToolEmbedder,
  type ToolIndex,
} from '@quiver/core/tool-search';
import { createTool, type ToolContext, type ToolLike } from '@quiver/core/tools';
import type { JsonRpcRequest } from '../../protocol/json-rpc.js';
import type { CatalogRequest, ListedTool } from './catalog.js';
import { toolRequestOf } from './tool-context.js';

/** Search of a server: clients see it in place of the tools. */
export interface ServerSearchOptions {
  /** Names of the tools that clients always see. Default: none. */
  pinned?: readonly string[];
  /** Tools that a search returns. Default 5. */
  maxResults?: number;
  /** Adds the order of meaning to that of words. */
  embedder?: ToolEmbedder;
}

/** A tool of the server. */
interface SearchedTool {
  readonly name: string;
  readonly listed: ListedTool;
}

/** The tools that are searched. */
interface SearchedTools {
  /** Returns a tool that the caller can see. */
  find(request: CatalogRequest, name: string): SearchedTool | undefined;
  /** Returns all tools of a request, whether its caller can see them or not. */
  all(request: CatalogRequest): readonly SearchedTool[];
  /** Returns what the tools of a request consist of: equal parts mean equal tools. */
  partsFor(request: CatalogRequest): Parts;
}

/** Combinations of lists whose indexes are kept. Callers may see tools of different lists; the least recently used one is evicted. */
const MAX_INDEXES = 16;

/** Parts of a list of tools, none of which changes: a change replaces it. */
type Parts = readonly object[];

/**
 * Search in place of the tools: clients list `search_tools`, `call_read_tool`, `call_write_tool` and the pinned tools. A call of a tool that
 * was found is a call of that tool for everything behind {@link ToolSearch.unwrap}.
 */
export class ToolSearch {
  readonly #settings: ServerSearchOptions;
  readonly #tools: SearchedTools;
  readonly #logger: Logger;
  readonly #indexes: { readonly parts: Parts; readonly index: ToolIndex }[] = [];

  constructor(settings: ServerSearchOptions, tools: SearchedTools, logger: Logger) {
    this.#settings = settings;
    this.#tools = tools;
    this.#logger = logger;
  }

  /** The three tools. Calls of valid form never reach the calling ones, which only refuse the others. */
  createTools(): Record<string, ToolLike> {
    const { search_tools, call_read_tool, call_write_tool } = searchToolDefinitions;
    return {
      search_tools: createTool({
        ...search_tools,
        // The cast: the input has been validated.
        execute: (input, context) => this.#search((input as { query: string }).query, context),
      }),
      call_read_tool: createTool({ ...call_read_tool, execute: refuse }),
      call_write_tool: createTool({ ...call_write_tool, execute: refuse }),
    };
  }

  isListed(name: string): boolean {
    return isSearchTool(name) || this.#settings.pinned?.includes(name) === true;
  }

  /**
   * Returns the call of the tool that a call names in its arguments, and the tool that calls it; `undefined` for another request, and for a
   * call whose arguments the calling tool refuses.
   */
  unwrap({
    method,
    params,
    ...message
  }: JsonRpcRequest): { message: JsonRpcRequest; calledBy: SearchToolName } | undefined {
    const calledBy = params?.['name'];
    if (method !== 'tools/call' || (calledBy !== 'call_read_tool' && calledBy !== 'call_write_tool')) return undefined;
    const call = readInnerCall(params?.['arguments']);
    return call && { message: { ...message, method, params: { ...params, ...call } }, calledBy };
  }

  /** @throws `TOOL_UNKNOWN`, `TOOL_CALLED_WRONGLY` */
  require<Found extends SearchedTool>(found: Found | undefined, name: string, calledBy: SearchToolName): Found {
    const { annotations } = found?.listed ?? {};
    const isCallable = found !== undefined && !isSearchTool(name);
    requireFound(isCallable ? { mcp: { ...(annotations && { annotations }) } } : undefined, name, calledBy);
    // The cast: the check has found it.
    return found as Found;
  }

  async #search(query: string, { mcp, abortSignal: signal }: ToolContext): Promise<object> {
    const { maxResults = 5 } = this.#settings;
    // The cast: only the server calls the tool, with its own context and a request of the catalog.
    const request = toolRequestOf(mcp) as unknown as CatalogRequest;
    const isVisible = (name: string): boolean => this.#tools.find(request, name) !== undefined;
    const matches = await this.#indexFor(request).search(query, { maxResults, isVisible, ...(signal && { signal }) });
    const tools = matches.map(({ name }) => {
      const { listed } = this.#tools.find(request, name) as SearchedTool;
      const { annotations } = listed;
      return describeFound(listed, listed.inputSchema, { mcp: { ...(annotations && { annotations }) } });
    });
    return describeResults(tools);
  }

  #indexFor(request: CatalogRequest): ToolIndex {
    const parts = this.#tools.partsFor(request);
    const position = this.#indexes.findIndex((known) => isSame(known.parts, parts));
    const [known] = position === -1 ? [] : this.#indexes.splice(position, 1);
    const found = known ?? { parts, index: this.#createIndex(request) };
    this.#indexes.push(found);
    if (this.#indexes.length > MAX_INDEXES) this.#indexes.shift();
    return found.index;
  }

  #createIndex(request: CatalogRequest): ToolIndex {
    const { embedder, pinned = [] } = this.#settings;
    const tools = this.#tools.all(request);
    for (const name of pinned.filter((each) => !tools.some((tool) => tool.name === each))) {
      this.#logger.warn(
        `\`search.pinned\` contains '${name}', but MCPServer has no tool of this name now, so clients do not see it.`,
      );
    }
    return createToolIndex(
      tools.filter(({ name }) => !this.isListed(name)).map(({ listed }) => listed),
      embedder ? { embedder } : {},
    );
  }
}

function isSearchTool(name: string): boolean {
  return Object.hasOwn(searchToolDefinitions, name);
}

function isSame(a: Parts, b: Parts): boolean {
  return a.length === b.length && a.every((part, position) => part === b[position]);
}

async function refuse(): Promise<never> {
  throw new QuiverError(
    'TOOL_UNKNOWN',
    'Cannot read the call. Give the `name` that search_tools has returned, and the `arguments` as an object.',
  );
}
