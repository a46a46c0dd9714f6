import { Buffer } from 'node:buffer';
import { checkOptions } from '@quiver/core/internal';
import type { Resource, ResourceTemplate } from '../../resource.js';
import type { Params } from '../../protocol/json-rpc.js';
import {
  forCaller,
  interactiveChecks,
  withHandlers,
  type Caller,
  type InteractiveRequestOptions,
} from '../config/caller.js';
import type { RemoteServer } from '../remote/remote-server.js';
import type { Answers, ListOptions, SharedServers } from '../remote/shared-servers.js';

/** One piece of a resource: text, or Base64 in `blob`. */
export interface ResourceContents {
  uri: string;
  mimeType?: string;
  text?: string;
  blob?: string;
  _meta?: Record<string, unknown>;
}

/** Result of `mcp.resources.read()`. */
export interface ReadResourceResult {
  contents: ResourceContents[];
  _meta?: Record<string, unknown>;
}

/** Bytes of a resource. */
export interface BinaryContent {
  data: Uint8Array;
  /** Default `application/octet-stream`. */
  mediaType: string;
}

/** Resources of the servers, see {@link MCPClient.resources}. */
export interface ClientResources {
  /** Returns the resources by server. An unavailable server is logged and left out; a server without resources has an empty list. */
  list(options?: ListOptions): Promise<Record<string, Resource[]>>;
  /** Returns the same as `list`, with the errors instead of a log line. */
  listWithErrors(options?: ListOptions): Promise<Answers<Resource[]>>;
  /** Returns the resource templates by server. */
  templates(options?: ListOptions): Promise<Record<string, ResourceTemplate[]>>;
  /** @param resource - URI, or an entry of `list()`. @throws `MCP_CLIENT_READ_RESOURCE_FAILED` */
  read(
    serverName: string,
    resource: string | { readonly uri: string },
    options?: InteractiveRequestOptions,
  ): Promise<ReadResourceResult>;
  /** Reads a resource as text or bytes. A resource of several parts is a list. @throws `MCP_CLIENT_READ_RESOURCE_FAILED` */
  readContent(
    serverName: string,
    resource: string | { readonly uri: string },
    options?: InteractiveRequestOptions,
  ): Promise<string | BinaryContent | (string | BinaryContent)[]>;
  /**
   * Subscribes to a resource, in both protocol eras, and again after a reconnect. Set a handler with `onUpdated`.
   *
   * @throws `MCP_CLIENT_SUBSCRIBE_RESOURCE_FAILED`
   */
  subscribe(serverName: string, uri: string): Promise<object>;
  /** @throws `MCP_CLIENT_UNSUBSCRIBE_RESOURCE_FAILED` */
  unsubscribe(serverName: string, uri: string): Promise<object>;
  /** Sets the handler for changes of subscribed resources. @throws `MCP_CLIENT_ON_UPDATED_RESOURCE_FAILED` */
  onUpdated(serverName: string, handler: (params: { uri: string }) => void): Promise<void>;
  /** Sets the handler for `list_changed` notifications. @throws `MCP_CLIENT_ON_LIST_CHANGED_RESOURCE_FAILED` */
  onListChanged(serverName: string, handler: () => void): Promise<void>;
}

export function createClientResources(servers: SharedServers, caller: Caller): ClientResources {
  const read: ClientResources['read'] = async (serverName, resource, given = {}) => {
    checkOptions('mcp.resources.read', given, interactiveChecks);
    const options = withHandlers(caller, given);
    const uri = typeof resource === 'string' ? resource : resource.uri;
    const send = (server: RemoteServer): Promise<Params> => server.read('resources/read', { uri }, options);
    // The engine has checked the result.
    return (await servers.run('READ_RESOURCE', serverName, send, options.signal)) as unknown as ReadResourceResult;
  };
  return {
    listWithErrors: async (options = {}) => servers.list('resources/list', forCaller(caller, options)),
    list: async (options = {}) => servers.listLogged('resources/list', forCaller(caller, options)),
    templates: async (options = {}) => servers.listLogged('resources/templates/list', forCaller(caller, options)),
    read,
    readContent: async (serverName, resource, options) => {
      const contents = (await read(serverName, resource, options)).contents.map(toContent);
      const [first, ...others] = contents;
      return first !== undefined && others.length === 0 ? first : contents;
    },
    subscribe: (serverName, uri) =>
      servers.run('SUBSCRIBE_RESOURCE', serverName, ({ subscriptions }) => subscriptions.subscribe(uri)),
    unsubscribe: (serverName, uri) =>
      servers.run('UNSUBSCRIBE_RESOURCE', serverName, ({ subscriptions }) => subscriptions.unsubscribe(uri)),
    onUpdated: (serverName, handler) =>
      servers.run('ON_UPDATED_RESOURCE', serverName, async ({ handlers }) => {
        handlers.onResourceUpdated = handler;
      }),
    onListChanged: (serverName, handler) =>
      servers.run('ON_LIST_CHANGED_RESOURCE', serverName, (server) => server.setListHandler('resources', handler)),
  };
}

function toContent({ text, blob = '', mimeType }: ResourceContents): string | BinaryContent {
  return text ?? { data: Buffer.from(blob, 'base64'), mediaType: mimeType ?? 'application/octet-stream' };
}
