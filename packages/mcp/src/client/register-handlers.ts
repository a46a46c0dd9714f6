import { getDefaultLogger, toErrorMessage } from '@quiver/core';
import type { ProtocolClient } from '../protocol/client-types.js';
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
  const { serverName, handlers, log, progress, enableServerLogs, onListChanged } = registration;

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

  client.setNotificationHandler('notifications/progress', ({ params }) => {
    const { progress: done, total, message } = params;
    const progressToken = String(params.progressToken);
    const update: ProgressUpdate = {
      progressToken,
      progress: done,
      ...(total !== undefined && { total }),
      ...(message !== undefined && { message }),
    };
    isolated('progress', () => progress.get(progressToken)?.(update));
    isolated('progress', () => handlers.onProgress?.(update));
  });
  if (enableServerLogs) {
    client.setNotificationHandler('notifications/message', ({ params }) => {
      log(params.level, typeof params.data === 'string' ? params.data : JSON.stringify(params.data), params);
    });
  }
  client.setNotificationHandler('notifications/resources/updated', ({ params }) =>
    isolated('resource', () => handlers.onResourceUpdated?.({ uri: params.uri })),
  );
  for (const kind of ['tools', 'resources', 'prompts'] as const) {
    client.setNotificationHandler(`notifications/${kind}/list_changed`, () => {
      onListChanged(kind);
      isolated(kind, () => handlers.onListChanged[kind]?.());
    });
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

async function answering<Answer>({ deadlines }: HandlerRegistration, run: () => Promise<Answer>): Promise<Answer> {
  const paused = [...deadlines];
  for (const deadline of paused) deadline.pause();
  try {
    return await run();
  } finally {
    for (const deadline of paused) deadline.resume();
  }
}
