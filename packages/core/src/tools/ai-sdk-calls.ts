import { findApprovedCall } from './approval.js';
import type { ToolCallOptions } from './tool-context.js';
import { isToolFailure } from './tool-failure.js';
import { runHook, type ToolHooks } from './tool-hooks.js';
import type { ErasedToolOptions } from './tool-options.js';

/** Steps of a call that its driver, such as the AI SDK, has already done. */
export interface DoneBefore {
  readonly inputIsValid: boolean;
  readonly inputWasAnnounced: boolean;
}

export const nothingDone: DoneBefore = Object.freeze({ inputIsValid: false, inputWasAnnounced: false });

/** Bound of each set of calls that have begun: a call may wait for an approval indefinitely. The oldest entries are evicted. */
const maxPending = 64;

/**
 * The steps that the AI SDK has done for the calls of one tool, so that a transform runs once and each hook fires once.
 *
 * The AI SDK validates with the schema of the tool, which records its results here. After an approval it validates the input of the
 * conversation and compares it with the approved one, so the input of an approved call in the options of the AI SDK is valid as well.
 * Drivers that copy the input, such as agents of Mastra, are recognized by the id of the call; their input is validated again.
 */
export class AiSdkCalls {
  // Created on demand: most of many tools are never called.
  #validated: WeakSet<object> | undefined;
  #announcedInputs: Set<string> | undefined;
  #announcedOutputs: Set<string> | undefined;

  /** Records an input that the schema of the tool has produced. */
  recordValidated(input: unknown): void {
    if (typeof input === 'object' && input !== null) (this.#validated ??= new WeakSet()).add(input);
  }

  recordInputAnnounced(toolCallId: string): void {
    addPending((this.#announcedInputs ??= new Set()), toolCallId);
  }

  recordOutputAnnounced(toolCallId: string): void {
    addPending((this.#announcedOutputs ??= new Set()), toolCallId);
  }

  /** Whether the output of this call was announced; forgets the call. */
  takeOutputAnnounced(toolCallId: string): boolean {
    return this.#announcedOutputs?.delete(toolCallId) === true;
  }

  /** Returns the steps that are done for a call that begins. */
  begin(input: unknown, options: ToolCallOptions): DoneBefore {
    const { messages, toolCallId = '' } = options;
    const wasAnnounced = this.#announcedInputs?.delete(toolCallId) === true;
    if (typeof input === 'object' && input !== null && this.#validated?.has(input)) {
      return { inputIsValid: true, inputWasAnnounced: wasAnnounced };
    }
    const approved = messages && isAiSdkCall(options) ? findApprovedCall(messages, toolCallId) : undefined;
    if (approved) return { inputIsValid: approved.input === input, inputWasAnnounced: true };
    return wasAnnounced ? { inputIsValid: false, inputWasAnnounced: true } : nothingDone;
  }
}

/** The AI SDK always passes its own context: `experimental_context` in 5 and 6, `context` in 7. */
function isAiSdkCall(options: ToolCallOptions): boolean {
  return 'experimental_context' in options || 'context' in options;
}

function addPending(pending: Set<string>, toolCallId: string): void {
  pending.add(toolCallId);
  if (pending.size <= maxPending) return;
  const [oldest] = pending;
  pending.delete(oldest as string);
}

/** The hooks of a tool for its driver, which awaits them and ends the run when one throws; these never throw. */
export function isolateHooks(
  { id, onInputStart, onInputDelta, onInputAvailable, onOutput }: ErasedToolOptions,
  tool: { readonly calls: AiSdkCalls },
): ToolHooks<unknown, unknown> {
  return {
    ...(onInputStart && { onInputStart: (event) => runHook(id, 'onInputStart', onInputStart, event) }),
    ...(onInputDelta && { onInputDelta: (event) => runHook(id, 'onInputDelta', onInputDelta, event) }),
    ...(onInputAvailable && {
      onInputAvailable: (event) => {
        tool.calls.recordInputAnnounced(event.toolCallId);
        return runHook(id, 'onInputAvailable', onInputAvailable, event);
      },
    }),
    ...(onOutput && {
      onOutput: (event) => {
        if (isToolFailure(event.output) || tool.calls.takeOutputAnnounced(event.toolCallId)) return undefined;
        return runHook(id, 'onOutput', onOutput, event);
      },
    }),
  };
}
