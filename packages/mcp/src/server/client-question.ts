import type { ElicitOptions } from '@quiver/core/tools';
import type { RequiredCapabilities } from './client-capabilities.js';

/**
 * Something that only the client can answer: a form, a page to visit, a completion by its model, its roots. How it reaches the
 * client is a matter of the era.
 */
export interface ClientQuestion<Answer> {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  readonly params?: object;
  /** Members that only clients of revisions with a handshake get. */
  readonly legacyParams?: object;
  readonly requires: RequiredCapabilities;
  /** The beginning of error codes: `ELICITATION` in `ELICITATION_NOT_SUPPORTED`. */
  readonly subject: 'ELICITATION' | 'SAMPLING' | 'ROOTS';
  /** What the tool asked for, in words. */
  readonly what: string;
  /** Takes an answer that says what it must; `undefined` stands for everything else. */
  readonly parse: (answer: unknown) => Answer | undefined | Promise<Answer | undefined>;
}

/** How a question reaches the client; each era has its own way. */
export type AskClient = <Answer>(question: ClientQuestion<Answer>, options: ElicitOptions) => Promise<Answer>;
