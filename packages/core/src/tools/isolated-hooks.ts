import type { SeenCalls } from './seen-calls.js';
import { isToolFailure } from './tool-failure.js';
import { runHook, type ToolHooks } from './tool-hooks.js';
import type { ErasedToolOptions } from './tool-options.js';

/** The hooks of a tool for those who drive it: a driver awaits them and gives up when one throws; these never throw. */
export function isolatedHooks(
  { id, onInputStart, onInputDelta, onInputAvailable, onOutput }: ErasedToolOptions,
  tool: { readonly seen: SeenCalls },
): ToolHooks<unknown, unknown> {
  return {
    ...(onInputStart && { onInputStart: (event) => runHook(id, 'onInputStart', onInputStart, event) }),
    ...(onInputDelta && { onInputDelta: (event) => runHook(id, 'onInputDelta', onInputDelta, event) }),
    ...(onInputAvailable && {
      onInputAvailable: (event) => {
        tool.seen.markAnnounced(event.input, event.toolCallId);
        return runHook(id, 'onInputAvailable', onInputAvailable, event);
      },
    }),
    ...(onOutput && {
      onOutput: (event) => {
        if (isToolFailure(event.output) || tool.seen.takeOutputAnnounced(event.toolCallId)) return undefined;
        return runHook(id, 'onOutput', onOutput, event);
      },
    }),
  };
}
