/**
 * Whether the conversation holds a person's agreement to this call, in the form that AI SDK 6 and 7 write it: a request in an
 * assistant message, the answer in a tool message.
 */
export function isApprovedIn(messages: readonly unknown[], toolCallId: string): boolean {
  let approvalId: unknown;
  // The last request counts: an earlier answer says nothing about a call that was asked for again.
  for (const part of partsOf(messages)) {
    if (part.type === 'tool-approval-request' && part.toolCallId === toolCallId) approvalId = part.approvalId;
  }
  if (approvalId === undefined) return false;
  for (const part of partsOf(messages)) {
    if (part.type === 'tool-approval-response' && part.approvalId === approvalId) return part.approved === true;
  }
  return false;
}

interface Part {
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
