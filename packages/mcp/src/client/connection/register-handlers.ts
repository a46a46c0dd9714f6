import { getDefaultLogger, toErrorMessage } from '@quiver/core';
import type { ProtocolClient } from '../../protocol/client-types.js';
import type { LoggingLevel } from '../../protocol/constants.js';
import type { JsonRpcNotification, Params } from '../../protocol/json-rpc.js';
import type { Deadline } from './deadline.js';
import { answerElicitation } from './elicitation.js';
import type { ServerLog } from './log-message.js';
import type { ListKind, ProgressUpdate, ServerHandlers } from './server-handlers.js';

export interface HandlerRegistration {
  readonly serverName: string;
  readonly handlers: ServerHandlers;
  readonly log: ServerLog;
  /** They stand still while the application answers the server. */
  readonly deadlines: ReadonlySet<Deadline>;
  /** Who hears of the progress of which request. */
  readonly progress: ReadonlyMap<string, (update: ProgressUpdate) => void>;
  readonly enableServerLogs: boolean;
  readonly onListChanged: (kind: ListKind) => void;
}

/**
 * Connects a client of the SDK with the application's handlers. In the stateless revision the SDK puts the questions that come as
 * results to the same handlers.
 */
export function registerHandlers(client: ProtocolClient, registration: HandlerRegistration): void {
  const { serverName, handlers } = registration;

  if (handlers.elicitation) {
    client.setRequestHandler('elicitation/create', ({ params }) =>
      answering(registration, async () => {
        const { elicitation } = handlers;
        // Handlers are replaced, never removed.
        const answer = await answerElicitation(serverName, params, elicitation as NonNullable<typeof elicitation>);
        return { ...answer };
      }),
    );
  }
  if (handlers.sampling) {
    client.setRequestHandler('sampling/createMessage', ({ params }, { mcpReq }) =>
      answering(registration, async () => {
        const { sampling } = handlers;
        return (sampling as NonNullable<typeof sampling>)(
          { ...params, serverName },
          { signal: mcpReq.signal },
        ) as never;
      }),
    );
  }
  if (handlers.roots) {
    client.setRequestHandler('roots/list', async () => {
      const { roots = [] } = handlers;
      return { roots: typeof roots === 'function' ? await roots() : roots };
    });
  }

  for (const method of notificationMethods) {
    // Their handlers read what they need of the parameters, which the SDK has checked.
    client.setNotificationHandler(method, ({ params }: { params?: unknown }) =>
      handleNotification(registration, { jsonrpc: '2.0', method, params: params as Params }),
    );
  }
}

const listKinds = ['tools', 'resources', 'prompts'] as const;
const notificationMethods = [
  'notifications/progress',
  'notifications/message',
  'notifications/resources/updated',
  'notifications/tools/list_changed',
  'notifications/resources/list_changed',
  'notifications/prompts/list_changed',
] as const;

/** Does what there is to do when a server tells something by itself. The shape of the notification was checked. */
export function handleNotification(
  { serverName, handlers, log, progress, enableServerLogs, onListChanged }: HandlerRegistration,
  { method, params = {} }: JsonRpcNotification,
): void {
  if (method === 'notifications/progress') {
    const update = toProgressUpdate(params);
    isolated('progress', () => progress.get(update.progressToken)?.(update));
    isolated('progress', () => handlers.onProgress?.(update));
  } else if (method === 'notifications/message') {
    if (!enableServerLogs) return;
    const { level, data } = params as { level: LoggingLevel; data: unknown };
    log(level, typeof data === 'string' ? data : JSON.stringify(data), params);
  } else if (method === 'notifications/resources/updated') {
    isolated('resource', () => handlers.onResourceUpdated?.({ uri: params['uri'] as string }));
  } else {
    const kind = listKinds.find((candidate) => method === `notifications/${candidate}/list_changed`);
    if (!kind) return;
    onListChanged(kind);
    isolated(kind, () => handlers.onListChanged[kind]?.());
  }

  /** A handler that throws must not look like a fault of the server. */
  function isolated(what: string, run: () => unknown): void {
    const report = (error: unknown): void =>
      getDefaultLogger().error(
        `The ${what} handler for MCP server '${serverName}' threw: ${toErrorMessage(error)}`,
        error,
      );
    try {
      const result = run();
      if (result instanceof Promise) result.catch(report);
    } catch (error) {
      report(error);
    }
  }
}

function toProgressUpdate(params: Params): ProgressUpdate {
  const { progressToken, progress, total, message } = params as unknown as ProgressUpdate;
  return {
    progressToken: String(progressToken),
    progress,
    ...(total !== undefined && { total }),
    ...(message !== undefined && { message }),
  };
}

async function answering<Answer>({ deadlines }: HandlerRegistration, run: () => Promise<Answer>): Promise<Answer> {
  const paused = [...deadlines];
  for (const deadline of paused) deadline.pause();
  try {
    return await run();
  } finally {
    for (const deadline of paused) deadline.resume();
  }
}
