import { QuiverError } from '../errors.js';
import { findApprovedCall, isCallBeforeAiSdk7 } from './driver.js';
import type { ErasedToolOptions, ToolCallOptions, ToolContext } from './tool.js';

/**
 * Requires the user's approval for a call of AI SDK 5, which does not support approvals and would run the tool. Version 6 passes the
 * same options; its approved calls carry the response in the conversation. Direct calls, calls through MCP and calls of version 7, which
 * handles approvals itself, are the responsibility of the caller.
 *
 * @throws `TOOL_APPROVAL_MISSING`
 */
export async function checkApproval(
  { id, requireApproval }: { id: string; requireApproval?: ErasedToolOptions['requireApproval'] | undefined },
  input: unknown,
  options: ToolCallOptions,
  context: ToolContext,
): Promise<void> {
  if (!isCallBeforeAiSdk7(options) || findApprovedCall(options.messages, context.toolCallId)) return;
  const isNeeded = typeof requireApproval === 'function' ? await requireApproval(input, context) : requireApproval;
  if (!isNeeded) return;
  throw new QuiverError(
    'TOOL_APPROVAL_MISSING',
    `The tool '${id}' requires approval, which AI SDK 5 cannot ask for. Use AI SDK 6 or newer, or remove requireApproval.`,
  );
}
