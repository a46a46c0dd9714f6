import { isRequestContext, RequestContext } from '../request-context/request-context.js';
import type { AnyRequestContext, ToolCallOptions } from './tool.js';

/**
 * The drivers of a tool: what calls it, how that is recognized, and what it has done before the call, so that a transform runs once and
 * each hook fires once.
 *
 * | driver | recognized by | done before the call |
 * | --- | --- | --- |
 * | AI SDK 5 | `experimental_context` in the options; a bare output in `toModelOutput` | input validated and announced |
 * | AI SDK 6 | as 5; an envelope in `toModelOutput`; an approved call in `messages` | as 5; after an approval, the input is that of the conversation |
 * | AI SDK 7 | `context` without `experimental_context` | as 6 |
 * | agents of Mastra | the id of a call whose input was announced: they copy the input | input announced |
 * | `executeTool`, MCP | none of these | nothing |
 *
 * @module
 */

/** Steps of a call that its driver, such as the AI SDK, has already done. */
export interface DoneBefore {
  readonly inputIsValid: boolean;
  readonly inputWasAnnounced: boolean;
}

export const nothingDone: DoneBefore = { inputIsValid: false, inputWasAnnounced: false };

/**
 * Returns the request context of a call, or the one inside the AI SDK context. A plain object in the AI SDK context becomes a request
 * context with its entries.
 */
export function requestContextOf(options: ToolCallOptions): AnyRequestContext {
  const given: unknown = options.requestContext ?? options.context ?? options.experimental_context;
  if (typeof given !== 'object' || given === null) return new RequestContext();
  if (isRequestContext(given)) return given;
  const { requestContext } = given as { requestContext?: unknown };
  return isRequestContext(requestContext) ? requestContext : new RequestContext(Object.entries(given));
}

/** Returns whether any version of the AI SDK makes a call: they always pass their own context. */
function isCallOfAiSdk(options: ToolCallOptions): boolean {
  return 'experimental_context' in options || 'context' in options;
}

/** Returns whether a version of the AI SDK before 7 makes a call. */
export function isCallBeforeAiSdk7(options: ToolCallOptions): boolean {
  return 'experimental_context' in options;
}

/** Returns whether AI SDK 7 makes a call. */
export function isCallOfAiSdk7(options: ToolCallOptions): boolean {
  return isCallOfAiSdk(options) && !isCallBeforeAiSdk7(options);
}

/** Outputs of calls of AI SDK 7. */
const outputsOfAiSdk7 = new WeakSet<object>();

/** Records that AI SDK 7 receives an output, for {@link readModelArgument}. Returns the output. */
export function recordOutputOfAiSdk7(output: unknown): unknown {
  if (typeof output === 'object' && output !== null) outputsOfAiSdk7.add(output);
  return output;
}

export type SdkMajor = 5 | 6 | 7;

/** Returns the output in the argument of `toModelOutput`, and the version that passes it: 7 uses other names for parts than 6. */
export function readModelArgument(argument: unknown): { output: unknown; major: SdkMajor } {
  const isEnvelope =
    typeof argument === 'object' &&
    argument !== null &&
    'toolCallId' in argument &&
    'input' in argument &&
    'output' in argument;
  if (!isEnvelope) return { output: argument, major: 5 };
  const { output } = argument;
  return { output, major: outputsOfAiSdk7.has(output as object) ? 7 : 6 };
}

/** Part of a message that calls a tool, requests its approval or approves it. */
interface Part {
  readonly type?: unknown;
  readonly toolCallId?: unknown;
  readonly input?: unknown;
  readonly approvalId?: unknown;
  readonly approved?: unknown;
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

/** Bound of the announced hooks: a call may wait for an approval indefinitely. The oldest entries are evicted. */
const maxAnnounced = 128;

/** Steps that drivers have done for the calls of one tool. */
export class DriverSteps {
  /** Inputs that the schema of the tool has produced for the AI SDK. */
  #validated: WeakSet<object> | undefined;
  /** Hooks that ran outside of `execute`, or inside of it, each with the id of its call. */
  #announced: Set<string> | undefined;

  recordValidated(input: unknown): void {
    if (typeof input === 'object' && input !== null) (this.#validated ??= new WeakSet()).add(input);
  }

  /** Records that a hook runs for a call. */
  announce(name: 'onInputAvailable' | 'onOutput', toolCallId: string): void {
    const announced = (this.#announced ??= new Set()).add(`${name} ${toolCallId}`);
    const [oldest = ''] = announced;
    if (announced.size > maxAnnounced) announced.delete(oldest);
  }

  /** Returns whether a hook of this call ran already, and removes the entry. */
  takeAnnounced(name: string, toolCallId: string | undefined): boolean {
    return this.#announced?.delete(`${name} ${toolCallId}`) === true;
  }

  /**
   * Returns the steps that are done for a call that begins. The AI SDK validates with the schema of the tool. After an approval it validates
   * the input of the conversation and compares it with the approved one, so that input is valid as well. Drivers that copy the input, such
   * as agents of Mastra, are recognized by the id of the call; their input is validated again.
   */
  doneBefore(input: unknown, options: ToolCallOptions): DoneBefore {
    const { messages, toolCallId = '' } = options;
    const inputWasAnnounced = this.takeAnnounced('onInputAvailable', toolCallId);
    if (this.#validated?.has(input as object)) return { inputIsValid: true, inputWasAnnounced };
    const approved = isCallOfAiSdk(options) ? findApprovedCall(messages, toolCallId) : undefined;
    if (approved) return { inputIsValid: approved.input === input, inputWasAnnounced: true };
    return { inputIsValid: false, inputWasAnnounced };
  }
}

/** Marks an `execute` that takes this path itself: of `createTool`, also of another copy of this package, or a wrapper around it. */
export const selfContained: unique symbol = Symbol.for('quiver.tool.execute') as never;

/**
 * Marks the `execute` of a tool; see `selfContained`.
 *
 * @param executeToLast - for an `execute` that yields preliminary results, the one that returns and validates the last result only
 */
export function markSelfContained(execute: object, executeToLast?: object): void {
  Object.defineProperty(execute, selfContained, { value: executeToLast ?? true });
}

/** Returns whether `createTool` made an `execute`, or a wrapper around one. */
export function isSelfContained(execute: object): boolean {
  return selfContained in execute;
}

/** Marks a wrapper around an `execute` of `createTool`, so that the input is validated once and each hook runs once. */
export function markWrapper(wrapper: object, execute: object): void {
  if (selfContained in execute) markSelfContained(wrapper);
}
