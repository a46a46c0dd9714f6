import type { RequestOptions } from '../../protocol/client-types.js';
import { createDeadline, maxDelay, type Deadline } from './deadline.js';
import type { ProgressUpdate } from './server-handlers.js';

export interface RequestClockOptions {
  /** Milliseconds; 0 for no limit. */
  readonly timeout: number;
  readonly resetTimeoutOnProgress?: boolean | undefined;
  readonly maxTotalTimeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Whether the server may ask this side something while the request runs. */
  readonly mayAsk: boolean;
  readonly progressToken?: string | undefined;
  readonly onProgress?: ((update: ProgressUpdate) => void) | undefined;
  /** Those of the connection that are running. */
  readonly deadlines: Set<Deadline>;
  /** Who hears of the progress of which request of the connection. */
  readonly progress: Map<string, (update: ProgressUpdate) => void>;
}

export interface RequestClock {
  /** What the SDK wants to know. */
  readonly options: RequestOptions;
  /** The token the request asks for progress under. */
  readonly token: string | undefined;
  readonly deadline: Deadline | undefined;
  stop(): void;
}

/** Watches the time of one request, and who hears of its progress. The SDK's own clock does where nothing can stop or restart it. */
export function startRequestClock(request: RequestClockOptions): RequestClock {
  const { timeout, maxTotalTimeout, signal, mayAsk, progressToken, onProgress, deadlines, progress } = request;
  const restarts = request.resetTimeoutOnProgress ?? false;
  const limit = timeout > 0 ? Math.min(timeout, maxDelay) : maxDelay;
  const isPlain = maxTotalTimeout === undefined && (timeout <= 0 || (!restarts && !mayAsk));
  const deadline = isPlain ? undefined : createDeadline({ timeout: limit, total: maxTotalTimeout, signal });
  if (deadline) deadlines.add(deadline);
  const token = progressToken === undefined ? undefined : freeToken(progressToken, progress);
  if (token !== undefined) {
    progress.set(token, (update) => {
      if (restarts) deadline?.restart();
      onProgress?.(update);
    });
  }
  const effectiveSignal = deadline?.signal ?? signal;
  return {
    deadline,
    token,
    options: { timeout: isPlain ? limit : maxDelay, ...(effectiveSignal && { signal: effectiveSignal }) },
    stop: () => {
      deadline?.clear();
      if (deadline) deadlines.delete(deadline);
      if (token !== undefined) progress.delete(token);
    },
  };
}

function freeToken(runId: string, used: ReadonlyMap<string, unknown>): string {
  if (!used.has(runId)) return runId;
  let number = 2;
  while (used.has(`${runId}#${number}`)) number += 1;
  return `${runId}#${number}`;
}
