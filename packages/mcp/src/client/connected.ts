import type { ChangeStream } from './change-stream.js';
import type { Deadline } from './deadline.js';
import type { DirectChannel } from './direct/direct-channel.js';
import type { OpenConnection } from './open-connection.js';
import type { ProgressUpdate } from './server-handlers.js';
import type { RawSchemas } from './transport-watch.js';

/** A connection with what belongs to it. */
export interface Connected extends OpenConnection {
  readonly schemas: RawSchemas;
  /** The way past the SDK. */
  readonly direct: DirectChannel | undefined;
  /** Only in the stateless revision. */
  readonly changes: ChangeStream | undefined;
  /** What was declared to the server. */
  readonly declared: string;
  readonly deadlines: Set<Deadline>;
  readonly progress: Map<string, (update: ProgressUpdate) => void>;
  /** Requests that wait for an answer. */
  active: number;
}
