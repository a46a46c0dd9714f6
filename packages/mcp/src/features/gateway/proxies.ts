import { QuiverError, toErrorMessage } from '@quiver/core';
import { checkOptions, functionValue, type OptionChecks, valueThat, invalidOptions } from '@quiver/core/internal';
import type { AnyRequestContext, McpExtra } from '@quiver/core/tools';
import { Result } from '../../content.js';
import type { ServerDefinition } from '../../client/config/server-definition.js';
import { createApplication } from '../../client/features/application.js';
import { remoteServerOf, type MCPClient } from '../../client/mcp-client.js';
import type { Identity } from '../../client/remote/list-cache.js';
import { RemoteServer } from '../../client/remote/remote-server.js';
import { isObject, type Params } from '../../protocol/json-rpc.js';
import {
  findMethod,
  listChanges,
  listKinds,
  listMethods,
  requestMethods,
  type ListKind,
} from '../../protocol/methods.js';
import type { ServerCapabilities } from '../../protocol/types.js';
import { principalOf } from '../../server/caller.js';
import type { ServerState } from '../../server/definition/server-state.js';
import { addProvider, type Provider, type RequestedItems, type RequestedList } from '../../server/provider.js';
import type { ServerRequest } from '../../server/request.js';
import { keyOf } from '../../server/list-page.js';
import { portableName, type ProvidedTools } from '../../server/tools/tool-registry.js';
import { ListChanges } from './list-changes.js';
import { toDefinition, type MountedServer } from './mount.js';
import { SuspendedCalls } from './suspended-calls.js';
import { Via } from './via.js';
import { toOwn, Upstream, type ProxyOptions } from './upstream.js';

/** Server that a proxy reaches: one of a client, or a definition as in `servers` of `MCPClient`. */
export type ProxyTarget = { readonly client: MCPClient; readonly server: string } | ServerDefinition;

const proxyChecks: OptionChecks<ProxyOptions> = {
  prefix: valueThat((value) => value === false || typeof value === 'string', 'a string or false'),
  include: functionValue,
};

/** Milliseconds that one request to another server may take, unless its definition sets them. */
const REQUEST_TIMEOUT = 60_000;

export function createProxies(self: object, state: ServerState): Proxies {
  const proxies = new Proxies(self, state);
  addProvider(state, proxies);
  return proxies;
}

export class Proxies implements Provider {
  /** Which items there are is known later, and clients request capabilities first. */
  readonly capabilities: ServerCapabilities = {
    resources: { subscribe: true, listChanged: true },
    prompts: { listChanged: true },
    completions: {},
  };
  readonly variesByCaller = true;
  readonly #self: object;
  readonly #state: ServerState;
  readonly #suspended: SuspendedCalls;
  readonly #via: Via;
  readonly #upstreams: Upstream[] = [];
  readonly #changes = new Set<ListChanges>();
  /** Servers that no client of the application holds. */
  readonly #owned = new Set<RemoteServer>();
  /** Numbers of the requests per resource that watch it. Sessions keep the resources of their subscriptions watched. */
  readonly #watched = new Map<string, number>();

  constructor(self: object, state: ServerState) {
    this.#self = self;
    this.#state = state;
    this.#via = new Via(state.logger);
    this.#suspended = new SuspendedCalls(state.requestState.ttlSeconds * 1000);
  }

  /**
   * Adds a server. Settles when its lists are known, or it is unavailable: then it is logged, and retried automatically.
   *
   * @throws `OPTIONS_INVALID`, `MCP_SERVER_UNKNOWN`; `PROXY_NAME_TAKEN` for a name that is taken
   */
  async add(name: string, target: ProxyTarget, options: ProxyOptions, identity: Identity = identityOf): Promise<void> {
    checkOptions('server.proxy', options, proxyChecks);
    if (typeof name !== 'string' || name === '' || this.#upstreams.some((other) => other.name === name))
      throw new QuiverError(
        'PROXY_NAME_TAKEN',
        `Cannot add a proxy named '${name}': the name is empty, or another proxy has it.`,
      );
    this.#requireOther(name, target);
    const { prefix = `${name}_`, include } = options;
    const { logger, subscribers } = this.#state;
    if (prefix && !portableName.test(prefix))
      logger.warn(
        `The tools of the proxied server '${name}' are served, but some clients will refuse their names, which begin with ${JSON.stringify(prefix)}: set a \`prefix\` of A-Z a-z 0-9 _ . -`,
      );
    const remote = this.#resolve(name, target, identity);
    const publish = (kind: ListKind): void => void subscribers.publishHere({ kind: listChanges[kind].event });
    const upstream = new Upstream({
      name,
      remote,
      prefix: prefix || '',
      include,
      suspended: this.#suspended,
      logger,
      via: this.#via,
      continuing: this.#state.calls.filter(({ continuation }) => continuation),
      isForeign: (toolName) => this.#ownerPrefix(toolName).length > upstream.prefix.length,
      onLateList: (method) => changes.report(requestMethods[method].capability),
    });
    const changes = new ListChanges({ publish, read: (kind) => upstream.describeLists(nobody, kind) });
    this.#changes.add(changes);
    this.#upstreams.push(upstream);
    this.#forget();
    remote.connection.declareRelays();
    this.#listen(remote, (kind) => changes.report(kind));
    try {
      await this.#requireFreeNames(upstream);
    } catch (error) {
      this.#upstreams.splice(this.#upstreams.indexOf(upstream), 1);
      this.#forget();
      changes.close();
      throw error;
    }
    // Another connection may have other lists.
    if (isReady(upstream)) await Promise.all(listKinds.map((kind) => changes.learn(kind)));
    remote.handlers.onConnected = () => listKinds.forEach((kind) => changes.report(kind));
    publish('tools');
  }

  freeName(): string {
    let number = 1;
    while (this.#upstreams.some(({ name }) => name === `server-${number}`)) number += 1;
    return `server-${number}`;
  }

  /** Adds a server of this process, which receives only the identity of a caller. */
  async mount(name: string, server: MountedServer, options: ProxyOptions): Promise<void> {
    this.#requireOther(name, server);
    await this.add(name, toDefinition(name, server), options, (requestContext) => identityOf(requestContext) ?? '');
  }

  async close(): Promise<void> {
    this.#suspended.close();
    for (const changes of this.#changes) changes.close();
    await Promise.all([...this.#owned].map((remote) => remote.disconnect()));
  }

  async find(request: ServerRequest): Promise<readonly ProvidedTools[]> {
    const { method, name = '' } = request;
    this.#via.requireNoLoop(request);
    if (!findMethod(method)?.needsTools) return [];
    const own = this.#state.tools.get(name);
    const isCall = method === 'tools/call' && !own?.needsTools;
    if (isCall && own) return [];
    const owner = isCall && this.#ownerPrefix(name);
    // Connections begin with it: gateways in a ring would wait for each other.
    if (method === 'server/discover') return this.#upstreams.map((upstream) => upstream.knownTools(request));
    const upstreams = isCall ? this.#upstreams.filter(({ prefix }) => prefix === owner) : this.#upstreams;
    return Promise.all(upstreams.map((upstream) => upstream.tools(request, isCall ? name : undefined)));
  }

  async list<Method extends RequestedList>(request: ServerRequest, method: Method): Promise<RequestedItems[Method][]> {
    const lists = await Promise.all(this.#upstreams.map((upstream) => upstream.items(request, method)));
    // A template that begins with more literal characters answers before those that match more URIs.
    const listed =
      method === 'resources/templates/list'
        ? lists.flat().toSorted((one, other) => literalLength(other) - literalLength(one))
        : lists.flat();
    const own = new Set<unknown>();
    // The first one of a name or URI: a later server cannot take it over.
    const items = listed.filter((item) => {
      const key = keyOf(method, item);
      return !own.has(key) && own.add(key);
    });
    // The cast: the method decides about the type of the items.
    return items as unknown as RequestedItems[Method][];
  }

  owns(item: object): boolean {
    return this.#ownerOf(item) !== undefined;
  }

  async answer(request: ServerRequest, item: object): Promise<Result> {
    // The casts: the server asks for items that a provider owns.
    const upstream = this.#ownerOf(item) as Upstream;
    const { method } = request;
    const params = { ...paramsFor(request, upstream.originOf(item) as Params), _meta: upstream.metaOf(request) };
    const result = await upstream.forward(request, (options, continued) =>
      upstream.remote.request((engine, to) => engine.request(method, { ...params, ...continued }, to), {
        ...options,
        ...(options.onProgress && { progressToken: crypto.randomUUID() }),
      }),
    );
    const { _meta, ttlMs: _, cacheScope: __, ...members } = toOwn(result);
    return Result.of(members, {
      meta: isObject(_meta) ? _meta : undefined,
      isPrivate: true,
    });
  }

  async watch(item: object, uri: string): Promise<() => void> {
    const { remote } = this.#ownerOf(item) as Upstream;
    await remote.subscriptions.subscribe(uri);
    this.#watched.set(uri, (this.#watched.get(uri) ?? 0) + 1);
    return () => {
      this.#watched.set(uri, (this.#watched.get(uri) ?? 1) - 1);
    };
  }

  /** @throws `OPTIONS_INVALID` when a server would offer its own items once more */
  #requireOther(name: string, target: unknown): void {
    if (target !== this.#self && !(isObject(target) && target['server'] === this.#self)) return;
    throw invalidOptions(
      `Cannot add the proxy '${name}': a server cannot offer its own items once more. Pass another server.`,
      { details: { server: name } },
    );
  }

  #resolve(name: string, target: ProxyTarget, identity: Identity): RemoteServer {
    if (isObject(target) && 'client' in target) return remoteServerOf(target.client, target.server);
    const remote = new RemoteServer({
      name,
      definition: target,
      timeout: REQUEST_TIMEOUT,
      identity,
      createApplication,
    });
    this.#owned.add(remote);
    return remote;
  }

  #listen(remote: RemoteServer, publish: (kind: ListKind) => void): void {
    const { onListChanged, onResourceUpdated } = remote.handlers;
    for (const kind of listKinds) {
      const before = onListChanged[kind];
      onListChanged[kind] = () => {
        before?.();
        publish(kind);
      };
    }
    remote.handlers.onResourceUpdated = (update) => {
      onResourceUpdated?.(update);
      const { uri } = update;
      const { sessions, subscribers } = this.#state;
      if ((this.#watched.get(uri) ?? 0) > 0 || [...sessions].some(({ client }) => client.subscriptions.has(uri)))
        return subscribers.publishHere({ kind: 'resource_updated', uri });
      // No client is subscribed now.
      this.#watched.delete(uri);
      if (!onResourceUpdated) remote.subscriptions.unsubscribe(uri).catch(() => {});
    };
  }

  /** @throws `PROXY_NAME_TAKEN` when a tool, prompt or resource has the name or URI of another one */
  async #requireFreeNames(upstream: Upstream): Promise<void> {
    const { tools, logger } = this.#state;
    const request = nobody;
    const others = this.#upstreams.filter((other) => other !== upstream);
    try {
      await upstream.remote.connection.connect();
    } catch (error) {
      logger.warn(`The proxied server '${upstream.name}' is unavailable: ${toErrorMessage(error)}`, error);
      return;
    }
    const names = [...(await upstream.tools(request)).keys()];
    const takenTools = await Promise.all(
      others.map(async (other) => (isReady(other) ? other.tools(request) : new Map())),
    );
    const taken = names.find((name) => tools.get(name) !== undefined || takenTools.some((map) => map.has(name)));
    if (taken !== undefined) throw nameTaken(upstream, 'tool', taken);
    for (const method of listMethods.filter((each) => each !== 'tools/list')) {
      const keyOfItem = (item: object): string => keyOf(method, item);
      const used = new Set(
        (await Promise.all(others.filter(isReady).map((other) => other.items(request, method)))).flat().map(keyOfItem),
      );
      const clash = (await upstream.items(request, method)).map(keyOfItem).find((key) => used.has(key));
      if (clash !== undefined) throw nameTaken(upstream, requestMethods[method].title.toLowerCase(), clash);
    }
  }

  /** Returns the longest prefix that a name begins with: its server owns the name, whether it offers the item or not. */
  #ownerPrefix(name: string): string {
    let longest = '';
    for (const { prefix } of this.#upstreams)
      if (prefix.length > longest.length && name.startsWith(prefix)) longest = prefix;
    return longest;
  }

  #forget(): void {
    for (const upstream of this.#upstreams) upstream.forget();
  }

  #ownerOf(item: object): Upstream | undefined {
    return this.#upstreams.find((upstream) => upstream.originOf(item));
  }
}

/** Request without a caller, for the lists at the start. */
const nobody = {
  meta: undefined,
  signal: new AbortController().signal,
  requestContext: undefined,
} as unknown as ServerRequest;

function literalLength({ uriTemplate }: Params): number {
  return String(uriTemplate).split('{', 1)[0]!.length;
}

function isReady({ remote }: Upstream): boolean {
  return remote.connection.status().state === 'ready';
}

/** Returns the parameters of a request with the name that the item has at its own server. */
function paramsFor({ method, params = {} }: ServerRequest, { name }: Params): Params {
  const { _meta: _, inputResponses: __, requestState: ___, ...own } = params;
  if (findMethod(method)?.nameSource === 'name') return { ...own, name };
  if (method !== 'completion/complete') return own;
  const { ref } = own;
  return isObject(ref) && ref['type'] === 'ref/prompt' ? { ...own, ref: { ...ref, name } } : own;
}

/** Lists are cached per principal. Callers without one may differ in anything else that `headers` reads. */
function identityOf(requestContext: AnyRequestContext): string | undefined {
  const { authInfo } = (requestContext.get('mcp.extra') as McpExtra | undefined) ?? {};
  return authInfo && principalOf(authInfo);
}

function nameTaken({ name }: Upstream, what: string, taken: string): QuiverError {
  return new QuiverError(
    'PROXY_NAME_TAKEN',
    `Cannot add the proxy '${name}': there is another ${what.replace(/s$/, '')} '${taken}'. Set another \`prefix\`, or leave it out by \`include\`.`,
  );
}
