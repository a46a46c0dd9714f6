import { QuiverError } from '@quiver/core';
import type { Prompt } from '../../prompt.js';
import type { ProtocolTool } from '../../protocol/client-types.js';
import { errorCodes } from '../../protocol/constants.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import type { Resource, ResourceTemplate } from '../../resource.js';
import { createServerLog, type ServerLog } from './log-message.js';
import { toSamplingHandler } from '../features/sampling.js';
import { ServerConnection } from './server-connection.js';
import type { ListKind, ServerHandlers } from '../config/server-handlers.js';
import { parseServerDefinition } from '../config/parse-server-definition.js';
import type { ServerDefinition, ServerOptions, ServerTarget } from '../config/server-definition.js';
import type { Engine, EngineRequestOptions } from '../engine/engine.js';
import type { ClientInfo } from '../config/client-info.js';
import { ListCache, type FetchedList, type ListCacheOptions } from './list-cache.js';
import { malformedToolsError, parseToolDefinitions } from './tool-definitions.js';
import { compareDefinitions, type DefinitionChanges } from './tool-fingerprint.js';

/** One server of the client: its connection and its cached lists. */
export class ServerHandle {
  readonly name: string;
  readonly target: ServerTarget;
  readonly handlers: ServerHandlers;
  readonly connection: ServerConnection;
  readonly log: ServerLog;
  onDefinitionsChanged?: (changes: DefinitionChanges) => void;
  // Only the tools of most servers are listed.
  #tools: ListCache<ProtocolTool> | undefined;
  #resources: ListCache<Resource> | undefined;
  #templates: ListCache<ResourceTemplate> | undefined;
  #prompts: ListCache<Prompt> | undefined;

  /** @throws `SERVER_DEFINITION_INVALID` */
  constructor(name: string, definition: ServerDefinition, defaultTimeout: number, defaultClientInfo?: ClientInfo) {
    this.name = name;
    this.target = parseServerDefinition(name, definition);
    const { logger, log: alsoLogger, roots, sampling, timeout = defaultTimeout } = this.options;
    const { clientInfo = defaultClientInfo } = this.options;
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
      clientInfo,
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
    return (this.#tools ??= this.#listOf('tools/list', (items, previous) => {
      const changes = previous && compareDefinitions(previous, items);
      if (changes) this.onDefinitionsChanged?.(changes);
    }));
  }

  get resources(): ListCache<Resource> {
    return (this.#resources ??= this.#listOf('resources/list'));
  }

  get templates(): ListCache<ResourceTemplate> {
    return (this.#templates ??= this.#listOf('resources/templates/list'));
  }

  get prompts(): ListCache<Prompt> {
    return (this.#prompts ??= this.#listOf('prompts/list'));
  }

  #listOf<Method extends keyof ListedItems>(
    method: Method,
    onFetched?: ListCacheOptions<ListedItems[Method]>['onFetched'],
  ): ListCache<ListedItems[Method]> {
    const { connection, handlers } = this;
    const { cache = true } = this.options;
    const mayCache = typeof cache === 'boolean' ? cache : cache[lists[method].kind] !== false;
    return new ListCache({
      fetch: () => fetchList(connection, method, mayCache, handlers),
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

/** The items of a list by the method that requests them. */
interface ListedItems {
  readonly 'tools/list': ProtocolTool;
  readonly 'resources/list': Resource;
  readonly 'resources/templates/list': ResourceTemplate;
  readonly 'prompts/list': Prompt;
}

const lists = {
  'tools/list': { kind: 'tools', key: 'tools' },
  'resources/list': { kind: 'resources', key: 'resources' },
  'resources/templates/list': { kind: 'resources', key: 'resourceTemplates' },
  'prompts/list': { kind: 'prompts', key: 'prompts' },
} as const;

/** More items than any model can be shown: a server that lists more is broken or hostile. */
const maxItems = 20_000;
const maxPages = 64;
/** Milliseconds until a list expires that the server does not report changes of. */
const silentServerLifetime = 60_000;

/** Requests a list. The request is repeated after a lost connection, because it has no effects. */
function fetchList<Method extends keyof ListedItems>(
  connection: ServerConnection,
  method: Method,
  mayCache: boolean,
  handlers: ServerHandlers,
): Promise<FetchedList<ListedItems[Method]>> {
  const { kind } = lists[method];
  return connection.request(
    async (engine, options) => {
      const { capabilities } = engine.server;
      // Only a resumed session has unknown capabilities.
      if (capabilities && !capabilities[kind]) return { items: [], keepFor: Number.POSITIVE_INFINITY };
      let fetched: { items: unknown[]; ttlMs: unknown };
      try {
        fetched = await fetchPages(connection.name, engine, method, options);
      } catch (error) {
        if (!(error instanceof ProtocolError && error.code === errorCodes.methodNotFound)) throw error;
        return { items: [], keepFor: silentServerLifetime };
      }
      const { tools, malformed } =
        kind === 'tools'
          ? parseToolDefinitions(fetched.items, engine.isModern)
          : { tools: fetched.items, malformed: [] };
      // The engine has checked the items of the other lists.
      const items = tools as ListedItems[Method][];
      const error = malformed.length > 0 ? malformedToolsError(connection.name, malformed) : undefined;
      const reports = (capabilities?.[kind] as { listChanged?: boolean } | undefined)?.listChanged === true;
      const isWatched = reports && (!engine.isModern || handlers.onListChanged[kind] !== undefined);
      const lifetime = engine.isModern ? Number(fetched.ttlMs ?? 0) : silentServerLifetime;
      return { items, keepFor: mayCache ? (isWatched ? Number.POSITIVE_INFINITY : lifetime) : 0, error };
    },
    { retries: 1 },
  );
}

/** @throws `MCP_LIST_ENDLESS` when a server sends a cursor with every page */
async function fetchPages(
  serverName: string,
  engine: Engine,
  method: keyof ListedItems,
  options: EngineRequestOptions,
): Promise<{ items: unknown[]; ttlMs: unknown }> {
  const { key } = lists[method];
  let cursor: unknown;
  let items: unknown[] = [];
  for (let page = 1; ; page += 1) {
    const result = await engine.request(method, cursor === undefined ? {} : { cursor }, options);
    const { [key]: added, nextCursor, ttlMs } = result;
    if (!Array.isArray(added)) throw new TypeError(`Invalid result for ${method}: ${key} is not an array`);
    // A server that ignores the cursor sends the same page again.
    if (nextCursor !== undefined && nextCursor === cursor) return { items, ttlMs };
    items = items.length === 0 ? added : [...items, ...(added as unknown[])];
    if (items.length > maxItems) return { items: items.slice(0, maxItems), ttlMs };
    if (nextCursor === undefined || nextCursor === null) return { items, ttlMs };
    if (page === maxPages)
      throw new QuiverError(
        'MCP_LIST_ENDLESS',
        `MCP server '${serverName}' sends a list without end: ${method} has a cursor after ${page} pages.`,
        { details: { server: serverName } },
      );
    cursor = nextCursor;
  }
}
