import type { Result } from '../content.js';
import type { Prompt } from '../prompt.js';
import type { ServerCapabilities } from '../protocol/types.js';
import type { Resource, ResourceTemplate } from '../resource.js';
import type { ProvidedTools } from './tools/tool-registry.js';

/** Items of the lists that are made for each request. Tools are registered, or found before a request is answered. */
export interface RequestedItems {
  readonly 'resources/list': Resource;
  readonly 'resources/templates/list': ResourceTemplate;
  readonly 'prompts/list': Prompt;
}

export type RequestedList = keyof RequestedItems;

/**
 * Source of items in addition to the tools and callbacks of a server: other servers. `visible` and scopes apply to the items of all providers. Requests are
 * `ServerRequest`s, which implementations declare: the file of that class imports this one.
 */
export interface Provider {
  /** Capabilities that the server has for the items. */
  readonly capabilities: ServerCapabilities;
  /** Whether callers may receive different items. */
  readonly variesByCaller: boolean;
  /**
   * Returns the tools that a request may name. Runs for every request, after `onRequest` hooks and before any check of access.
   *
   * @throws ProtocolError to refuse the request
   */
  find(request: object): Promise<readonly ProvidedTools[]>;
  /** Returns the items of a list. A provider that is unavailable returns those that it knows. */
  list<Method extends RequestedList>(request: object, method: Method): Promise<RequestedItems[Method][]>;
  /** Returns whether an item of a list is one of the provider. */
  owns(item: object): boolean;
  /** Answers a request about an item: reads a resource, gets a prompt, or completes an argument. */
  answer(request: object, item: object): Promise<Result>;
  /** Subscribes to a resource. @returns a function that ends it, unless another client is subscribed */
  watch(item: object, uri: string): Promise<() => void>;
}

/** The part of a server that providers add to. */
interface ProvidedServer {
  providers: readonly Provider[];
  capabilities: ServerCapabilities;
}

/** Adds a provider after the others. The server declares its capabilities from here on. */
export function addProvider(server: ProvidedServer, provider: Provider): void {
  server.providers = [...server.providers, provider];
  server.capabilities = { ...server.capabilities, ...provider.capabilities };
}

/** Returns the provider of an item; `undefined` for an item of the server itself. */
export function providerOf({ providers }: Pick<ProvidedServer, 'providers'>, item: object): Provider | undefined {
  return providers.find((provider) => provider.owns(item));
}
