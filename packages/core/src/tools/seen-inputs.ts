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
 * Remembers which inputs a driver has validated and announced, so that a transform runs once and `onInputAvailable` fires once.
 *
 * Inputs are recognised by identity, which nothing from outside can forge. After an approval the AI SDK validates once more but
 * hands over the input of the conversation: that one is recognised when it equals a validated input no call has claimed yet.
 */
export interface SeenInputs {
  markParsed(input: unknown): void;
  markAnnounced(input: unknown): void;
  recognise(input: unknown, options: ToolCallOptions): DoneBefore;
}

/** How many validated inputs may wait for their call: one that needs approval may never come. */
const maxUnclaimed = 64;

export function createSeenInputs(): SeenInputs {
  const parsed = new WeakSet<object>();
  const announced = new WeakSet<object>();
  const unclaimed = new Set<object>();

  const claimEqual = (input: object): boolean => {
    for (const candidate of unclaimed) {
      if (isDeepEqual(candidate, input)) return unclaimed.delete(candidate);
    }
    return false;
  };

  return {
    markParsed(input) {
      if (!isObject(input)) return;
      parsed.add(input);
      unclaimed.add(input);
      const [oldest] = unclaimed;
      if (oldest && unclaimed.size > maxUnclaimed) unclaimed.delete(oldest);
    },
    markAnnounced(input) {
      if (isObject(input)) announced.add(input);
    },
    recognise(input, { messages, toolCallId }) {
      if (!isObject(input)) return nothingDone;
      const inputWasAnnounced = announced.has(input);
      if (parsed.has(input)) {
        unclaimed.delete(input);
        return { inputIsValid: true, inputWasAnnounced };
      }
      if (!isApproved(messages, toolCallId)) return { inputIsValid: false, inputWasAnnounced };
      return { inputIsValid: claimEqual(input), inputWasAnnounced: true };
    },
  };
}

function isApproved(messages: readonly unknown[] | undefined, toolCallId: string | undefined): boolean {
  return messages !== undefined && toolCallId !== undefined && isApprovedIn(messages, toolCallId);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
