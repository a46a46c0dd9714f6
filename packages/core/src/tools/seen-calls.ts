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
  return new Memory();
}

/** Methods that all tools share, and sets that are made when they are needed: most of many tools are never called. */
class Memory implements SeenCalls {
  #parsed: WeakSet<object> | undefined;
  #unclaimed: Set<object> | undefined;
  #announcedInputs: WeakSet<object> | undefined;
  #announcedCalls: Set<string> | undefined;
  #announcedOutputs: Set<string> | undefined;

  markParsed(input: unknown): void {
    if (!isObject(input)) return;
    (this.#parsed ??= new WeakSet()).add(input);
    addPending((this.#unclaimed ??= new Set()), input);
  }

  markAnnounced(input: unknown, toolCallId: string): void {
    if (isObject(input)) (this.#announcedInputs ??= new WeakSet()).add(input);
    addPending((this.#announcedCalls ??= new Set()), toolCallId);
  }

  begin(input: unknown, { messages, toolCallId }: ToolCallOptions): DoneBefore {
    const isKnownCall = toolCallId !== undefined && this.#announcedCalls?.delete(toolCallId) === true;
    const inputWasAnnounced = isKnownCall || (isObject(input) && this.#announcedInputs?.has(input) === true);
    if (isObject(input) && this.#parsed?.has(input)) {
      this.#unclaimed?.delete(input);
      return { inputIsValid: true, inputWasAnnounced };
    }
    if (!isApproved(messages, toolCallId)) return { inputIsValid: false, inputWasAnnounced };
    return { inputIsValid: isObject(input) && this.#claimEqual(input), inputWasAnnounced: true };
  }

  markOutputAnnounced(toolCallId: string): void {
    addPending((this.#announcedOutputs ??= new Set()), toolCallId);
  }

  takeOutputAnnounced(toolCallId: string): boolean {
    return this.#announcedOutputs?.delete(toolCallId) === true;
  }

  #claimEqual(input: object): boolean {
    for (const candidate of this.#unclaimed ?? []) {
      if (isDeepEqual(candidate, input)) return this.#unclaimed?.delete(candidate) === true;
    }
    return false;
  }
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
