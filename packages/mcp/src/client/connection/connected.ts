import type { ChangeStream } from './change-stream.js';
import type { Deadline } from './deadline.js';
import type { ProgressUpdate } from './server-handlers.js';
import type { ServerLink } from '../link/server-link.js';

/** A link with what belongs to it. */
export interface Connected {
  readonly link: ServerLink;
  /** Only in the stateless revision. */
  readonly changes: ChangeStream | undefined;
  /** What was declared to the server. */
  readonly declared: string;
  readonly deadlines: Set<Deadline>;
  readonly progress: Map<string, (update: ProgressUpdate) => void>;
  /** Requests that wait for an answer. */
  active: number;
}
