import type { Root } from '../../protocol/client-types.js';
import type { ProgressUpdate } from '../engine/engine.js';
import type { ElicitationHandler } from '../features/elicitation.js';
import type { SamplingHandler } from '../features/sampling.js';

/** What a server can list. */
export type ListKind = 'tools' | 'resources' | 'prompts';

/** Handlers of the application for requests and notifications of a server: one each. They outlive connections. */
export interface ServerHandlers {
  elicitation?: ElicitationHandler;
  sampling?: SamplingHandler;
  roots?: Root[] | (() => Root[] | PromiseLike<Root[]>);
  onProgress?: (update: ProgressUpdate) => void;
  onResourceUpdated?: (params: { uri: string }) => void;
  readonly onListChanged: Partial<Record<ListKind, () => void>>;
}
