import { QuiverError } from '../errors.js';
import type { InferInput, InferOutput, Schema } from '../schema/index.js';
import { toAiSdkInputSchema } from './ai-sdk-input-schema.js';
import { executeDefinition, streamDefinition } from './execute-tool.js';
import { createToModelOutput, type ToolModelOutput } from './model-output.js';
import { createSeenCalls, type SeenCalls } from './seen-calls.js';
import { createToolContext, type ToolCallOptions, type ToolContext } from './tool-context.js';
import { registerDefinition, type ToolDefinition } from './tool-definition.js';
import { runHook, type ToolHooks } from './tool-hooks.js';
import { isToolFailure } from './tool-failure.js';
import type { ClientTool, Tool, ToolInput, ToolMcpOptions } from './tool.js';

/** A tool without `execute`: the application that shows the call to a person answers it. */
export interface ClientToolOptions<
  InputSchema extends Schema | undefined,
  OutputSchema extends Schema | undefined,
  Output,
> extends ToolHooks<ToolInput<InputSchema>, Output, unknown> {
  /** Names the tool in messages; a model sees the key under which the tool is offered. */
  id: string;
  /** Tells a model what the tool does and when to use it. */
  description: string;
  /** Checked before `execute`. Without it, anything is accepted. */
  inputSchema?: InputSchema;
  /** Checked after `execute`; its parsed value is the result. */
  outputSchema?: OutputSchema;
  /** Checked against the JSON form of the request context before `execute`. */
  requestContextSchema?: Schema;
  /** Name to show to people. */
  title?: string;
  /** Annotations and metadata for MCP clients. */
  mcp?: ToolMcpOptions;
  /** A person must agree before a model's call runs. AI SDK 6 and 7 ask; AI SDK 5 cannot, and its calls are refused. */
  requireApproval?: boolean | ((input: ToolInput<InputSchema>, context: ToolContext) => boolean | PromiseLike<boolean>);
  /** What the model sees instead of the output as JSON. */
  toModelOutput?: (output: Output) => ToolModelOutput | PromiseLike<ToolModelOutput>;
  /** Passed on to the model provider. */
  providerOptions?: Record<string, Record<string, unknown>>;
  /** Asks the provider to enforce the input schema while the model writes. */
  strict?: boolean;
  /** Shows the model what good input looks like. */
  inputExamples?: { input: InferInput<InputSchema> }[];
}

type MaybePromise<Value> = Value | PromiseLike<Value>;

/** What `execute` may return: with an output schema, anything the schema accepts. */
type Returned<OutputSchema, Output> = OutputSchema extends Schema ? InferInput<OutputSchema> : Output;
type Result<OutputSchema, Output> = OutputSchema extends Schema ? InferOutput<OutputSchema> : Output;

export interface ToolOptions<
  InputSchema extends Schema | undefined,
  OutputSchema extends Schema | undefined,
  Output,
> extends ClientToolOptions<InputSchema, OutputSchema, Result<OutputSchema, Output>> {
  execute: (inputData: ToolInput<InputSchema>, context: ToolContext) => MaybePromise<Returned<OutputSchema, Output>>;
}

export interface StreamingToolOptions<
  InputSchema extends Schema | undefined,
  OutputSchema extends Schema | undefined,
  Output,
> extends ClientToolOptions<InputSchema, OutputSchema, Result<OutputSchema, Output>> {
  /** An `async function*`: everything it yields is a preliminary result, the last one is the result. */
  execute: (inputData: ToolInput<InputSchema>, context: ToolContext) => AsyncIterable<Returned<OutputSchema, Output>>;
}

/**
 * Defines a tool. The result goes as it is into `generateText` and `streamText` of AI SDK 5, 6 and 7, into `MCPServer` and into
 * agents, and can be called by hand with `tool.execute(input)`.
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
export function createTool(options: ErasedOptions): ClientTool<Schema, Schema, unknown> {
  const { id, description } = options;
  if (typeof id !== 'string' || id === '' || typeof description !== 'string') {
    throw new QuiverError(
      'TOOL_OPTIONS_INVALID',
      `createTool needs a non-empty id and a description (id: ${String(id)}).`,
    );
  }
  const seen = createSeenCalls();
  const { inputSchema, outputSchema, title, strict, inputExamples, mcp, providerOptions, requireApproval } = options;
  const definition: ToolDefinition = {
    id,
    inputSchema,
    outputSchema,
    requestContextSchema: options.requestContextSchema,
    requireApproval,
    ...(options.onInputAvailable && { onInputAvailable: options.onInputAvailable }),
    ...(options.onOutput && { onOutput: announceOutputOnce(options.onOutput, seen) }),
    run: (input, context) => options.execute?.(input, context),
  };
  // Own enumerable properties on a plain object: a copy made by spreading is still the tool.
  return {
    id,
    description,
    inputSchema: toAiSdkInputSchema({
      toolId: id,
      schema: inputSchema ?? anyInput,
      // Without `execute` nobody would ever ask.
      onParsed: options.execute ? (input) => seen.markParsed(input) : ignore,
    }),
    ...(outputSchema && { outputSchema }),
    ...(title !== undefined && { title }),
    ...(strict !== undefined && { strict }),
    ...(inputExamples && { inputExamples }),
    ...(mcp && { mcp }),
    ...(providerOptions && { providerOptions }),
    ...(requireApproval !== undefined && { needsApproval: toNeedsApproval(definition) }),
    toModelOutput: createToModelOutput(id, options.toModelOutput),
    ...isolatedHooks(options, seen),
    ...(options.execute && { execute: createExecute(definition, isGenerator(options.execute), seen) }),
  } as ClientTool<Schema, Schema, unknown>;
}

const ignore = (): void => {};

/** What a tool without input schema accepts: models send `{}`. */
const anyInput: Schema = { type: 'object', properties: {}, additionalProperties: true };

/** The AI SDK asks with options of its own; the user's function receives what `execute` would. */
function toNeedsApproval({ id, requireApproval }: ToolDefinition): unknown {
  if (typeof requireApproval !== 'function') return requireApproval;
  return (input: unknown, options: ToolCallOptions = {}) => requireApproval(input, createToolContext(id, options));
}

/** The options as the implementation sees them, whatever their type parameters were. */
type ErasedOptions = ClientToolOptions<Schema, Schema, unknown> & {
  execute?: (inputData: unknown, context: ToolContext) => unknown;
};

function isGenerator(execute: object): boolean {
  return Object.prototype.toString.call(execute) === '[object AsyncGeneratorFunction]';
}

function createExecute(definition: ToolDefinition, streams: boolean, seen: SeenCalls): object {
  const run = streams ? streamDefinition : executeDefinition;
  const execute = (input: unknown, options: ToolCallOptions = {}): unknown =>
    run(definition, input, options, seen.begin(input, options));
  registerDefinition(execute, definition);
  return execute;
}

/** `execute` itself announces its output; a driver that knows `onOutput`, as Mastra's agents do, must not do it again. */
function announceOutputOnce(
  onOutput: NonNullable<ErasedOptions['onOutput']>,
  seen: SeenCalls,
): NonNullable<ErasedOptions['onOutput']> {
  return (event) => {
    seen.markOutputAnnounced(event.toolCallId);
    return onOutput(event);
  };
}

/** A driver awaits its hooks and gives up when one throws; these never throw. */
function isolatedHooks(options: ErasedOptions, seen: SeenCalls): ToolHooks<unknown, unknown> {
  const { id, onInputStart, onInputDelta, onInputAvailable, onOutput } = options;
  return {
    ...(onInputStart && { onInputStart: (event) => runHook(id, 'onInputStart', onInputStart, event) }),
    ...(onInputDelta && { onInputDelta: (event) => runHook(id, 'onInputDelta', onInputDelta, event) }),
    ...(onInputAvailable && {
      onInputAvailable: (event) => {
        seen.markAnnounced(event.input, event.toolCallId);
        return runHook(id, 'onInputAvailable', onInputAvailable, event);
      },
    }),
    ...(onOutput && {
      onOutput: (event) => {
        if (isToolFailure(event.output) || seen.takeOutputAnnounced(event.toolCallId)) return undefined;
        return runHook(id, 'onOutput', onOutput, event);
      },
    }),
  };
}
