import { QuiverError } from '@quiver/core';
import type { RequestOptions } from '../../protocol/client-types.js';
import type { Connected } from './connected.js';
import type { ServerLog } from './log-message.js';
import { startRequestClock } from './request-clock.js';
import { explainRequestError, isForgottenSession, timeoutMessage } from '../link/request-error.js';
import { runWithContext, type RequestContextLike } from '../link/request-scope.js';
import type { ProgressUpdate } from './server-handlers.js';

export interface RequestSettings {
  readonly signal?: AbortSignal | undefined;
  /** Default: the connection's. */
  readonly timeout?: number | undefined;
  readonly resetTimeoutOnProgress?: boolean | undefined;
  readonly maxTotalTimeout?: number | undefined;
  readonly requestContext?: RequestContextLike | undefined;
  /** Asks for reports under this token; the calls of one run get numbers after the first, since tokens must differ. */
  readonly progressToken?: string | undefined;
  readonly onProgress?: ((update: ProgressUpdate) => void) | undefined;
  /** How often the request may be sent again when the connection was lost. Default 0. */
  readonly retries?: number | undefined;
}

/** Sends one request over a connection. Receives what the SDK wants to know of the request. */
export type SendOver<Result> = (
  connected: Connected,
  options: RequestOptions,
  progressToken: string | undefined,
) => Promise<Result>;

/** Where requests get their connection from. */
export interface ConnectionSource {
  readonly serverName: string;
  readonly log: ServerLog;
  /** Milliseconds one request may take; 0 for no limit. */
  readonly timeout: number;
  readonly resetTimeoutOnProgress: boolean | undefined;
  /** Whether the server may ask this side something while a request runs. */
  readonly mayAsk: boolean;
  /** Whether anybody wants to know for whom a request is made; carrying that along costs a little on every call. */
  readonly tellsContext: boolean;
  readonly connect: () => Promise<Connected>;
  /** The server does not know this connection any more. */
  readonly forget: (connected: Connected) => void;
  /** A request over this connection ended. */
  readonly release: (connected: Connected) => void;
}

/**
 * Sends one request, over the connection there is or a new one. It is never sent twice unless the caller allows it, or the server
 * refused it unread because it had forgotten the session.
 *
 * @throws as `ServerConnection.request`
 */
export async function sendRequest<Result>(
  source: ConnectionSource,
  run: SendOver<Result>,
  settings: RequestSettings = {},
): Promise<Result> {
  const { signal, requestContext, retries = 0 } = settings;
  const { serverName, tellsContext } = source;
  const timeout = settings.timeout ?? source.timeout;
  let left = retries;
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    const connected = await untilAborted(source.connect(), signal);
    const clock = startRequestClock({
      ...settings,
      timeout,
      resetTimeoutOnProgress: settings.resetTimeoutOnProgress ?? source.resetTimeoutOnProgress,
      mayAsk: source.mayAsk,
      deadlines: connected.deadlines,
      progress: connected.progress,
    });
    connected.active += 1;
    try {
      const send = (): Promise<Result> => run(connected, clock.options, clock.token);
      return await (tellsContext ? runWithContext(requestContext, send) : send());
    } catch (error) {
      signal?.throwIfAborted();
      if (clock.deadline?.expired) {
        const message = timeoutMessage(serverName, timeout);
        throw new QuiverError('MCP_REQUEST_TIMEOUT', message, { cause: error, details: { server: serverName } });
      }
      const { sessionId, process } = connected.link;
      if (attempt === 1 && sessionId !== undefined && isForgottenSession(error)) {
        source.forget(connected);
        continue;
      }
      const explained = await explainRequestError({ serverName, error, process, timeout });
      if (explained.code !== 'MCP_CONNECTION_CLOSED' || left <= 0) throw explained;
      left -= 1;
      source.log('info', `Sending a request again after the connection was lost.`, explained);
    } finally {
      clock.stop();
      connected.active -= 1;
      source.release(connected);
    }
  }
}

function untilAborted<Result>(running: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (!signal) return running;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    running.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
