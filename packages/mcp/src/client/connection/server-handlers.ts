import type { Root } from '../../protocol/client-types.js';
import type { ElicitationHandler } from './elicitation.js';
import type { SamplingHandler } from './sampling.js';

/** A report on how far a call is. */
export interface ProgressUpdate {
  progressToken: string;
  progress: number;
  total?: number;
  message?: string;
}

/** What a server can list. */
export type ListKind = 'tools' | 'resources' | 'prompts';

/** What the application does when a server asks or tells it something. Outlives connections; one handler each. */
export interface ServerHandlers {
  elicitation?: ElicitationHandler;
  sampling?: SamplingHandler;
  roots?: Root[] | (() => Root[] | PromiseLike<Root[]>);
  onProgress?: (update: ProgressUpdate) => void;
  onResourceUpdated?: (params: { uri: string }) => void;
  readonly onListChanged: Partial<Record<ListKind, () => void>>;
}
