import { fromPromptMeta, promptVersionKey, type Prompt, type PromptMessage } from '../../prompt.js';
import { askServers, logMissing, type Answers } from '../server/ask-servers.js';
import { withServer, type ClientServers } from '../server/client-servers.js';
import type { ListOptions } from './resources.js';
import type { ServerHandle } from '../server/server-handle.js';

export interface GetPromptOptions {
  serverName: string;
  name: string;
  /** Strings are sent unchanged, everything else as JSON: the protocol has string arguments only. */
  args?: Record<string, unknown>;
  /** Version of the prompt, where a server has several. */
  version?: string;
  signal?: AbortSignal;
}

/** Prompts of the servers, see {@link MCPClient.prompts}. */
export interface ClientPrompts {
  /** Returns the prompts by server. An unavailable server is logged and left out; a server without prompts has an empty list. */
  list(): Promise<Record<string, Prompt[]>>;
  /** As `list`, with the errors instead of a log line. */
  listWithErrors(options?: ListOptions): Promise<Answers<Prompt[]>>;
  /** @throws `MCP_CLIENT_GET_PROMPT_FAILED` */
  get(options: GetPromptOptions): Promise<{ prompt: Prompt; messages: PromptMessage[] }>;
  /** Sets the handler for `list_changed` notifications. @throws `MCP_CLIENT_ON_LIST_CHANGED_PROMPT_FAILED` */
  onListChanged(serverName: string, handler: () => void): Promise<void>;
}

export function createClientPrompts(servers: ClientServers): ClientPrompts {
  const listWithErrors = ({ perServerTimeoutMs }: ListOptions = {}): Promise<Answers<Prompt[]>> =>
    askServers<ServerHandle, Prompt[]>({
      servers: servers.values(),
      ask: async ({ prompts }) => {
        const { items, error } = await prompts.get();
        return { answer: items.map(withVersion), error };
      },
      perServerTimeoutMs,
    });
  return {
    listWithErrors,
    list: async () => {
      const { data, errors } = await listWithErrors();
      logMissing('Prompts', errors);
      return data;
    },
    get: ({ serverName, name, args, version, signal }) =>
      withServer(
        servers,
        'GET_PROMPT',
        serverName,
        async ({ connection, prompts }) => {
          const result = await connection.request(
            (engine, options) =>
              engine.request(
                'prompts/get',
                {
                  name,
                  ...(args && { arguments: toTexts(args) }),
                  ...(version !== undefined && { _meta: { [promptVersionKey]: version } }),
                },
                options,
              ),
            { signal, retries: 1 },
          );
          // The engine has checked the result.
          const { description, messages, _meta } = result as {
            description?: string;
            messages: PromptMessage[];
            _meta?: Record<string, unknown>;
          };
          const listed = prompts
            .peek()
            ?.map(withVersion)
            .find((prompt) => prompt.name === name && (version === undefined || prompt.version === version));
          const prompt: Prompt = {
            ...listed,
            name,
            ...(description !== undefined && { description }),
            ...fromPromptMeta(_meta),
            ...(version !== undefined && { version }),
          };
          return { prompt, messages };
        },
        signal,
      ),
    onListChanged: (serverName, handler) =>
      withServer(servers, 'ON_LIST_CHANGED_PROMPT', serverName, async ({ handlers, connection }) => {
        handlers.onListChanged.prompts = handler;
        await connection.handlersChanged();
      }),
  };
}

/** Restores the members that travel in `_meta`, because the protocol does not define them. */
function withVersion(prompt: Prompt): Prompt {
  return { ...prompt, ...fromPromptMeta(prompt._meta) };
}

function toTexts(args: Record<string, unknown>): Record<string, string> {
  const entries = Object.entries(args).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, typeof value === 'string' ? value : JSON.stringify(value)] as const],
  );
  return Object.fromEntries(entries);
}
