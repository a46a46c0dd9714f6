import type { Result } from '../content.js';
import type { Prompt } from '../prompt.js';
import type { ServerCapabilities } from '../protocol/types.js';
import type { Resource, ResourceTemplate } from '../resource.js';
import type { UriVariables } from './definition/server-config.js';
import type { ServerState } from './definition/server-state.js';
import type { ServerRequest } from './request.js';
import type { ProvidedTools } from './tools/tool-registry.js';

/** Items of the lists that are made for each request. Tools are registered, or found before a request is answered. */
export interface RequestedItems {
  readonly 'resources/list': Resource;
  readonly 'resources/templates/list': ResourceTemplate;
  readonly 'prompts/list': Prompt;
}

export type RequestedList = keyof RequestedItems;

/** A URI that a request reads. */
export interface ResourceMatch {
  readonly uri: string;
  /** Values of the first template that matches; empty without one. */
  readonly variables: UriVariables;
  readonly mimeType: string | undefined;
}

/** Source of items: the callbacks of the application, or other servers. `visible` and scopes apply to the items of all providers. */
export interface Provider {
  /** Capabilities that the server has for the items. */
  readonly capabilities: ServerCapabilities;
  /** Whether callers may receive different items, also without `visible` and scopes. */
  readonly variesByCaller: boolean;
  /**
   * Returns the tools that a request may name. Runs for every request, after `onRequest` hooks and before any check of access.
   *
   * @throws ProtocolError to refuse the request
   */
  find?(request: ServerRequest): Promise<readonly ProvidedTools[]>;
  /** Returns the items of a list. A provider that is unavailable returns those that it knows. */
  list<Method extends RequestedList>(request: ServerRequest, method: Method): Promise<RequestedItems[Method][]>;
  /** Returns whether an item of a list is one of the provider. */
  owns(item: object): boolean;
  /** Answers a request about an item: reads a resource, gets a prompt, or completes an argument. @param match - of a resource */
  answer(request: ServerRequest, item: object, match?: ResourceMatch): Promise<Result>;
  /** Subscribes to a resource. @returns a function that ends it, unless another client is subscribed */
  watch?(item: object, uri: string): Promise<() => void>;
}

/** Adds a provider after the others. The server declares its capabilities from here on. */
export function addProvider(server: ServerState, provider: Provider): void {
  server.providers = [...server.providers, provider];
  server.capabilities = { ...server.capabilities, ...provider.capabilities };
}

/** Returns the provider of an item. The callbacks of the application, which come first, own the items of no other provider. */
export function providerOf({ providers }: ServerState, item: object): Provider {
  // The cast: the item is of one of them.
  return providers.findLast((provider) => provider.owns(item)) as Provider;
}
