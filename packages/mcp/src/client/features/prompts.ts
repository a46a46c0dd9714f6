import { checkOptions, type OptionChecks, unchecked } from '@quiver/core/internal';
import { defined } from '../../defined.js';
import { fromPromptMeta, promptVersionKey, type Prompt, type PromptMessage } from '../../prompt.js';
import {
  forCaller,
  interactiveChecks,
  withHandlers,
  type Caller,
  type InteractiveRequestOptions,
} from '../config/caller.js';
import type { Answers, ListOptions, SharedServers } from '../remote/shared-servers.js';

/** Options of `mcp.prompts.get()`. */
export interface GetPromptOptions extends InteractiveRequestOptions {
  serverName: string;
  name: string;
  /** Strings are sent unchanged, everything else as JSON: the protocol has string arguments only. */
  args?: Record<string, unknown>;
  /** Version of the prompt, where a server has several. */
  version?: string;
}

/** Prompts of the servers, see {@link MCPClient.prompts}. */
export interface ClientPrompts {
  /** Returns the prompts by server. An unavailable server is logged and left out; a server without prompts has an empty list. */
  list(options?: ListOptions): Promise<Record<string, Prompt[]>>;
  /** Returns the same as `list`, with the errors instead of a log line. */
  listWithErrors(options?: ListOptions): Promise<Answers<Prompt[]>>;
  /** @throws `MCP_CLIENT_GET_PROMPT_FAILED` */
  get(
    options: GetPromptOptions,
  ): Promise<{ prompt: Prompt; messages: PromptMessage[]; _meta?: Record<string, unknown> }>;
  /** Sets the handler for `list_changed` notifications. @throws `MCP_CLIENT_ON_LIST_CHANGED_PROMPT_FAILED` */
  onListChanged(serverName: string, handler: () => void): Promise<void>;
}

const getPromptChecks: OptionChecks<GetPromptOptions> = {
  ...interactiveChecks,
  ...unchecked<GetPromptOptions>()('serverName', 'name', 'args', 'version'),
};

export function createClientPrompts(servers: SharedServers, caller: Caller): ClientPrompts {
  return {
    listWithErrors: async (options = {}) => servers.list('prompts/list', forCaller(caller, options)),
    list: async (options = {}) => servers.listLogged('prompts/list', forCaller(caller, options)),
    get: async (given) => {
      checkOptions('mcp.prompts.get', given, getPromptChecks);
      const { serverName, name, args, version, ...options } = withHandlers(caller, given);
      const _meta = version === undefined ? undefined : { [promptVersionKey]: version };
      const params = defined({ name, arguments: args ? toTexts(args) : undefined, _meta });
      return servers.run(
        'GET_PROMPT',
        serverName,
        async (server) => {
          // The engine has checked the result.
          const { description, messages, _meta } = (await server.read('prompts/get', params, options)) as {
            description?: string;
            messages: PromptMessage[];
            _meta?: Record<string, unknown>;
          };
          const listed = server
            .list('prompts/list')
            .peek(options)
            ?.find((prompt) => prompt.name === name && (version === undefined || prompt.version === version));
          const own = { ...defined({ description }), ...fromPromptMeta(_meta), ...defined({ version }) };
          return defined({ prompt: { ...listed, name, ...own }, messages, _meta });
        },
        options.signal,
      );
    },
    onListChanged: (serverName, handler) =>
      servers.run('ON_LIST_CHANGED_PROMPT', serverName, (server) => server.setListHandler('prompts', handler)),
  };
}

function toTexts(args: Record<string, unknown>): Record<string, string> {
  const entries = Object.entries(args).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, typeof value === 'string' ? value : JSON.stringify(value)] as const],
  );
  return Object.fromEntries(entries);
}
