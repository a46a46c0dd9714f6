import type { CallExtension } from './call-extension.js';
import type { Transport } from './lifecycle.js';

/**
 * What a feature adds to one server. `features.ts` is the table of all features, and each member has one user in `server/`: whatever is left out
 * there does not happen.
 */
export interface Feature {
  /** A transport that the server drains and ends. */
  readonly transport?: Transport;
  /** What it adds to calls of tools. */
  readonly call?: CallExtension;
  /** Called once, when the tools of the configuration are registered. */
  ready?(): void;
}
