import type { AnyRequestContext } from '@quiver/core/tools';
import type { Result } from '../../content.js';
import type { Era, LoggingLevel } from '../../protocol/constants.js';
import type { Params } from '../../protocol/json-rpc.js';
import type { ClientCapabilities } from '../../protocol/types.js';
import type { Prompt } from '../../prompt.js';
import type { Resource, ResourceTemplate } from '../../resource.js';
import type { ClientRequest } from '../client/client-requests.js';
import type { CatalogRequest } from '../tools/catalog.js';
import type { RegisteredTool } from '../tools/tool-registry.js';

/** Tools of another server by the names that clients call them by. A change replaces the map. */
export type UpstreamTools = ReadonlyMap<string, RegisteredTool>;

/** The part of a request that proxies reach. */
export interface UpstreamRequest extends CatalogRequest {
  readonly method: string;
  readonly name: string | undefined;
  readonly params: Params | undefined;
  readonly meta: Readonly<Record<string, unknown>> | undefined;
  readonly era: Era;
  readonly signal: AbortSignal;
  readonly requestContext: AnyRequestContext;
  readonly clientCapabilities: ClientCapabilities;
  readonly logLevel: LoggingLevel | undefined;
  /** Stands for the client of the request. */
  readonly party: unknown;
  /** Tools of other servers that the request may name. */
  upstreamTools: readonly UpstreamTools[];
  /** What {@link UpstreamRequest.passOn} stored in the round before. */
  readonly upstreamState: unknown;
  /** Whether the run may continue after the response. */
  readonly mayContinue: boolean;
  ask<Value>(create: () => ClientRequest<Value>, options?: { signal?: AbortSignal }): Promise<Value>;
  notify(method: string, params: object): void;
  report(update: { progress: number; total?: number; message?: string }): void;
  /** Ends the round of a modern request with requests of another server. The run never continues. */
  passOn(inputRequests: unknown, state: unknown): Promise<never>;
  /** Lets the run continue after the response, if there is room. */
  continueNow(): void;
}

/** Items of the lists that are made for each request, by callbacks and by other servers. Tools are registered instead. */
export interface RequestedItems {
  readonly 'resources/list': Resource;
  readonly 'resources/templates/list': ResourceTemplate;
  readonly 'prompts/list': Prompt;
}

export type RequestedList = keyof RequestedItems;

/** Other servers whose items a server offers as its own. */
export interface Upstreams {
  /** Loads the tools that a request may name. A promise only where they are not known yet. */
  prepare(request: UpstreamRequest): void | Promise<void>;
  /** Returns the items of all servers for a list. A server that is unavailable leaves the others. */
  list<Method extends RequestedList>(request: UpstreamRequest, method: Method): Promise<RequestedItems[Method][]>;
  /** Returns whether an item of a list is another server's. */
  owns(item: object): boolean;
  /** Passes a request on to the server of an item. */
  forward(request: UpstreamRequest, item: object): Promise<Result>;
  /** Subscribes to a resource of another server. @returns a function that ends it, unless another client is subscribed */
  watch(item: object, uri: string): Promise<() => void>;
}
