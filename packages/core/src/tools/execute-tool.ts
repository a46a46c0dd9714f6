import { untilAborted } from '../async.js';
import { QuiverError } from '../errors.js';
import { unchecked, checkOptions, ignoredOptions, oneOf, type OptionChecks } from '../options.js';
import { validate, type Schema, type ValidationResult } from '../schema/index.js';
import { traceChannels } from '../trace.js';
import type { ToolTraceEvent } from '../trace-events.js';
import { checkApproval } from './approval.js';
import { nothingDone, requestContextOf, selfContained, type DoneBefore } from './driver.js';
import { noMcpContext } from './mcp-context.js';
import { repairInput } from './repair-input.js';
import { createToolFailure, type ToolFailureOptions } from './tool-failure.js';
import { runHook, type ToolHooks } from './tool-hooks.js';
import type { ErasedToolOptions, ToolCallOptions, ToolContext, ToolLike } from './tool.js';

/** Options of {@link createTool} that calls read, for a tool of any origin. */
export type ToolDefinition = Required<Pick<ErasedToolOptions, 'id' | 'execute'>> & {
  readonly [Option in keyof ErasedToolOptions]?: ErasedToolOptions[Option] | undefined;
};

type Validation = ValidationResult<unknown>;

/** Outcome of a stage of a call: the value for the next stage, or the `ToolFailure` that ends the call. */
interface Stage {
  readonly ok: boolean;
  readonly value: unknown;
}

function accept(value: unknown): Validation & { ok: true } {
  return { ok: true, value };
}

const noStreams = 'tools write to no stream. Report progress with context.mcp.progress().';
const noSuspension = 'tools cannot be suspended.';
const callChecks: OptionChecks<ToolCallOptions> = {
  ...unchecked<ToolCallOptions>()('requestContext', 'abortSignal', 'toolCallId', 'toolName', 'runId', 'messages'),
  ...unchecked<ToolCallOptions>()('mcp', 'workflow', 'mastra'),
  onFailure: oneOf('return', 'throw'),
  ...unchecked<ToolCallOptions>()('acceptOutput', 'context', 'experimental_context'),
  ...ignoredOptions({
    agent: 'messages make it the call of an agent.',
    tracingContext: 'calls are traced by instrument() of @quiver/core/otel.',
    writer: noStreams,
    writableStream: noStreams,
    suspend: noSuspension,
    resumeData: noSuspension,
  }),
};

/**
 * Runs a tool. Every call takes this path: validate the input, `onInputAvailable`, run, validate the output,
 * `onOutput`.
 *
 * @returns the validated output, or a `ToolFailure` when input, output or request context does not fit its schema. A tool that
 *   yields preliminary results returns its last one.
 * @throws the errors of the tool, and `abortSignal.reason` as soon as the signal aborts
 * @throws `TOOL_NOT_EXECUTABLE` when there is no tool, or it has no `execute`
 * @throws `OPTIONS_INVALID` for an unknown option
 * @throws `TOOL_VALIDATION_FAILED` instead of the `ToolFailure` when `onFailure` is `throw`
 * @example
 * const forecast = await executeTool(tools.weather, { city: 'Oslo' }, { abortSignal: AbortSignal.timeout(5000) });
 */
export function executeTool(tool: ToolLike, input: unknown, options: ToolCallOptions = {}): Promise<unknown> {
  try {
    // The context of another tool has `mcp`, and the options of the AI SDK have `messages`: a tool may pass them on with all members.
    // Servers pass `mcp` too, and spend no time on the check.
    if (options?.mcp === undefined && options?.messages === undefined) checkOptions('executeTool', options, callChecks);
    return startTool(tool, input, options);
  } catch (error) {
    // Not an async function, which would wait for the promise of the tool.
    return Promise.reject(error as Error);
  }
}

function startTool(tool: ToolLike, input: unknown, options: ToolCallOptions): Promise<unknown> {
  if (tool === undefined || tool === null) {
    const message = `executeTool needs a tool, not ${String(tool)}. Check the name under which the tool is looked up.`;
    throw new QuiverError('TOOL_NOT_EXECUTABLE', message);
  }
  const { execute } = tool;
  if (typeof execute !== 'function') {
    const message = `The tool '${getToolId(tool) ?? '?'}' has no execute function: the application that receives the call must provide its result.`;
    throw new QuiverError('TOOL_NOT_EXECUTABLE', message);
  }
  if (!(selfContained in execute)) return executeDefinition(defineForeign(tool, execute), input, options);
  const { [selfContained]: executeToLast } = execute as { [selfContained]?: unknown };
  if (typeof executeToLast === 'function') return executeToLast(input, options) as Promise<unknown>;
  const output: unknown = execute.call(tool, input, options);
  // A promise of the result, unless a wrapper returns the preliminary results of its tool.
  return isAsyncIterable(output) ? lastOf(output, signalOf(options)) : (output as Promise<unknown>);
}

const channel = traceChannels['quiver:tool'];

/** Runs the tool of a definition, and publishes the call; see {@link executeTool}. */
export function executeDefinition(
  definition: ToolDefinition,
  input: unknown,
  options: ToolCallOptions,
  done: DoneBefore = nothingDone,
): Promise<unknown> {
  if (!channel.isActive) return runDefinition(definition, input, options, done);
  const event = createEvent(definition, input, options);
  return channel.trace(event, () => runDefinition(definition, input, options, done, event.toolCallId));
}

function runDefinition(
  definition: ToolDefinition,
  input: unknown,
  options: ToolCallOptions,
  done: DoneBefore,
  callId?: string,
): Promise<unknown> {
  return untilAborted(async () => {
    const context = createToolContext(definition.id, options, callId);
    // Awaits values too: a caller that cancels in the turn of its call, or a cancellation behind it in one chunk, prevents the tool.
    const prepared = await prepare(definition, input, options, context, done);
    if (!prepared.ok) return prepared.value;
    context.abortSignal?.throwIfAborted();
    let output = await definition.execute(prepared.value, context);
    if (isAsyncIterable(output)) output = await lastOf(output, context.abortSignal);
    const checked = definition.outputSchema ? await checkOutput(definition, output, options) : accept(output);
    if (checked.ok && definition.onOutput) await announceOutput(definition, checked.value, context);
    return checked.value;
  }, options.abortSignal);
}

/** Runs a tool that yields preliminary results, and publishes the call; validates each result and yields it. See {@link executeTool}. */
export function streamDefinition(
  definition: ToolDefinition,
  input: unknown,
  options: ToolCallOptions,
  done: DoneBefore,
): AsyncGenerator<unknown> {
  if (!channel.isActive) return runStream(definition, input, options, done);
  const event = createEvent(definition, input, options);
  return publishStream(event, runStream(definition, input, options, done, event.toolCallId));
}

async function* runStream(
  definition: ToolDefinition,
  input: unknown,
  options: ToolCallOptions,
  done: DoneBefore,
  callId?: string,
): AsyncGenerator<unknown> {
  const context = createToolContext(definition.id, options, callId);
  const { abortSignal } = context;
  const prepared = await untilAborted(async () => prepare(definition, input, options, context, done), abortSignal);
  if (!prepared.ok) {
    yield prepared.value;
    return;
  }
  const results = (definition.execute(prepared.value, context) as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  let last: Stage | undefined;
  let isFinished = false;
  try {
    while (!isFinished) {
      const step = await untilAborted(() => results.next(), abortSignal);
      isFinished = step.done === true;
      // The result of a generator without a yielded value is `undefined`.
      if (isFinished && last) break;
      last = await checkOutput(definition, isFinished ? undefined : step.value, options);
      yield last.value;
    }
  } finally {
    // Not awaited: a tool that ignores its signal must not delay the caller.
    if (!isFinished) void Promise.resolve(results.return?.()).catch(() => {});
  }
  if (last?.ok) await untilAborted(() => announceOutput(definition, last?.value, context), abortSignal);
}

/** Publishes a call that yields preliminary results. Its end is the end of the generator, and its result the last one. */
async function* publishStream(event: ToolTraceEvent, results: AsyncGenerator<unknown>): AsyncGenerator<unknown> {
  let resolve: (value: unknown) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const end = new Promise((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  // The consumer of the generator receives the error.
  channel.trace(event, () => end).catch(() => {});
  const next = (): Promise<IteratorResult<unknown>> => results.next();
  let last: unknown;
  try {
    for (;;) {
      const step = await (event.run ? event.run(next) : next());
      if (step.done === true) return;
      last = step.value;
      yield last;
    }
  } catch (error) {
    reject(error);
    throw error;
  } finally {
    await results.return(undefined);
    resolve(last);
  }
}

function createEvent(
  { id }: ToolDefinition,
  input: unknown,
  { toolName = id, toolCallId = crypto.randomUUID() }: ToolCallOptions,
): ToolTraceEvent {
  return { type: 'tool', toolName, toolCallId, input };
}

/** Runs the stages before the tool itself. Most calls have none but a validation, whose result needs no promise. */
function prepare(
  definition: ToolDefinition,
  input: unknown,
  options: ToolCallOptions,
  context: ToolContext,
  done: DoneBefore,
): Stage | Promise<Stage> {
  const { inputSchema, requestContextSchema, requireApproval, onInputAvailable } = definition;
  const validation = inputSchema && !done.inputIsValid ? validate(inputSchema, input) : accept(input);
  const isReady = !requestContextSchema && !requireApproval && (!onInputAvailable || done.inputWasAnnounced);
  if (isReady && 'ok' in validation && validation.ok) return validation;
  return admit(definition, input, validation, options, context, done);
}

/** Awaits the validation of the input, repairs it, and runs the stages between it and the tool. */
async function admit(
  definition: ToolDefinition,
  given: unknown,
  validation: Validation | Promise<Validation>,
  options: ToolCallOptions,
  context: ToolContext,
  done: DoneBefore,
): Promise<Stage> {
  const { id, inputSchema, requestContextSchema, requireApproval, onInputAvailable } = definition;
  let validated = await validation;
  if (!validated.ok && inputSchema) validated = await repairInput(inputSchema, given, validated);
  if (!validated.ok) {
    const what = `Tool input validation failed for ${id}. Please fix the following errors and try again:`;
    return fail(options, { what, issues: validated.issues, label: 'Provided arguments', value: given });
  }
  const input = validated.value;
  if (requestContextSchema) {
    const values = context.requestContext.toJSON();
    const result = await validate(requestContextSchema, values);
    if (!result.ok) {
      const what = `Tool request context validation failed for ${id}. The caller must provide:`;
      // The failure omits the values, because they belong to the caller and the model receives the failure.
      const types = Object.fromEntries(Object.entries(values).map(([key, held]) => [key, `(${typeof held})`]));
      return fail(options, { what, issues: result.issues, label: 'Provided context', value: types });
    }
  }
  if (requireApproval) await checkApproval(definition, input, options, context);
  if (onInputAvailable && !done.inputWasAnnounced) {
    const { toolCallId, abortSignal, agent } = context;
    await runHook(id, 'onInputAvailable', onInputAvailable, {
      input,
      toolCallId,
      abortSignal,
      messages: agent?.messages ?? [],
    });
  }
  return accept(input);
}

/** Validates an output or a preliminary output. */
async function checkOutput(
  { id, outputSchema }: ToolDefinition,
  output: unknown,
  options: ToolCallOptions,
): Promise<Stage> {
  const result = outputSchema ? await validate(outputSchema, output) : accept(output);
  if (result.ok) return result;
  if (options.acceptOutput?.(output)) return accept(output);
  const what = `Tool output validation failed for ${id}. The tool returned invalid output:`;
  return fail(options, { what, issues: result.issues, label: 'Returned output', value: output });
}

async function announceOutput({ id, onOutput }: ToolDefinition, output: unknown, context: ToolContext): Promise<void> {
  const { toolCallId, abortSignal, toolName } = context;
  await runHook(id, 'onOutput', onOutput, { output, toolCallId, abortSignal, toolName });
}

/** Ends a call with a failure: returns it, or throws it with `onFailure: 'throw'`. */
function fail({ onFailure }: ToolCallOptions, reason: ToolFailureOptions): Stage {
  const failure = createToolFailure(reason);
  if (onFailure !== 'throw') return { ok: false, value: failure };
  const { message, validationErrors } = failure;
  throw new QuiverError('TOOL_VALIDATION_FAILED', message, { details: { validationErrors } });
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

async function lastOf(results: AsyncIterable<unknown>, signal: AbortSignal | undefined): Promise<unknown> {
  let last: unknown;
  for await (const value of results) {
    // A preliminary result is not the result.
    signal?.throwIfAborted();
    last = value;
  }
  return last;
}

/**
 * Creates the second argument of `execute`.
 *
 * @param callId - id of the published call, which applies if the caller has none
 */
export function createToolContext(toolId: string, options: ToolCallOptions, callId?: string): ToolContext {
  const { messages, workflow, runId, mcp = noMcpContext, mastra } = options;
  const abortSignal = signalOf(options);
  const { toolName = toolId, toolCallId = callId ?? crypto.randomUUID() } = options;
  const context: { -readonly [Key in keyof ToolContext]: ToolContext[Key] } = {
    requestContext: requestContextOf(options),
    toolCallId,
    toolName,
    mcp,
  };
  if (abortSignal) context.abortSignal = abortSignal;
  if (messages) context.agent = { toolCallId, messages };
  if (runId !== undefined) context.runId = runId;
  if (workflow) context.workflow = workflow;
  if (mastra !== undefined) context.mastra = mastra;
  return context;
}

/** Returns the signal of a call; of a call by an MCP server, which ends the wait for the tool itself, the one in `mcp`. */
function signalOf({ abortSignal, mcp }: ToolCallOptions): AbortSignal | undefined {
  return abortSignal ?? mcp?.extra?.signal;
}

/** Returns the definition of a tool that `createTool` did not make. */
function defineForeign(tool: ToolLike, execute: NonNullable<ToolLike['execute']>): ToolDefinition {
  const { onInputAvailable, onOutput } = tool as ToolHooks<unknown, unknown>;
  return {
    id: getToolId(tool) ?? 'tool',
    inputSchema: withInputSchema(tool).inputSchema as Schema | undefined,
    outputSchema: tool.outputSchema as Schema | undefined,
    onInputAvailable: onInputAvailable?.bind(tool),
    onOutput: onOutput?.bind(tool),
    // The request context under the names of all libraries.
    execute: (input, context) =>
      execute.call(tool, input, {
        ...context,
        messages: context.agent?.messages ?? [],
        experimental_context: context.requestContext,
        context: context.requestContext,
      }),
  };
}

/** Returns a tool with `inputSchema`. AI SDK 4 named the input schema `parameters`. */
export function withInputSchema<Tool extends { readonly inputSchema?: unknown }>(tool: Tool): Tool {
  const { parameters } = tool as { parameters?: unknown };
  return tool.inputSchema === undefined && parameters !== undefined ? { ...tool, inputSchema: parameters } : tool;
}

/** Returns the `id` of a tool, which its public type does not contain. */
export function getToolId(tool: ToolLike): string | undefined {
  const { id } = tool as { id?: unknown };
  return typeof id === 'string' && id !== '' ? id : undefined;
}
