import {
  unchecked,
  checkOptions,
  ignoredOptions,
  objectOf,
  resolveAliases,
  valueThat,
  type OptionChecks,
  invalidOptions,
} from '../options.js';
import type { Schema } from '../schema/schema.js';
import { describeSchema } from '../schema/validate.js';
import type { ErasedToolOptions, ToolMcpOptions, ToolTaskOptions } from './tool.js';

const noSuspension = 'tools cannot be suspended. Ask the user with context.mcp.elicitation, or use requireApproval.';
const approval = valueThat(
  (value) => typeof value === 'boolean' || typeof value === 'function',
  'true, false or a function',
);

/** The values are checked by `MCPServer`, which leaves out tools that it cannot serve. */
const taskValue = objectOf<ToolTaskOptions>(
  unchecked<ToolTaskOptions>()('mode', 'after', 'ttlMs', 'pollIntervalMs', 'resume'),
);

const mcpChecks: OptionChecks<ToolMcpOptions> = {
  ...unchecked<ToolMcpOptions>()('annotations', 'icons', '_meta', 'scopes', 'resultLimit'),
  task: (value, option, owner) =>
    typeof value === 'object' && value !== null ? taskValue(value, option, owner) : undefined,
  ...ignoredOptions({ toolType: 'MCPServer sets the type of the tools that it makes from agents and workflows.' }),
};

const checks: OptionChecks<ErasedToolOptions> = {
  ...unchecked<ErasedToolOptions>()('id', 'description', 'inputSchema', 'outputSchema', 'requestContextSchema'),
  ...unchecked<ErasedToolOptions>()('execute', 'title', 'toModelOutput', 'providerOptions', 'strict', 'inputExamples'),
  ...unchecked<ErasedToolOptions>()('onInputStart', 'onInputDelta', 'onInputAvailable', 'onOutput', 'parameters'),
  mcp: objectOf(mcpChecks),
  requireApproval: approval,
  needsApproval: approval,
  ...ignoredOptions({
    suspendSchema: noSuspension,
    resumeSchema: noSuspension,
    transform: 'there is no transcript to transform. Shorten the output for the model with toModelOutput.',
    background: 'there are no background tasks of agents. Long calls over MCP become tasks with mcp.task.',
    mastra: 'callers pass their application with each call, as the call option mastra.',
    mcpMetadata: 'MCPClient records the origin of its tools itself.',
  }),
};

/**
 * Checks the options of `createTool`, and returns them under their names here: `inputSchema` of `parameters`, `requireApproval` of
 * `needsApproval`. Copies the options, so that options that are changed or used again do not change the tool.
 *
 * @throws `OPTIONS_INVALID`; `SCHEMA_NOT_RECOGNISED` for a value that is not a schema
 */
export function parseToolOptions(given: ErasedToolOptions): ErasedToolOptions {
  checkOptions('createTool', given, checks);
  const { id, description, inputSchema, parameters, needsApproval } = given;
  if (typeof id !== 'string' || id === '' || typeof description !== 'string') {
    throw invalidOptions(`createTool needs a non-empty id and a description (id: ${String(id)}).`);
  }
  for (const schema of [inputSchema, parameters, given.outputSchema, given.requestContextSchema])
    // A function creates its schema when that is needed.
    if (typeof schema === 'object') describeSchema(schema as Schema);
  if (needsApproval === undefined && (parameters === undefined || inputSchema !== undefined))
    // Instances of classes have getters, which a copy would lose.
    return Object.getPrototypeOf(given) === Object.prototype ? { ...given } : given;
  const names = Object.keys(checks) as (keyof ErasedToolOptions)[];
  // The options by their names; absent ones are `undefined`.
  const options = Object.fromEntries(names.map((name) => [name, given[name]])) as unknown as ErasedToolOptions;
  return resolveAliases('createTool', options);
}
