import { isQuiverError, QuiverError, type Logger } from '@quiver/core';
import {
  createToolIndex,
  describeFound,
  describeResults,
  readInnerCall,
  requireFound,
  searchToolDefinitions,
  type ToolEmbedder,
  type ToolIndex,
} from '@quiver/core/tool-search';
import {
  booleanValue,
  eitherOf,
  functionValue,
  objectOf,
  stringList,
  wholeNumber,
  type OptionCheck,
  invalidOptions,
} from '@quiver/core/internal';
import { createTool, type ToolContext, type ToolLike } from '@quiver/core/tools';
import { encodeFailure } from '../../content.js';
import type { JsonRpcRequest } from '../../protocol/json-rpc.js';
import type { CallExtension, RegisteredTool, ResolvedCall } from '../../server/call-extension.js';
import type { ServerState } from '../../server/definition/server-state.js';
import type { Feature } from '../../server/feature.js';
import type { ServerRequest } from '../../server/request.js';
import type { ToolRegistry } from '../../server/tools/tool-registry.js';
import { toolRequestOf } from '../../server/tools/tool-context.js';

/** Search of a server: clients see it in place of the tools. */
export interface ServerSearchOptions {
  /** Names of the tools that clients always see. Default: none. */
  pinned?: readonly string[];
  /** Tools that a search returns. Default 5. */
  maxResults?: number;
  /** Adds the order of meaning to that of words. */
  embedder?: ToolEmbedder;
}

export const checkSearch: OptionCheck = eitherOf(
  'true, false or the options of the search',
  booleanValue,
  objectOf<ServerSearchOptions>({
    pinned: stringList,
    maxResults: wholeNumber(1),
    embedder: objectOf<{ embed: unknown }>({ embed: functionValue }),
  }),
);

/** Combinations of lists whose indexes are kept. Callers may see tools of different lists; the least recently used one is evicted. */
const MAX_INDEXES = 16;

/** Parts of a list of tools, none of which changes: a change replaces it. */
type Parts = readonly object[];

/** Search in place of the tools: clients list `search_tools`, `call_read_tool`, `call_write_tool` and the pinned tools. */
export class ToolSearch implements Feature {
  readonly #settings: ServerSearchOptions;
  readonly #tools: ToolRegistry;
  readonly #logger: Logger;
  readonly #indexes: { readonly parts: Parts; readonly index: ToolIndex }[] = [];

  constructor(settings: ServerSearchOptions, { tools, logger }: Pick<ServerState, 'tools' | 'logger'>) {
    this.#settings = settings;
    this.#tools = tools;
    this.#logger = logger;
  }

  /** Calls of a tool that was found are calls of that tool for hooks, limits, scopes and traces. */
  readonly call: CallExtension = { resolve: readCall };

  /** @throws `OPTIONS_INVALID` when a tool has the name of one of the search */
  ready(): void {
    for (const [name, tool] of Object.entries(this.#createTools())) {
      if (this.#tools.get(name))
        throw invalidOptions(`A tool of MCPServer has the name '${name}', which \`search\` needs. Rename it.`);
      this.#tools.add(name, tool, 'tool', name === 'search_tools');
    }
    this.#tools.listOnly((name) => this.#isListed(name));
  }

  /** The three tools. Calls of valid form never reach the calling ones, which only refuse the others. */
  #createTools(): Record<string, ToolLike> {
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

  #isListed(name: string): boolean {
    return isSearchTool(name) || this.#settings.pinned?.includes(name) === true;
  }

  async #search(query: string, { mcp, abortSignal: signal }: ToolContext): Promise<object> {
    const { maxResults = 5 } = this.#settings;
    const request = toolRequestOf(mcp);
    const isVisible = (name: string): boolean => this.#tools.find(request, name) !== undefined;
    const matches = await this.#indexFor(request).search(query, { maxResults, isVisible, ...(signal && { signal }) });
    const tools = matches.map(({ name }) => {
      const { listed } = this.#tools.find(request, name) as RegisteredTool;
      return describeFound(listed, listed.inputSchema, { mcp: listed });
    });
    return describeResults(tools);
  }

  #indexFor(request: ServerRequest): ToolIndex {
    const parts = this.#tools.partsFor(request);
    const position = this.#indexes.findIndex(
      (known) => known.parts.length === parts.length && known.parts.every((part, index) => part === parts[index]),
    );
    const [known] = position === -1 ? [] : this.#indexes.splice(position, 1);
    const found = known ?? { parts, index: this.#createIndex(request) };
    this.#indexes.push(found);
    if (this.#indexes.length > MAX_INDEXES) this.#indexes.shift();
    return found.index;
  }

  #createIndex(request: ServerRequest): ToolIndex {
    const { embedder, pinned = [] } = this.#settings;
    const tools = this.#tools.all(request);
    for (const name of pinned.filter((each) => !tools.some((tool) => tool.name === each))) {
      this.#logger.warn(
        `\`search.pinned\` contains '${name}', but MCPServer has no tool of this name now, so clients do not see it.`,
      );
    }
    return createToolIndex(
      tools.filter(({ name }) => !this.#isListed(name)).map(({ listed }) => listed),
      embedder ? { embedder } : {},
    );
  }
}

/** Returns the call that a call of `call_read_tool` or `call_write_tool` contains; `undefined` where that tool refuses its arguments. */
function readCall({ params }: JsonRpcRequest): ResolvedCall | undefined {
  const calledBy = params?.['name'];
  if (calledBy !== 'call_read_tool' && calledBy !== 'call_write_tool') return undefined;
  const call = readInnerCall(params?.['arguments']);
  return (
    call && {
      ...call,
      requireTool: (found) => {
        requireFound(found && !isSearchTool(call.name) ? { mcp: found.listed } : undefined, call.name, calledBy);
        // The cast: the check has found it.
        return found as RegisteredTool;
      },
      // The model can correct its call.
      toResult: (error) => (isQuiverError(error) ? encodeFailure(error.message) : undefined),
    }
  );
}

function isSearchTool(name: string): boolean {
  return Object.hasOwn(searchToolDefinitions, name);
}

async function refuse(): Promise<never> {
  throw new QuiverError(
    'TOOL_UNKNOWN',
    'Cannot read the call. Give the `name` that search_tools has returned, and the `arguments` as an object.',
  );
}
