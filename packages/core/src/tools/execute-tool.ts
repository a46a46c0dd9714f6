import { QuiverError } from '../errors.js';
import { announceOutput, checkOutput, finishCall } from './finish-call.js';
import { rememberCaller } from './model-output.js';
import { prepareCall, type Step } from './prepare-call.js';
import { nothingDone, type DoneBefore } from './seen-calls.js';
import { createToolContext, type ToolCallOptions } from './tool-context.js';
import { definitionOf, type ToolDefinition } from './tool-definition.js';
import type { ToolFailure } from './tool-failure.js';
import type { ToolLike } from './tool.js';
import { untilAborted } from '../async.js';

/**
 * The one path of every tool call, whoever makes it: validate the input, `onInputAvailable`, run, validate the output,
 * `onOutput`.
 *
 * @returns the validated output, or a `ToolFailure` when input, output or request context does not fit its schema. A tool that
 *   yields preliminary results returns its last one.
 * @throws whatever the tool throws, and the reason of `abortSignal` as soon as it fires
 * @throws `TOOL_NOT_EXECUTABLE` when the tool has no `execute`
 * @throws `TOOL_VALIDATION_FAILED` instead of the `ToolFailure` when `onFailure` is `throw`
 */
export async function executeTool(tool: ToolLike, input: unknown, options: ToolCallOptions = {}): Promise<unknown> {
  return executeDefinition(definitionOf(tool), input, options);
}

export function executeDefinition(
  definition: ToolDefinition,
  input: unknown,
  options: ToolCallOptions,
  done: DoneBefore = nothingDone,
): Promise<unknown> {
  return untilAborted(() => runCall(definition, input, options, done), options.abortSignal);
}

async function runCall(
  definition: ToolDefinition,
  input: unknown,
  options: ToolCallOptions,
  done: DoneBefore,
): Promise<unknown> {
  const context = createToolContext(definition.id, options);
  context.abortSignal?.throwIfAborted();
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
