import { QuiverError } from '../errors.js';
import { isRecord } from '../options.js';
import type { JsonSchema } from '../schema/index.js';
import { parseContainer } from '../tools/repair-input.js';
import type { ToolLike } from '../tools/index.js';
import type { ToolDescription } from './describe-tool.js';

/** Tools that a model sees in place of many. */
export type SearchToolName = 'search_tools' | 'call_read_tool' | 'call_write_tool';

/** Members of `createTool` that describe one of the tools. */
export interface SearchToolDefinition {
  readonly id: SearchToolName;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly mcp: { readonly annotations: Record<string, string | boolean> };
}

/** The input of both calling tools: a call of a tool that was found. */
export interface InnerCall {
  name: string;
  arguments?: Record<string, unknown>;
}

/**
 * Returns the call in the input of a calling tool: models also send arguments as JSON text, and `null` for none. Returns `undefined` for an
 * input with other members, because its model has put the arguments in the wrong place.
 */
export function readInnerCall(input: unknown): Required<InnerCall> | undefined {
  if (!isRecord(input)) return undefined;
  const { name, arguments: given, ...others } = input;
  const args = typeof given === 'string' ? parseContainer(given) : (given ?? {});
  const isCall = typeof name === 'string' && isRecord(args) && Object.values(others).every((value) => value === null);
  return isCall ? { name, arguments: args } : undefined;
}

const searchInput = {
  type: 'object',
  properties: { query: { type: 'string', description: 'Action and object, such as "create issue in repository"' } },
  required: ['query'],
  additionalProperties: false,
};

const callInput = {
  type: 'object',
  properties: {
    name: { type: 'string', description: 'Name of the tool, as search_tools returned it' },
    arguments: { type: 'object', description: 'Arguments of the tool', additionalProperties: true },
  },
  required: ['name'],
  additionalProperties: false,
};

/** Definitions of the three tools. Reads and writes are separate, so that a host or a person can allow reading without writing. */
export const searchToolDefinitions: Readonly<Record<SearchToolName, SearchToolDefinition>> = {
  search_tools: {
    id: 'search_tools',
    title: 'Search tools',
    description:
      'Finds tools for a task, best first. Name the action and the object in words of an API; if no result fits, search again with other words. The first two results have their full inputSchema: search for the name of another tool to see its own. Call a tool with call_read_tool or call_write_tool, as its result says.',
    inputSchema: searchInput,
    mcp: { annotations: { title: 'Search tools', readOnlyHint: true, openWorldHint: false } },
  },
  call_read_tool: {
    id: 'call_read_tool',
    title: 'Call a tool that reads',
    description: 'Calls a tool that search_tools has found and that only reads. Give its name and its arguments.',
    inputSchema: callInput,
    mcp: { annotations: { title: 'Call a tool that reads', readOnlyHint: true } },
  },
  call_write_tool: {
    id: 'call_write_tool',
    title: 'Call a tool that writes',
    description:
      'Calls a tool that search_tools has found and that may change something. Give its name and its arguments.',
    inputSchema: callInput,
    mcp: { annotations: { title: 'Call a tool that writes', readOnlyHint: false, destructiveHint: true } },
  },
};

/** A tool that was found, as a model receives it. */
export interface FoundTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string | undefined;
  readonly inputSchema?: JsonSchema | undefined;
  readonly call: SearchToolName;
}

/** Results with their whole definition. Schemas are most of the tokens of a search, and a model that wants another tool searches for its name. */
const WHOLE_RESULTS = 2;

/** Returns the output of `search_tools`, which also says what to do when no tool was found. */
export function describeResults(found: readonly FoundTool[]): object {
  const tools = found.map((tool, position) => (position < WHOLE_RESULTS ? tool : toLine(tool)));
  return tools.length > 0 ? { tools } : { tools, hint: noTool };
}

const noTool = 'No tool matches. Search again with other words, such as the verb and the object of the task.';

/** Returns a tool with the first sentence of its description, and the names of its parameters: `repository, title, body?`. */
function toLine({ name, description, inputSchema, call }: FoundTool): object {
  const { properties = {}, required = [] } = (inputSchema ?? {}) as {
    properties?: object;
    required?: readonly string[];
  };
  const names = Object.keys(properties).map((key) => (required.includes(key) ? key : `${key}?`));
  return { name, description: description?.split(/(?<=\.)\s|\n/, 1)[0], parameters: names.join(', '), call };
}

/** Returns what a model needs to call a tool that was found. */
export function describeFound(
  { name, title, description }: Pick<ToolDescription, 'name' | 'title' | 'description'>,
  inputSchema: JsonSchema | undefined,
  tool: Pick<ToolLike, 'mcp'>,
): FoundTool {
  return { name, ...(title && { title }), description, inputSchema, call: callerOf(tool) };
}

/**
 * Returns the tool of a call.
 *
 * @param calledBy - the tool that calls it
 * @throws `TOOL_UNKNOWN`, and `TOOL_CALLED_WRONGLY` for a tool that the other of both calls
 */
export function requireFound<Tool extends Pick<ToolLike, 'mcp'>>(
  tool: Tool | undefined,
  name: string,
  calledBy: SearchToolName,
): Tool {
  if (!tool)
    throw new QuiverError('TOOL_UNKNOWN', `There is no tool '${name}'. Use a name that search_tools has returned.`);
  const expected = callerOf(tool);
  if (expected === calledBy) return tool;
  throw new QuiverError(
    'TOOL_CALLED_WRONGLY',
    `The tool '${name}' ${expected === 'call_write_tool' ? 'may change something' : 'only reads'}: call it with ${expected}.`,
  );
}

/** Name of the tool that calls a tool. */
function callerOf({ mcp }: Pick<ToolLike, 'mcp'>): SearchToolName {
  return mcp?.annotations?.readOnlyHint === true ? 'call_read_tool' : 'call_write_tool';
}
