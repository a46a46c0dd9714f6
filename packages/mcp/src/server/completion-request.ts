import type { CallbackContext } from './callback-context.js';

/** What a client wants completed. */
export interface CompletionRequest extends CallbackContext {
  /** What the user has typed so far. */
  value: string;
  /** Arguments or variables that have a value already. */
  resolved: Readonly<Record<string, string>>;
}
