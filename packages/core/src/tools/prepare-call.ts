import { QuiverError } from '../errors.js';
import { validate, type SchemaIssue, type ValidationResult } from '../schema/index.js';
import { isApprovedIn } from './approval.js';
import type { DoneBefore } from './seen-calls.js';
import type { ToolCallOptions, ToolContext } from './tool-context.js';
import type { ToolDefinition } from './tool-definition.js';
import { createToolFailure, type ToolFailure } from './tool-failure.js';
import { runHook } from './tool-hooks.js';
import { validateInput } from './validate-input.js';

/** What a stage of a call yields: the value to go on with, or why the call ends here. */
export type Step =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly failure: ToolFailure };

/** Everything before `execute`. A promise only when there is something to wait for. */
export function prepareCall(
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
  if (!('experimental_context' in options) || isApprovedIn(options.messages ?? [], context.toolCallId)) return;
  const isNeeded = typeof requireApproval === 'function' ? await requireApproval(input, context) : requireApproval;
  if (!isNeeded) return;
  throw new QuiverError(
    'TOOL_APPROVAL_MISSING',
    `The tool '${id}' runs only after a person agreed, and nobody was asked. AI SDK 5 cannot ask: use AI SDK 6 or newer, or offer the tool without requireApproval.`,
  );
}
