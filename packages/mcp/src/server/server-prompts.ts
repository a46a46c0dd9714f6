import type { Prompt, PromptMessage } from '../prompt.js';
import type { CallbackContext, MaybePromise } from './callback-context.js';
import type { CompletionRequest } from './completion-request.js';

/** What a server's prompts are made of. All callbacks are called per request: what one caller sees is never shown to another. */
export interface MCPServerPrompts {
  /** The prompts that clients can list. Several may share a name and differ by `version`. */
  listPrompts: (context: CallbackContext) => MaybePromise<Prompt[]>;
  /** The messages of one of them; required arguments are there. */
  getPromptMessages?: (
    request: {
      name: string;
      version?: string;
      // oxlint-disable-next-line typescript/no-explicit-any -- strings by name on the wire; the specification leaves the type open
      args?: any;
    } & CallbackContext,
  ) => MaybePromise<PromptMessage[] | { prompt?: Prompt; messages: PromptMessage[] }>;
  /** Suggests values for an argument of a prompt; at most 100 are sent. */
  completeArgument?: (request: CompletionRequest & { name: string; argument: string }) => MaybePromise<string[]>;
}
