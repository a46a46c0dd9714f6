import { QuiverError } from '../errors.js';
import type { ErasedToolOptions, ToolCallOptions, ToolContext } from './tool.js';

/** Part of a message that calls a tool, requests its approval or approves it. */
interface Part {
  readonly type?: unknown;
  readonly toolCallId?: unknown;
  readonly input?: unknown;
  readonly approvalId?: unknown;
  readonly approved?: unknown;
}

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
  if (!('experimental_context' in options) || findApprovedCall(options.messages, context.toolCallId)) return;
  const isNeeded = typeof requireApproval === 'function' ? await requireApproval(input, context) : requireApproval;
  if (!isNeeded) return;
  throw new QuiverError(
    'TOOL_APPROVAL_MISSING',
    `The tool '${id}' requires approval, which AI SDK 5 cannot ask for. Use AI SDK 6 or newer, or remove requireApproval.`,
  );
}

/**
 * Finds a call of the conversation that the user has approved, in the form of AI SDK 6 and 7: a request in an assistant message, the
 * response in a tool message.
 */
export function findApprovedCall(messages: readonly unknown[] = [], toolCallId: string): Part | undefined {
  let call: Part = {};
  let approvalId: unknown;
  let isApproved: boolean | undefined;
  for (const part of messages.flatMap(partsOf)) {
    if (part.toolCallId === toolCallId && part.type === 'tool-call') call = part;
    if (part.toolCallId === toolCallId && part.type === 'tool-approval-request') {
      // An earlier response does not apply to a repeated request.
      ({ approvalId } = part);
      isApproved = undefined;
    }
    if (part.type === 'tool-approval-response' && approvalId !== undefined && part.approvalId === approvalId)
      isApproved ??= part.approved === true;
  }
  return isApproved ? call : undefined;
}

function partsOf(message: unknown): Part[] {
  const { content } = (message ?? {}) as { content?: unknown };
  return Array.isArray(content) ? content.filter((part) => typeof part === 'object' && part !== null) : [];
}
