/** Part of an assistant message that calls a tool. */
export interface ToolCallPart {
  readonly input?: unknown;
}

/**
 * Finds a call of the conversation that a person has approved, in the form of AI SDK 6 and 7: a request in an assistant message, the
 * response in a tool message.
 */
export function findApprovedCall(messages: readonly unknown[], toolCallId: string): ToolCallPart | undefined {
  let call: ToolCallPart | undefined;
  let approvalId: unknown;
  // The last request counts: an earlier response does not apply to a repeated request.
  for (const part of partsOf(messages)) {
    if (part.toolCallId !== toolCallId) continue;
    if (part.type === 'tool-call') call = part;
    if (part.type === 'tool-approval-request') approvalId = part.approvalId;
  }
  if (approvalId === undefined) return undefined;
  for (const part of partsOf(messages)) {
    if (part.type === 'tool-approval-response' && part.approvalId === approvalId)
      return part.approved === true ? (call ?? {}) : undefined;
  }
  return undefined;
}

interface Part extends ToolCallPart {
  type?: unknown;
  toolCallId?: unknown;
  approvalId?: unknown;
  approved?: unknown;
}

function* partsOf(messages: readonly unknown[]): Generator<Part> {
  for (const message of messages) {
    const content = (message as { content?: unknown } | null | undefined)?.content;
    if (!Array.isArray(content)) continue;
    for (const part of content as unknown[]) if (typeof part === 'object' && part !== null) yield part;
  }
}
