import type { Prompt } from '../prompt.js';
import type { ProtocolTool, RequestOptions } from '../protocol/client-types.js';
import type { Resource, ResourceTemplate } from '../resource.js';
import { errorCodes } from '../protocol/constants.js';
import type { Connected } from './connection/connected.js';
import { requestDirectly } from './link/direct/direct-request.js';
import { toPlainToolList } from './link/direct/plain-result.js';
import { ListCache, type FetchedList, type ListCacheOptions } from './list-cache.js';
import { createServerLog, type ServerLog } from './connection/log-message.js';
import { toSamplingHandler } from './connection/sampling.js';
import { ServerConnection } from './connection/server-connection.js';
import { parseServerDefinition } from './definition/parse-server-definition.js';
import type { ServerDefinition, ServerOptions, ServerTarget } from './definition/server-definition.js';
import type { ListKind, ServerHandlers } from './connection/server-handlers.js';
import { compareDefinitions, type DefinitionChanges } from './tools/tool-fingerprint.js';
import { malformedToolsError } from './tools/tool-definitions.js';

/** One server of the client: its connection and what is known of it. */
export class ServerHandle {
  readonly name: string;
  readonly target: ServerTarget;
  readonly handlers: ServerHandlers;
  readonly connection: ServerConnection;
  readonly log: ServerLog;
  onDefinitionsChanged?: (changes: DefinitionChanges) => void;
  // Of most servers, only that of the tools is asked for.
  #tools: ListCache<ProtocolTool> | undefined;
  #resources: ListCache<Resource> | undefined;
  #templates: ListCache<ResourceTemplate> | undefined;
  #prompts: ListCache<Prompt> | undefined;

  /** @throws `SERVER_DEFINITION_INVALID` */
  constructor(name: string, definition: ServerDefinition, defaultTimeout: number) {
    this.name = name;
    this.target = parseServerDefinition(name, definition);
    const { logger, log: alsoLogger, roots, sampling, timeout = defaultTimeout } = this.options;
    this.handlers = {
      onListChanged: {},
      ...(roots && { roots }),
      ...(sampling && { sampling: toSamplingHandler(sampling) }),
    };
    this.log = createServerLog(name, logger ?? alsoLogger);
    this.connection = new ServerConnection({
      name,
      target: this.target,
      timeout,
      log: this.log,
      handlers: this.handlers,
      onListChanged: (kind) => this.#invalidate(kind),
      onLost: () => {
        for (const kind of ['tools', 'resources', 'prompts'] as const) this.#invalidate(kind);
      },
    });
  }

  get options(): ServerOptions {
    return this.target.definition;
  }

  get tools(): ListCache<ProtocolTool> {
    return (this.#tools ??= this.#listOf(toolList, (items, previous) => {
      const changes = previous && compareDefinitions(previous, items);
      if (changes) this.onDefinitionsChanged?.(changes);
    }));
  }

  get resources(): ListCache<Resource> {
    return (this.#resources ??= this.#listOf(resourceList));
  }

  get templates(): ListCache<ResourceTemplate> {
    return (this.#templates ??= this.#listOf(templateList));
  }

  get prompts(): ListCache<Prompt> {
    return (this.#prompts ??= this.#listOf(promptList));
  }

  #listOf<Item>(list: ListOf<Item>, onFetched?: ListCacheOptions<Item>['onFetched']): ListCache<Item> {
    const { connection, options, handlers } = this;
    return new ListCache({
      fetch: () => fetchList(connection, list, options.cache !== false, handlers),
      ...(onFetched && { onFetched }),
    });
  }

  #invalidate(kind: ListKind): void {
    if (kind === 'tools') this.#tools?.invalidate();
    if (kind === 'prompts') this.#prompts?.invalidate();
    if (kind !== 'resources') return;
    this.#resources?.invalidate();
    this.#templates?.invalidate();
  }
}

type ListResult = { nextCursor?: string | undefined; ttlMs?: unknown };

interface ListOf<Item> {
  readonly kind: ListKind;
  readonly method: 'tools/list' | 'resources/list' | 'resources/templates/list' | 'prompts/list';
  readonly fetch: (connected: Connected, options: RequestOptions) => Promise<ListResult>;
  readonly items: (result: ListResult, connected: Connected) => readonly Item[];
}

const refresh = { cacheMode: 'refresh' } as const;

const toolList: ListOf<ProtocolTool> = {
  kind: 'tools',
  method: 'tools/list',
  fetch: ({ link, changes }, options) =>
    requestDirectly<ListResult>(
      link,
      {
        method: 'tools/list',
        params: {},
        parse: (result) => {
          const list = toPlainToolList(result, changes ? 'modern' : 'legacy');
          // What the SDK was told of the tools before holds no longer.
          if (list) {
            link.schemas?.clear();
            link.schemas?.malformed.splice(0);
          }
          return list;
        },
        viaSdk: async (sdkOptions) => {
          const client = await link.client();
          link.schemas?.malformed.splice(0);
          return client.listTools(undefined, { ...sdkOptions, ...refresh });
        },
      },
      options,
    ),
  items: (result, { link: { schemas } }) => {
    const { tools } = result as unknown as { tools: ProtocolTool[] };
    return !schemas?.size ? tools : tools.map((tool) => ({ ...tool, ...schemas.get(tool.name) }));
  },
};

const resourceList: ListOf<Resource> = {
  kind: 'resources',
  method: 'resources/list',
  fetch: async ({ link }, options) => (await link.client()).listResources(undefined, { ...options, ...refresh }),
  items: (result) => (result as unknown as { resources: Resource[] }).resources,
};

const templateList: ListOf<ResourceTemplate> = {
  kind: 'resources',
  method: 'resources/templates/list',
  fetch: async ({ link }, options) =>
    (await link.client()).listResourceTemplates(undefined, { ...options, ...refresh }),
  items: (result) => (result as unknown as { resourceTemplates: ResourceTemplate[] }).resourceTemplates,
};

const promptList: ListOf<Prompt> = {
  kind: 'prompts',
  method: 'prompts/list',
  fetch: async ({ link }, options) => (await link.client()).listPrompts(undefined, { ...options, ...refresh }),
  items: (result) => (result as unknown as { prompts: Prompt[] }).prompts,
};

/** More than any model can be shown; a server that lists more is broken or hostile. */
const maxItems = 20_000;
/** How long the list of a server is kept that does not tell when it changes. */
const silentServerLifetime = 60_000;

/** A list may be asked for again when the connection was lost: it has no effects. */
function fetchList<Item>(
  connection: ServerConnection,
  { kind, method, fetch, items }: ListOf<Item>,
  mayCache: boolean,
  handlers: ServerHandlers,
): Promise<FetchedList<Item>> {
  return connection.request(
    async (connected, options) => {
      const { link } = connected;
      const { capabilities } = link.server;
      // The SDK would write a line to standard output when asked anyway.
      if (capabilities && !capabilities[kind]) return { items: [], keepFor: Number.POSITIVE_INFINITY };
      let result: ListResult;
      try {
        // A session that was taken up said nothing of its capabilities, and the SDK asks for none then.
        result = capabilities
          ? await fetch(connected, options)
          : await (await link.client()).request({ method }, options);
      } catch (error) {
        if ((error as { code?: unknown }).code !== errorCodes.methodNotFound) throw error;
        return { items: [], keepFor: silentServerLifetime };
      }
      const all = items(result, connected);
      const list = all.length > maxItems ? all.slice(0, maxItems) : all;
      const malformed = (kind === 'tools' && link.schemas?.malformed) || [];
      const error = malformed.length > 0 ? malformedToolsError(connection.name, malformed) : undefined;
      if (!mayCache) return { items: list, keepFor: 0, error };
      const tells = (capabilities?.[kind] as { listChanged?: boolean } | undefined)?.listChanged === true;
      if (connected.changes) {
        const ttl = typeof result.ttlMs === 'number' ? result.ttlMs : 0;
        return { items: list, keepFor: tells && handlers.onListChanged[kind] ? Number.POSITIVE_INFINITY : ttl, error };
      }
      return { items: list, keepFor: tells ? Number.POSITIVE_INFINITY : silentServerLifetime, error };
    },
    { retries: 1 },
  );
}
