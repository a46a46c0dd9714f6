import { untilAborted } from '../async.js';
import { QuiverError } from '../errors.js';
import { validate, type SchemaIssue, type ValidationResult } from '../schema/index.js';
import { nothingDone, type DoneBefore } from './ai-sdk-calls.js';
import { findApprovedCall } from './approval.js';
import { rememberCaller } from './model-output.js';
import { createToolContext, type ToolCallOptions, type ToolContext } from './tool-context.js';
import { definitionOf, type ToolDefinition } from './tool-definition.js';
import { createToolFailure, type ToolFailure } from './tool-failure.js';
import { runHook } from './tool-hooks.js';
import type { ToolLike } from './tool.js';
import { validateInput } from './validate-input.js';

/**
 * Runs a tool. Every call takes this path: validate the input, `onInputAvailable`, run, validate the output,
 * `onOutput`.
 *
 * @returns the validated output, or a `ToolFailure` when input, output or request context does not fit its schema. A tool that
 *   yields preliminary results returns its last one.
 * @throws the errors of the tool, and `abortSignal.reason` as soon as the signal fires
 * @throws `TOOL_NOT_EXECUTABLE` when the tool has no `execute`
 * @throws `TOOL_VALIDATION_FAILED` instead of the `ToolFailure` when `onFailure` is `throw`
 */
export async function executeTool(tool: ToolLike, input: unknown, options: ToolCallOptions = {}): Promise<unknown> {
  return executeDefinition(definitionOf(tool), input, options);
}

/** As {@link executeTool}, for a definition. */
export function executeDefinition(
  definition: ToolDefinition,
  input: unknown,
  options: ToolCallOptions,
  done: DoneBefore = nothingDone,
): Promise<unknown> {
  const run = async (): Promise<unknown> => {
    const context = createToolContext(definition.id, options);
    // Steps that have nothing to wait for are not awaited: this is the hot path of a server.
    const preparing = prepareCall(definition, input, options, context, done);
    const ready = preparing instanceof Promise ? await preparing : preparing;
    if (!ready.ok) return failed(ready.failure, options);
    let output = await definition.run(ready.value, context, options);
    if (isAsyncIterable(output)) output = await lastOf(output, context.abortSignal);
    const finishing = finishCall(definition, output, context, options);
    const checked = finishing instanceof Promise ? await finishing : finishing;
    if (!checked.ok) return failed(checked.failure, options);
    rememberCaller(checked.value, options);
    return checked.value;
  };
  return untilAborted(run, options.abortSignal);
}

/** As {@link executeDefinition}, for tools that yield preliminary results: every one of them is validated and passed on. */
export async function* streamDefinition(
  definition: ToolDefinition,
  input: unknown,
  options: ToolCallOptions,
  done: DoneBefore = nothingDone,
): AsyncGenerator<unknown> {
  const context = createToolContext(definition.id, options);
  const { abortSignal } = context;
  abortSignal?.throwIfAborted();
  const ready = await untilAborted(async () => prepareCall(definition, input, options, context, done), abortSignal);
  if (!ready.ok) {
    yield failed(ready.failure, options);
    return;
  }
  const results = (definition.run(ready.value, context, options) as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  let last: Step | undefined;
  let isFinished = false;
  try {
    while (!isFinished) {
      const step = await untilAborted(() => results.next(), abortSignal);
      isFinished = step.done === true;
      // A generator that yielded nothing has the result `undefined`.
      if (isFinished && last) break;
      last = await checkOutput(definition, isFinished ? undefined : step.value);
      if (last.ok) rememberCaller(last.value, options);
      yield last.ok ? last.value : failed(last.failure, options);
    }
  } finally {
    // Not awaited: a tool that ignores its signal must not hold up the caller.
    if (!isFinished) void Promise.resolve(results.return?.()).catch(() => {});
  }
  if (!last?.ok) return;
  const { value } = last;
  await untilAborted(() => announceOutput(definition, value, context), abortSignal);
}

function failed(failure: ToolFailure, options: ToolCallOptions): ToolFailure {
  if (options.onFailure !== 'throw') return failure;
  throw new QuiverError('TOOL_VALIDATION_FAILED', failure.message, {
    details: { validationErrors: failure.validationErrors },
  });
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

async function lastOf(results: AsyncIterable<unknown>, signal: AbortSignal | undefined): Promise<unknown> {
  let last: unknown;
  for await (const value of results) {
    last = value;
    if (signal?.aborted) break;
  }
  return last;
}

/** Outcome of a stage of a call: the value for the next stage, or the failure that ends the call. */
type Step = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly failure: ToolFailure };

/** Runs the stages before `execute`. Returns a promise only when a stage is asynchronous. */
function prepareCall(
  definition: ToolDefinition,
  input: unknown,
  options: ToolCallOptions,
  context: ToolContext,
  done: DoneBefore,
): Step | Promise<Step> {
  const { inputSchema, requestContextSchema, requireApproval, onInputAvailable } = definition;
  const validated: ValidationResult<unknown> | Promise<ValidationResult<unknown>> =
    inputSchema && !done.inputIsValid ? validateInput(inputSchema, input) : { ok: true, value: input };
  if (validated instanceof Promise || requestContextSchema || requireApproval || onInputAvailable)
    return prepareSlowly();
  return validated.ok ? validated : { ok: false, failure: inputFailure(definition, validated.issues, input) };

  async function prepareSlowly(): Promise<Step> {
    const result = await validated;
    if (!result.ok) return { ok: false, failure: inputFailure(definition, result.issues, input) };
    if (requestContextSchema) {
      const values = context.requestContext.toJSON();
      const checked = await validate(requestContextSchema, values);
      if (!checked.ok) {
        const what = `Tool request context validation failed for ${definition.id}. The caller must provide:`;
        const { issues } = checked;
        // The keys only: the values belong to the caller, and the failure goes to a model.
        const value = Object.fromEntries(Object.entries(values).map(([key, held]) => [key, `(${typeof held})`]));
        return { ok: false, failure: createToolFailure({ what, issues, label: 'Provided context', value }) };
      }
    }
    if (requireApproval) await checkApproval(definition, result.value, options, context);
    if (onInputAvailable && !done.inputWasAnnounced) {
      const { toolCallId, abortSignal, agent } = context;
      const messages = agent?.messages ?? [];
      const event = { input: result.value, toolCallId, abortSignal, messages };
      await runHook(definition.id, 'onInputAvailable', onInputAvailable, event);
    }
    return result;
  }
}

function inputFailure({ id }: ToolDefinition, issues: readonly SchemaIssue[], input: unknown): ToolFailure {
  const what = `Tool input validation failed for ${id}. Please fix the following errors and try again:`;
  return createToolFailure({ what, issues, label: 'Provided arguments', value: input });
}

/**
 * AI SDK 5 does not know approvals and would simply run the tool, so its calls are refused. It passes the same options as
 * version 6, whose approved calls carry the answer in the conversation. Calls by hand, through MCP or from version 7, which
 * settles approval itself, are their caller's decision.
 */
async function checkApproval(
  { id, requireApproval }: ToolDefinition,
  input: unknown,
  options: ToolCallOptions,
  context: ToolContext,
): Promise<void> {
  if (!('experimental_context' in options) || findApprovedCall(options.messages ?? [], context.toolCallId)) return;
  const isNeeded = typeof requireApproval === 'function' ? await requireApproval(input, context) : requireApproval;
  if (!isNeeded) return;
  throw new QuiverError(
    'TOOL_APPROVAL_MISSING',
    `The tool '${id}' requires approval, which AI SDK 5 cannot ask for. Use AI SDK 6 or newer, or remove requireApproval.`,
  );
}

/** Runs the stages after `execute`. Returns a promise only when a stage is asynchronous. */
function finishCall(
  definition: ToolDefinition,
  output: unknown,
  context: ToolContext,
  { acceptOutput }: ToolCallOptions = {},
): Step | Promise<Step> {
  const checking = checkOutput(definition, output, acceptOutput);
  return definition.onOutput ? finishSlowly() : checking;

  async function finishSlowly(): Promise<Step> {
    const checked = await checking;
    if (checked.ok) await announceOutput(definition, checked.value, context);
    return checked;
  }
}

async function announceOutput(definition: ToolDefinition, output: unknown, context: ToolContext): Promise<void> {
  const { toolCallId, abortSignal, toolName } = context;
  await runHook(definition.id, 'onOutput', definition.onOutput, { output, toolCallId, abortSignal, toolName });
}

/** Validates an output or a preliminary output. */
function checkOutput(
  definition: ToolDefinition,
  output: unknown,
  acceptOutput?: ToolCallOptions['acceptOutput'],
): Step | Promise<Step> {
  if (!definition.outputSchema) return { ok: true, value: output };
  const validated = validate(definition.outputSchema, output);
  if (validated instanceof Promise) return validated.then((result) => toStep(definition, output, result, acceptOutput));
  return toStep(definition, output, validated, acceptOutput);
}

function toStep(
  { id }: ToolDefinition,
  output: unknown,
  result: ValidationResult<unknown>,
  acceptOutput: ToolCallOptions['acceptOutput'],
): Step {
  if (result.ok) return result;
  if (acceptOutput?.(output)) return { ok: true, value: output };
  const what = `Tool output validation failed for ${id}. The tool returned invalid output:`;
  return {
    ok: false,
    failure: createToolFailure({ what, issues: result.issues, label: 'Returned output', value: output }),
  };
}
