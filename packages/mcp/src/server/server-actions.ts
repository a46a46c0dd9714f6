import { QuiverError } from '@quiver/core';
import { anyValue, checkOptions, type OptionChecks } from '@quiver/core/internal';
import type { ElicitOptions, ElicitRequest, ElicitResult, ElicitUrlRequest } from '@quiver/core/tools';
import { elicitChecks } from './tools/tool-context.js';
import { elicitationRequest } from './client/client-requests.js';
import type { LegacySession } from './client/legacy-session.js';
import type { ServerState } from './definition/server-state.js';
import type { ToolsInput } from './tools/tool-registry.js';

/** Changes the tools of a running server. */
export interface ToolActions {
  /** Adds tools, or replaces tools with the same names, and notifies clients. */
  add(tools: ToolsInput): Promise<void>;
  /** Removes tools by the names that clients see, and notifies clients. In-flight calls finish. */
  remove(names: readonly string[]): Promise<void>;
  /** Notifies clients that the list of tools changed. */
  notifyListChanged(): Promise<void>;
}

/** Notifications about resources. */
export interface ResourceActions {
  /** Notifies the subscribers of a resource that it changed. */
  notifyUpdated(resource: { uri: string }): Promise<void>;
  /** Notifies clients that the list of resources changed. */
  notifyListChanged(): Promise<void>;
}

/** Notifications about prompts. */
export interface PromptActions {
  /** Notifies clients that the list of prompts changed. */
  notifyListChanged(): Promise<void>;
}

/** Elicitation requests outside of a call. */
export interface ElicitationActions {
  /**
   * Sends an elicitation request to a connected client outside of a call. Only clients with a session can receive it; inside a tool use
   * `context.mcp.elicitation`, which reaches every client.
   *
   * @param options - `sessionId` selects the client; may be left out while one client is connected
   * @throws `ELICITATION_NO_CLIENT` when no such client is connected, or several are
   * @throws `ELICITATION_NOT_SUPPORTED`, `ELICITATION_TIMEOUT`, `ELICITATION_FAILED`, `ELICITATION_ANSWER_INVALID`,
   *   `ELICITATION_URL_INVALID`, `ELICITATION_SCHEMA_INVALID`
   */
  sendRequest(
    request: ElicitRequest | ElicitUrlRequest,
    options?: ElicitOptions & { sessionId?: string },
  ): Promise<ElicitResult>;
  /**
   * Notifies the client that the user is done with a page (`mode: 'url'`). Clients of the modern era receive no notification; they
   * call again without it.
   *
   * @throws `ELICITATION_NO_CLIENT`, `ELICITATION_FAILED`
   */
  notifyComplete(page: { elicitationId: string; sessionId?: string }): Promise<void>;
}

/** Members of `MCPServer` that notify clients, or send requests to them. */
interface ServerActions {
  readonly toolActions: ToolActions;
  readonly resources: ResourceActions;
  readonly prompts: PromptActions;
  readonly elicitation: ElicitationActions;
}

const requestChecks: OptionChecks<ElicitOptions & { sessionId?: string }> = { ...elicitChecks, sessionId: anyValue };

export function createServerActions({ tools, subscribers, sessions, features }: ServerState): ServerActions {
  const common = features.find((feature) => feature.sessions)?.sessions;
  const requireSession = async (sessionId: string | undefined): Promise<LegacySession> =>
    (sessionId !== undefined && (await common?.find(sessionId))) || chooseSession(sessions, sessionId);
  const notifyToolsChanged = (names?: readonly string[]): Promise<void> =>
    subscribers.publish({ kind: 'tools_list_changed', ...(names && tools.isFiltered && { names }) });
  return {
    toolActions: {
      add: (added) => {
        for (const [name, tool] of Object.entries(added)) tools.add(name, tool);
        return notifyToolsChanged(Object.keys(added));
      },
      remove: async (names) => {
        const removed = names.filter((name) => tools.remove(name));
        if (removed.length > 0) await notifyToolsChanged(removed);
      },
      notifyListChanged: () => notifyToolsChanged(),
    },
    resources: {
      notifyUpdated: ({ uri }) => subscribers.publish({ kind: 'resource_updated', uri }),
      notifyListChanged: () => subscribers.publish({ kind: 'resources_list_changed' }),
    },
    prompts: { notifyListChanged: () => subscribers.publish({ kind: 'prompts_list_changed' }) },
    elicitation: {
      sendRequest: async (request, options = {}) => {
        checkOptions('elicitation.sendRequest', options, requestChecks);
        const session = await requireSession(options.sessionId);
        const link = { send: (message: object) => session.send(JSON.stringify(message)) };
        return session.request(elicitationRequest(request), options, link);
      },
      notifyComplete: async ({ elicitationId, sessionId }) => {
        const method = 'notifications/elicitation/complete';
        const text = JSON.stringify({ jsonrpc: '2.0', method, params: { elicitationId } });
        if ((await requireSession(sessionId)).send(text)) return;
        throw new QuiverError('ELICITATION_FAILED', 'Cannot notify the client: it has no open event stream.');
      },
    },
  };
}

function chooseSession(sessions: ReadonlySet<LegacySession>, sessionId: string | undefined): LegacySession {
  const reachable = [...sessions].filter(
    ({ client, id }) => client.initialized && (sessionId === undefined || id === sessionId),
  );
  const [session] = reachable;
  if (session && reachable.length === 1) return session;
  const named = sessionId === undefined ? 'a session' : `the session '${sessionId}'`;
  const reason = session
    ? `${reachable.length} clients are connected. Pass the sessionId of one of them.`
    : `no client with ${named} is connected.`;
  throw new QuiverError('ELICITATION_NO_CLIENT', `Cannot send the elicitation request: ${reason}`);
}
