import { checkOptions, numberIn, oneOf, stringList, wholeNumber, type OptionChecks } from '../options.js';
import { QuiverError } from '../errors.js';
import { createTool, executeTool, type Tool, type ToolCallOptions, type ToolLike } from '../tools/index.js';
import { readInput } from './describe-tool.js';
import {
  describeFound,
  describeResults,
  requireFound,
  searchToolDefinitions,
  type InnerCall,
} from './search-tool-definitions.js';
import { createToolIndex, embedderChecks, type ToolEmbedder } from './tool-index.js';
import { toolTokens } from './tool-tokens.js';

/** Options of {@link withToolSearch}. */
export interface ToolSearchSettings {
  /** Names of the tools that a model always sees. Default: none. */
  pinned?: readonly string[];
  /** Tools that a search returns. Default 5. */
  maxResults?: number;
  /** Tokens of all definitions from which on a search replaces the tools. Default 0: always. */
  over?: number;
  /**
   * `call`: a model sees `search_tools`, `call_read_tool` and `call_write_tool` in place of the tools; for every version of the AI SDK.
   * `defer`: the tools have `deferLoading: true`, for `toolSearch({ search: searchTools(tools) })` of AI SDK 7, which offers what was
   * found from the next step on. Default `call`.
   */
  mode?: 'call' | 'defer';
  /** Adds the order of meaning to that of words. */
  embedder?: ToolEmbedder;
}

const checks: OptionChecks<ToolSearchSettings> = {
  pinned: stringList,
  maxResults: wholeNumber(1),
  over: numberIn({ least: 0 }),
  mode: oneOf('call', 'defer'),
  ...embedderChecks,
};

/**
 * Returns tools that take little of a model's context: the pinned ones, and a search for the others.
 *
 * Calls run the tool that was found: its validation, hooks and approval, and the conversion of its output. Tools with
 * `readOnlyHint: true` are called by `call_read_tool`, all others by `call_write_tool`, so that a host or a person can allow reading
 * without writing.
 *
 * @throws `OPTIONS_INVALID`; `TOOL_UNKNOWN` for a pinned name without a tool; `TOOL_NAME_TAKEN` when a tool has the name of one of the
 *   three
 * @example
 * const { text } = await generateText({ model, prompt, tools: withToolSearch(await mcp.listTools()) });
 * @example
 * // AI SDK 7
 * const tools = withToolSearch(await mcp.listTools(), { mode: 'defer', pinned: ['docs_search'] });
 * await generateText({ model, prompt, tools: { ...tools, find: toolSearch({ search: searchTools(tools) }) } });
 */
export function withToolSearch<Given extends ToolLike>(
  tools: Readonly<Record<string, Given>>,
  settings: ToolSearchSettings = {},
): Record<string, Given | Tool> {
  checkOptions('withToolSearch', settings, checks);
  const { pinned = [], over = 0, mode = 'call' } = settings;
  const unknown = pinned.filter((name) => !Object.hasOwn(tools, name));
  if (unknown.length > 0)
    throw new QuiverError(
      'TOOL_UNKNOWN',
      `withToolSearch cannot pin ${unknown.map((name) => `'${name}'`).join(', ')}: there is no such tool.`,
    );
  const entries = Object.entries(tools);
  // Counting reads every schema: a search that is always wanted does not need it.
  const isShort = over === 0 ? entries.length === 0 : toolTokens(tools).total <= over;
  if (isShort) return { ...tools };
  const kept = Object.fromEntries(entries.filter(([name]) => pinned.includes(name)));
  const others = entries.filter(([name]) => !pinned.includes(name));
  if (mode === 'call') return { ...kept, ...createCallTools(Object.fromEntries(others), kept, settings) };
  const deferred = others.map(([name, tool]) => [name, { ...tool, deferLoading: true }]);
  return { ...tools, ...Object.fromEntries(deferred) };
}

/**
 * Returns the `search` function of the AI SDK's own `toolSearch()` (AI SDK 7), with the ranking of {@link createToolIndex}.
 *
 * @param tools - all tools, by name
 */
export function searchTools(
  tools: Readonly<Record<string, object>>,
  settings: { embedder?: ToolEmbedder } = {},
): (request: { query: string; tools: readonly { name: string }[] }) => Promise<string[]> {
  checkOptions('searchTools', settings, embedderChecks);
  const index = createToolIndex(tools, settings);
  return async ({ query, tools: eligible }) => {
    const names = new Set(eligible.map(({ name }) => name));
    const matches = await index.search(query, { maxResults: 50, isVisible: (name) => names.has(name) });
    return matches.map(({ name }) => name);
  };
}

function createCallTools(
  tools: Record<string, ToolLike>,
  pinned: Record<string, ToolLike>,
  { maxResults = 5, embedder }: ToolSearchSettings,
): Record<string, Tool> {
  const clash = Object.keys(searchToolDefinitions).find((name) => Object.hasOwn(pinned, name));
  if (clash !== undefined)
    throw new QuiverError(
      'TOOL_NAME_TAKEN',
      `A pinned tool has the name '${clash}', which the search needs. Rename it.`,
    );
  const index = createToolIndex(tools, embedder ? { embedder } : {});
  const find = (name: string): ToolLike | undefined => (Object.hasOwn(tools, name) ? tools[name] : undefined);
  const inner = new WeakMap<object, ToolLike>();
  const search = createTool({
    ...searchToolDefinitions.search_tools,
    execute: async ({ query }: { query: string }, { abortSignal: signal }) => {
      const matches = await index.search(query, { maxResults, ...(signal && { signal }) });
      const found = matches.map(({ name, tool: description }) => {
        const tool = tools[name] as ToolLike;
        return describeFound(description, readInput(tool), tool);
      });
      return describeResults(found);
    },
  });
  const caller = (id: 'call_read_tool' | 'call_write_tool'): Tool =>
    createTool({
      ...searchToolDefinitions[id],
      requireApproval: async ({ name, arguments: input = {} }: InnerCall, context) => {
        const { needsApproval } = (find(name) ?? {}) as Partial<Tool>;
        return typeof needsApproval === 'function' ? await needsApproval(input, context) : needsApproval === true;
      },
      execute: async ({ name, arguments: input = {} }: InnerCall, context) => {
        const tool = requireFound(find(name), name, id);
        const output = await executeTool(tool, input, { ...context, toolName: name } as ToolCallOptions);
        if (typeof output === 'object' && output !== null) inner.set(output, tool);
        return output;
      },
      toModelOutput: async (output: unknown) => {
        // A map of objects has no other values.
        const { toModelOutput } = (inner.get(output as object) ?? {}) as Partial<Tool>;
        if (toModelOutput) return toModelOutput(output);
        return typeof output === 'string' ? { type: 'text', value: output } : { type: 'json', value: output ?? null };
      },
    }) as Tool;
  return {
    search_tools: search as Tool,
    call_read_tool: caller('call_read_tool'),
    call_write_tool: caller('call_write_tool'),
  };
}
