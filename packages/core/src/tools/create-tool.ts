import { QuiverError } from '../errors.js';
import type { Schema } from '../schema/index.js';
import { isolateHooks } from './ai-sdk-calls.js';
import { toAiSdkInputSchema } from './ai-sdk-input-schema.js';
import { DefinedTool } from './defined-tool.js';
import { showToModel } from './model-output.js';
import { registerDefinition, withInputSchema } from './tool-definition.js';
import type {
  ClientToolOptions,
  ErasedToolOptions,
  Result,
  StreamingToolOptions,
  ToolOptions,
} from './tool-options.js';
import type { ClientTool, Tool } from './tool.js';

/**
 * Defines a tool. The result works in `generateText` and `streamText` of AI SDK 5, 6 and 7, in `MCPServer` and in agents, and can
 * be called directly with `tool.execute(input)`.
 *
 * @throws `TOOL_OPTIONS_INVALID` when `id` or `description` is missing
 * @example
 * const weather = createTool({
 *   id: 'weather',
 *   description: 'Current weather of a city',
 *   inputSchema: z.object({ city: z.string() }),
 *   execute: async ({ city }) => ({ city, celsius: 21 }),
 * });
 */
export function createTool<
  InputSchema extends Schema | undefined = undefined,
  OutputSchema extends Schema | undefined = undefined,
  Output = unknown,
>(
  options: StreamingToolOptions<InputSchema, OutputSchema, Output>,
): Tool<InputSchema, OutputSchema, Result<OutputSchema, Output>, AsyncIterable<Result<OutputSchema, Output>>>;
export function createTool<
  InputSchema extends Schema | undefined = undefined,
  OutputSchema extends Schema | undefined = undefined,
  Output = unknown,
>(
  options: ToolOptions<InputSchema, OutputSchema, Output>,
): Tool<InputSchema, OutputSchema, Result<OutputSchema, Output>>;
export function createTool<
  InputSchema extends Schema | undefined = undefined,
  OutputSchema extends Schema | undefined = undefined,
  Output = unknown,
>(
  options: ClientToolOptions<InputSchema, OutputSchema, Result<OutputSchema, Output>>,
): ClientTool<InputSchema, OutputSchema, Result<OutputSchema, Output>>;
export function createTool(given: ErasedToolOptions): AnyClientTool {
  const { id, description } = given;
  if (typeof id !== 'string' || id === '' || typeof description !== 'string') {
    throw new QuiverError(
      'TOOL_OPTIONS_INVALID',
      `createTool needs a non-empty id and a description (id: ${String(id)}).`,
    );
  }
  const options = 'parameters' in given ? withInputSchema(given) : given;
  const defined = new DefinedTool(options);
  const { inputSchema, outputSchema, requireApproval } = defined;
  const { title, strict, inputExamples, mcp, providerOptions } = options;
  // Own enumerable properties on a plain object: a copy made by spreading is still the tool. Those that most tools lack are
  // added one by one, which takes a fraction of the time and memory of spreading them.
  const tool: Members = { id, description, inputSchema: toAiSdkInputSchema(defined, inputSchema ?? anyInput) };
  if (outputSchema) tool.outputSchema = outputSchema;
  if (title !== undefined) tool.title = title;
  if (strict !== undefined) tool.strict = strict;
  if (inputExamples) tool.inputExamples = inputExamples;
  if (mcp) tool.mcp = mcp;
  if (providerOptions) tool.providerOptions = providerOptions;
  if (requireApproval !== undefined) {
    tool.needsApproval = typeof requireApproval === 'function' ? defined.needsApproval.bind(defined) : requireApproval;
  }
  tool.toModelOutput = options.toModelOutput ? defined.toModelOutput.bind(defined) : showPlainly;
  Object.assign(tool, isolateHooks(options, defined));
  if (options.execute) {
    tool.execute = (isGenerator(options.execute) ? defined.stream : defined.execute).bind(defined);
    registerDefinition(tool.execute, defined);
  }
  return tool;
}

/** Input schema of tools that have no other: models send `{}`. */
const anyInput: Schema = { type: 'object', properties: {}, additionalProperties: true };

/** Default `toModelOutput`, shared by tools. */
const showPlainly = (argument: unknown): unknown => showToModel(argument);

type Members = { -readonly [Key in keyof AnyClientTool]: AnyClientTool[Key] } & { id: string; execute?: object };
type AnyClientTool = ClientTool<Schema, Schema, unknown>;

function isGenerator(execute: object): boolean {
  return Object.prototype.toString.call(execute) === '[object AsyncGeneratorFunction]';
}
