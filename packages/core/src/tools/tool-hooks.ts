import { toErrorMessage } from '../errors.js';
import { getDefaultLogger } from '../logger.js';

/** Members of every hook event. */
export interface ToolHookEvent {
  toolCallId: string;
  abortSignal?: AbortSignal | undefined;
}

/** Argument of `onInputStart`. */
export interface ToolInputStartEvent extends ToolHookEvent {
  /** The conversation at the time of the call; empty when there is none. */
  messages: readonly unknown[];
}

/** Argument of `onInputDelta`. */
export interface ToolInputDeltaEvent extends ToolInputStartEvent {
  /** The next piece of the input's text. */
  inputTextDelta: string;
}

/** Argument of `onInputAvailable`. */
export interface ToolInputAvailableEvent<Input> extends ToolInputStartEvent {
  /** The input after validation. */
  input: Input;
}

/** Argument of `onOutput`. */
export interface ToolOutputEvent<Output> extends ToolHookEvent {
  /** The output after validation. */
  output: Output;
  toolName: string;
}

/**
 * Moments in the life of a tool call. Calls await the hooks, log their errors and ignore their
 * results.
 */
export interface ToolHooks<Input, Output, Returned = void | PromiseLike<void>> {
  /** A model begins to write the input. Only in streaming calls. */
  onInputStart?: (event: ToolInputStartEvent) => Returned;
  /** The next piece of the input has arrived. Only in streaming calls. */
  onInputDelta?: (event: ToolInputDeltaEvent) => Returned;
  /** The input is complete and valid; `execute` runs next. */
  onInputAvailable?: (event: ToolInputAvailableEvent<Input>) => Returned;
  /** `execute` has succeeded and its output is valid. Not called after an error. */
  onOutput?: (event: ToolOutputEvent<Output>) => Returned;
}

/** Runs one hook so that it cannot break the call. */
export async function runHook<Event>(
  toolId: string,
  name: keyof ToolHooks<unknown, unknown>,
  hook: ((event: Event) => unknown) | undefined,
  event: Event,
): Promise<void> {
  if (!hook) return;
  try {
    await hook(event);
  } catch (error) {
    getDefaultLogger().error(
      `Hook ${name} of tool '${toolId}' failed and was ignored: ${toErrorMessage(error)}`,
      error,
    );
  }
}
