import { validate, type ValidationResult } from '../schema/index.js';
import type { Step } from './prepare-call.js';
import type { ToolCallOptions, ToolContext } from './tool-context.js';
import type { ToolDefinition } from './tool-definition.js';
import { createToolFailure } from './tool-failure.js';
import { runHook } from './tool-hooks.js';

/** Everything after `execute`. A promise only when there is something to wait for. */
export function finishCall(
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

export async function announceOutput(definition: ToolDefinition, output: unknown, context: ToolContext): Promise<void> {
  const { toolCallId, abortSignal, toolName } = context;
  await runHook(definition.id, 'onOutput', definition.onOutput, { output, toolCallId, abortSignal, toolName });
}

/** Checks an output, preliminary ones included. */
export function checkOutput(
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
