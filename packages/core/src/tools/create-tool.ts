import type { InferOutput, Schema } from '../schema/index.js';
import { showToModel, toAiSdkInputSchema, withoutName } from './ai-sdk.js';
import { DriverSteps, isCallOfAiSdk7, isSelfContained, markSelfContained, recordOutputOfAiSdk7 } from './driver.js';
import { createToolContext, executeDefinition, streamDefinition, type ToolDefinition } from './execute-tool.js';
import { isToolFailure } from './tool-failure.js';
import { runHook, type ToolHooks, type ToolOutputEvent } from './tool-hooks.js';
import type {
  ClientTool,
  ClientToolOptions,
  DefaultRun,
  ErasedToolOptions,
  Result,
  StreamingToolOptions,
  ToolCallOptions,
  ToolLike,
  Tool as ToolObject,
  ToolModelOutput,
  ToolOptions,
} from './tool.js';
import { parseToolOptions } from './tool-options.js';

/**
 * Defines a tool. The result works in `generateText` and `streamText` of AI SDK 5, 6 and 7, in `MCPServer` and in agents, and can
 * be called directly with `tool.execute(input)`.
 *
 * @throws `OPTIONS_INVALID` when `id` or `description` is missing, for an unknown option, and for an invalid `requireApproval`
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
  const options = parseToolOptions(given);
  const defined = new DefinedTool(options);
  const { id, description, inputSchema, outputSchema, requireApproval } = options;
  const { title, strict, inputExamples, mcp, providerOptions } = options;
  // Own enumerable properties on a plain object: a copy made by spreading is still the tool. The members of most tools are part of the literal,
  // which takes no table of added properties. Rare ones are added one by one, which takes a fraction of the time of spreading them.
  const tool: Members = {
    id,
    description,
    inputSchema: toAiSdkInputSchema(defined, inputSchema ?? anyInput),
    toModelOutput: options.toModelOutput ? toConversion(options.toModelOutput, id) : showPlainly,
    execute: options.execute && bindExecute(defined, options.execute),
  };
  if (!options.execute) delete tool.execute;
  if (outputSchema) tool.outputSchema = outputSchema;
  if (title !== undefined) tool.title = title;
  if (strict !== undefined) tool.strict = strict;
  if (inputExamples) tool.inputExamples = inputExamples;
  if (mcp) tool.mcp = mcp;
  if (providerOptions) tool.providerOptions = providerOptions;
  if (typeof requireApproval === 'function') {
    // The AI SDK passes its own options; the user's function receives the same context as `execute`.
    tool.needsApproval = (input: unknown, callOptions: ToolCallOptions = {}) =>
      requireApproval(input, createToolContext(id, callOptions));
  } else if (requireApproval !== undefined) tool.needsApproval = requireApproval;
  for (const name of hookNames)
    if (options[name]) tool[name] = (event: object) => defined.runHook(name, event as never);
  return tool;
}

function bindExecute(defined: DefinedTool, given: object): object {
  // Bound methods take half the memory of closures.
  const execute = defined.execute.bind(defined);
  const bound = isGenerator(given) ? defined.stream.bind(defined) : execute;
  markSelfContained(bound, bound === execute ? undefined : execute);
  return bound;
}

/** Input schema of tools without an input schema: models send `{}`. */
const anyInput: Schema = { type: 'object', properties: {}, additionalProperties: true };

/** Default `toModelOutput`, shared by tools. */
const showPlainly = (argument: unknown): unknown => showToModel(argument);

/**
 * Returns what a model receives of an output, if the tool was given its own `toModelOutput`. Transports send it to hosts, next to the output for
 * programs.
 */
export async function toModelOutput(tool: ToolLike, output: unknown): Promise<ToolModelOutput | undefined> {
  const { execute, toModelOutput: convert } = tool as Partial<AnyClientTool> & ToolLike;
  if (!convert || convert === showPlainly || !execute || !isSelfContained(execute)) return undefined;
  // The form of AI SDK 6 and 7, in which the parts of a result are those of `ToolModelOutput`.
  return (await convert({ toolCallId: '', input: undefined, output })) as ToolModelOutput;
}

type Conversion = (argument: unknown) => unknown;

/** Conversions by the `toModelOutput` that was given: all tools of MCP servers share one. An entry lives as long as its function. */
const conversions = new WeakMap<object, Conversion>();

/** @param toolId - first tool with this function, for warnings */
function toConversion(given: NonNullable<ErasedToolOptions['toModelOutput']>, toolId: string): Conversion {
  const known = conversions.get(given);
  if (known) return known;
  const conversion: Conversion = (argument) => showToModel(argument, given, toolId);
  conversions.set(given, conversion);
  return conversion;
}

const hookNames = ['onInputStart', 'onInputDelta', 'onInputAvailable', 'onOutput'] as const;

type Members = { -readonly [Key in keyof AnyClientTool]: AnyClientTool[Key] } & {
  id: string;
  execute?: object | undefined;
};
type AnyClientTool = ClientTool<Schema, Schema, unknown>;

function isGenerator(execute: object): boolean {
  return (execute as { [Symbol.toStringTag]?: unknown })[Symbol.toStringTag] === 'AsyncGeneratorFunction';
}

async function* streamToAiSdk7(outputs: AsyncGenerator<unknown>): AsyncGenerator<unknown> {
  try {
    for await (const output of outputs) yield recordOutputOfAiSdk7(output);
  } catch (error) {
    throw withoutName(error);
  }
}

/**
 * State that the members of one tool share, with the steps that the AI SDK has done for its calls. Programs hold thousands of tools and call a few of them: the methods are shared, and the first call creates the state that only
 * calls need.
 */
class DefinedTool {
  readonly #definition: ToolDefinition;
  readonly #options: ErasedToolOptions;
  #done: DriverSteps | undefined;

  constructor(options: ErasedToolOptions) {
    this.#options = options;
    // Only tools with `execute` are called.
    this.#definition = options as ErasedToolOptions & ToolDefinition;
    if (!options.onOutput) return;
    // Not spread: the options may be an instance of a class with getters.
    const { id, inputSchema, outputSchema, requestContextSchema, requireApproval, onInputAvailable } = options;
    const checks = { id, inputSchema, outputSchema, requestContextSchema, requireApproval, onInputAvailable };
    const execute: ToolDefinition['execute'] = (input, context) => options.execute?.(input, context);
    this.#definition = { ...checks, execute, onOutput: (event) => this.#announce('onOutput', event) };
  }

  get id(): string {
    return this.#options.id;
  }

  execute(input: unknown, options: ToolCallOptions = {}): Promise<unknown> {
    const output = executeDefinition(this.#definition, input, options, this.#steps.doneBefore(input, options));
    if (!isCallOfAiSdk7(options)) return output;
    return output.then(recordOutputOfAiSdk7, (error: unknown) => {
      throw withoutName(error);
    });
  }

  stream(input: unknown, options: ToolCallOptions = {}): AsyncGenerator<unknown> {
    const outputs = streamDefinition(this.#definition, input, options, this.#steps.doneBefore(input, options));
    return isCallOfAiSdk7(options) ? streamToAiSdk7(outputs) : outputs;
  }

  recordValidated(input: unknown): void {
    this.#steps.recordValidated(input);
  }

  /** Created by the first call. */
  get #steps(): DriverSteps {
    return (this.#done ??= new DriverSteps());
  }

  /** Runs a hook for the driver of a call, which awaits it and ends the run when it throws; this never throws. */
  runHook(name: keyof ToolHooks<unknown, unknown>, event: ToolOutputEvent<unknown>): Promise<void> | undefined {
    if (name === 'onInputAvailable') return runHook(this.id, name, (given) => this.#announce(name, given), event);
    // `execute` announces its output; a driver that knows `onOutput`, as Mastra's agents do, must not do it again.
    if (name === 'onOutput' && (isToolFailure(event.output) || this.#steps.takeAnnounced(name, event.toolCallId)))
      return undefined;
    return runHook(this.id, name, this.#options[name] as (given: object) => unknown, event);
  }

  #announce(name: 'onInputAvailable' | 'onOutput', event: { readonly toolCallId: string }): unknown {
    this.#steps.announce(name, event.toolCallId);
    return (this.#options[name] as (given: object) => unknown)(event);
  }
}

// oxlint-disable-next-line typescript/no-explicit-any -- without type parameters it is any tool
type Untyped = any;

/** A tool made by {@link createTool}; without type parameters, any tool. */
export type Tool<
  InputSchema = Untyped,
  OutputSchema = Untyped,
  Output = InferOutput<OutputSchema>,
  Run = DefaultRun<InputSchema, Output>,
> = ToolObject<InputSchema, OutputSchema, Output, Run>;

interface ToolConstructor {
  new <
    InputSchema extends Schema | undefined = undefined,
    OutputSchema extends Schema | undefined = undefined,
    Output = unknown,
  >(
    options: ToolOptions<InputSchema, OutputSchema, Output>,
  ): Tool<InputSchema, OutputSchema, Result<OutputSchema, Output>>;
}

/**
 * The constructor form of {@link createTool}, for code that was written for Mastra. Every result of `createTool` is an instance, including copies made by
 * spreading.
 */
export const Tool: ToolConstructor = class {
  constructor(options: ToolOptions<undefined, undefined, unknown>) {
    // Spreading copies the members of a plain object only.
    return createTool(options);
  }

  static [Symbol.hasInstance](value: unknown): boolean {
    const { inputSchema } = (value ?? {}) as ToolLike;
    return typeof inputSchema === 'object' && inputSchema !== null && '~source' in inputSchema;
  }
} as ToolConstructor;

/** Returns whether a value is a tool of the AI SDK that was not made by {@link createTool}. */
export function isVercelTool(value: unknown): value is ToolLike {
  if (typeof value !== 'object' || value === null || value instanceof Tool) return false;
  return 'inputSchema' in value || 'parameters' in value;
}
