import { isApprovedIn } from './approval.js';
import { isDeepEqual } from './is-deep-equal.js';
import type { ToolCallOptions } from './tool-context.js';

/** What a driver such as the AI SDK has already done for a call. */
export interface DoneBefore {
  readonly inputIsValid: boolean;
  readonly inputWasAnnounced: boolean;
}

export const nothingDone: DoneBefore = Object.freeze({ inputIsValid: false, inputWasAnnounced: false });

/**
 * Remembers what has happened to the calls of one tool, so that a transform runs once and each hook fires once, whoever drives
 * the call.
 *
 * A validated input is recognised by identity, which nothing from outside can forge. After an approval the AI SDK validates
 * once more but hands over the input of the conversation: that one is recognised when it equals a validated input that no call
 * has claimed yet. Announcements are also known by the id of the call, for drivers that copy the input.
 */
export interface SeenCalls {
  markParsed(input: unknown): void;
  markAnnounced(input: unknown, toolCallId: string): void;
  /** Tells, for a call that begins, what its driver has done. */
  begin(input: unknown, options: ToolCallOptions): DoneBefore;
  markOutputAnnounced(toolCallId: string): void;
  /** Whether the output of this call was announced, and its driver need not do it again. */
  takeOutputAnnounced(toolCallId: string): boolean;
}

/** How much is remembered of calls that have begun and may never go on: one may wait for an approval for ever. */
const maxPending = 64;

export function createSeenCalls(): SeenCalls {
  // Made when they are needed: most of many tools are never called.
  let parsed: WeakSet<object> | undefined;
  let unclaimed: Set<object> | undefined;
  let announcedInputs: WeakSet<object> | undefined;
  let announcedCalls: Set<string> | undefined;
  let announcedOutputs: Set<string> | undefined;

  const claimEqual = (input: object): boolean => {
    for (const candidate of unclaimed ?? []) {
      if (isDeepEqual(candidate, input)) return unclaimed?.delete(candidate) === true;
    }
    return false;
  };

  return {
    markParsed(input) {
      if (!isObject(input)) return;
      (parsed ??= new WeakSet()).add(input);
      addPending((unclaimed ??= new Set()), input);
    },
    markAnnounced(input, toolCallId) {
      if (isObject(input)) (announcedInputs ??= new WeakSet()).add(input);
      addPending((announcedCalls ??= new Set()), toolCallId);
    },
    begin(input, { messages, toolCallId }) {
      const isKnownCall = toolCallId !== undefined && announcedCalls?.delete(toolCallId) === true;
      const inputWasAnnounced = isKnownCall || (isObject(input) && announcedInputs?.has(input) === true);
      if (isObject(input) && parsed?.has(input)) {
        unclaimed?.delete(input);
        return { inputIsValid: true, inputWasAnnounced };
      }
      if (!isApproved(messages, toolCallId)) return { inputIsValid: false, inputWasAnnounced };
      return { inputIsValid: isObject(input) && claimEqual(input), inputWasAnnounced: true };
    },
    markOutputAnnounced(toolCallId) {
      addPending((announcedOutputs ??= new Set()), toolCallId);
    },
    takeOutputAnnounced(toolCallId) {
      return announcedOutputs?.delete(toolCallId) === true;
    },
  };
}

function addPending<Item>(pending: Set<Item>, item: Item): void {
  pending.add(item);
  if (pending.size <= maxPending) return;
  const [oldest] = pending;
  pending.delete(oldest as Item);
}

function isApproved(messages: readonly unknown[] | undefined, toolCallId: string | undefined): boolean {
  return messages !== undefined && toolCallId !== undefined && isApprovedIn(messages, toolCallId);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
