import { validate, type Schema, type ValidationResult } from '../schema/index.js';
import { repairInput } from './repair-input.js';
import { createToolContext, type ToolCallOptions, type ToolContext } from './tool-context.js';
import { definitionOf, type ToolDefinition } from './tool-definition.js';
import { createToolFailure, type ToolFailure } from './tool-failure.js';
import { runHook } from './tool-hooks.js';
import type { ToolLike } from './tool.js';

/**
 * The one path of every tool call, whoever makes it: validate the input, `onInputAvailable`, run, validate the output,
 * `onOutput`.
 *
 * @returns the validated output, or a `ToolFailure` when input, output or request context does not fit its schema. A tool that
 *   yields preliminary results returns its last one.
 * @throws whatever the tool throws, and the reason of `abortSignal` as soon as it fires
 */
export async function executeTool(tool: ToolLike, input: unknown, options: ToolCallOptions = {}): Promise<unknown> {
  return executeDefinition(definitionOf(tool), input, options);
}

/** What a driver such as the AI SDK has already done for this call. */
export interface DoneBefore {
  inputIsValid?: boolean;
  inputWasAnnounced?: boolean;
}

export async function executeDefinition(
  definition: ToolDefinition,
  input: unknown,
  options: ToolCallOptions,
  done: DoneBefore = {},
): Promise<unknown> {
  const context = createToolContext(definition.id, options);
  const ready = await prepareCall(definition, input, context, done);
  if (!ready.ok) return ready.failure;
  const result = await untilAborted(lastOf(definition.run(ready.input, context)), context.abortSignal);
  return finishCall(definition, result, context);
}

/** As {@link executeDefinition}, for tools that yield preliminary results: every one of them is validated and passed on. */
export async function* streamDefinition(
  definition: ToolDefinition,
  input: unknown,
  options: ToolCallOptions,
  done: DoneBefore = {},
): AsyncGenerator<unknown> {
  const context = createToolContext(definition.id, options);
  const ready = await prepareCall(definition, input, context, done);
  if (!ready.ok) {
    yield ready.failure;
    return;
  }
  let pending: { value: unknown } | undefined;
  for await (const value of definition.run(ready.input, context) as AsyncIterable<unknown>) {
    context.abortSignal?.throwIfAborted();
    if (pending)
      yield await checkOutput(definition, pending.value).then((checked) =>
        checked.ok ? checked.value : checked.failure,
      );
    pending = { value };
  }
  yield await finishCall(definition, pending?.value, context);
}

type Prepared = { ok: true; input: unknown } | { ok: false; failure: ToolFailure };

async function prepareCall(
  definition: ToolDefinition,
  input: unknown,
  context: ToolContext,
  done: DoneBefore,
): Promise<Prepared> {
  context.abortSignal?.throwIfAborted();
  let value = input;
  if (!done.inputIsValid && definition.inputSchema) {
    const result = await validateInput(definition.inputSchema, input);
    if (!result.ok) {
      const what = `Tool input validation failed for ${definition.id}. Please fix the following errors and try again:`;
      return {
        ok: false,
        failure: createToolFailure({ what, issues: result.issues, label: 'Provided arguments', value: input }),
      };
    }
    value = result.value;
  }
  if (definition.requestContextSchema) {
    const values = context.requestContext.toJSON();
    const result = await validate(definition.requestContextSchema, values);
    if (!result.ok) {
      const what = `Tool request context validation failed for ${definition.id}. The caller must provide:`;
      return {
        ok: false,
        failure: createToolFailure({ what, issues: result.issues, label: 'Provided context', value: values }),
      };
    }
  }
  if (!done.inputWasAnnounced) await announceInput(definition, value, context);
  return { ok: true, input: value };
}

/** As given first; only if that fails, the usual mistakes of models are repaired. */
export async function validateInput(schema: Schema, input: unknown): Promise<ValidationResult<unknown>> {
  const first = await validate(schema, input);
  if (first.ok) return first;
  for (const candidate of repairInput(input, first.issues)) {
    const repaired = await validate(schema, candidate);
    if (repaired.ok) return repaired;
  }
  return first;
}

async function announceInput(definition: ToolDefinition, input: unknown, context: ToolContext): Promise<void> {
  if (!definition.onInputAvailable) return;
  const { toolCallId, abortSignal, agent } = context;
  await runHook(definition.id, 'onInputAvailable', definition.onInputAvailable, {
    input,
    toolCallId,
    abortSignal,
    messages: agent?.messages ?? [],
  });
}

async function finishCall(definition: ToolDefinition, output: unknown, context: ToolContext): Promise<unknown> {
  const checked = await checkOutput(definition, output);
  if (!checked.ok) return checked.failure;
  if (definition.onOutput) {
    const { toolCallId, abortSignal, toolName } = context;
    await runHook(definition.id, 'onOutput', definition.onOutput, {
      output: checked.value,
      toolCallId,
      abortSignal,
      toolName,
    });
  }
  return checked.value;
}

type Checked = { ok: true; value: unknown } | { ok: false; failure: ToolFailure };

async function checkOutput(definition: ToolDefinition, output: unknown): Promise<Checked> {
  if (!definition.outputSchema) return { ok: true, value: output };
  const result = await validate(definition.outputSchema, output);
  if (result.ok) return result;
  const what = `Tool output validation failed for ${definition.id}. The tool returned invalid output:`;
  return {
    ok: false,
    failure: createToolFailure({ what, issues: result.issues, label: 'Returned output', value: output }),
  };
}

/** A promise, a value, or the last value of an async iterable. */
async function lastOf(running: unknown): Promise<unknown> {
  const settled = await running;
  if (typeof settled !== 'object' || settled === null || !(Symbol.asyncIterator in settled)) return settled;
  let last: unknown;
  for await (const value of settled as AsyncIterable<unknown>) last = value;
  return last;
}

/** Stops waiting as soon as the signal fires; the tool has the same signal and stops on its own. */
function untilAborted<Value>(running: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (!signal) return running;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    running.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
    if (signal.aborted) onAbort();
  });
}
