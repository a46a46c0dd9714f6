import { Buffer } from 'node:buffer';
import type { Resource, ResourceTemplate } from '../../resource.js';
import { askServers, logMissing, type Answers } from '../server/ask-servers.js';
import { withServer, type ClientServers } from '../server/client-servers.js';
import type { ServerHandle } from '../server/server-handle.js';

/** One piece of a resource: text, or Base64 in `blob`. */
export interface ResourceContents {
  uri: string;
  mimeType?: string;
  text?: string;
  blob?: string;
  _meta?: Record<string, unknown>;
}

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

export interface ListOptions {
  /** Milliseconds until a server without a response counts as unavailable. Default: the timeouts of the servers. */
  perServerTimeoutMs?: number;
}

/** Resources of the servers, see {@link MCPClient.resources}. */
export interface ClientResources {
  /** Returns the resources by server. An unavailable server is logged and left out; a server without resources has an empty list. */
  list(): Promise<Record<string, Resource[]>>;
  /** As `list`, with the errors instead of a log line. */
  listWithErrors(options?: ListOptions): Promise<Answers<Resource[]>>;
  /** Returns the resource templates by server. */
  templates(): Promise<Record<string, ResourceTemplate[]>>;
  templatesWithErrors(options?: ListOptions): Promise<Answers<ResourceTemplate[]>>;
  /** @param resource - URI, or an entry of `list()`. @throws `MCP_CLIENT_READ_RESOURCE_FAILED` */
  read(serverName: string, resource: string | { readonly uri: string }): Promise<ReadResourceResult>;
  /**
   * Reads a resource as text or bytes. A resource of several parts is a list.
   *
   * @throws `MCP_CLIENT_READ_RESOURCE_FAILED`
   */
  readContent(
    serverName: string,
    resource: string | { readonly uri: string },
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

export function createClientResources(servers: ClientServers): ClientResources {
  const listWithErrors = ({ perServerTimeoutMs }: ListOptions = {}): Promise<Answers<Resource[]>> =>
    askServers<ServerHandle, Resource[]>({
      servers: servers.values(),
      ask: async ({ resources }) => {
        const { items, error } = await resources.get();
        return { answer: [...items], error };
      },
      perServerTimeoutMs,
    });
  const templatesWithErrors = ({ perServerTimeoutMs }: ListOptions = {}): Promise<Answers<ResourceTemplate[]>> =>
    askServers<ServerHandle, ResourceTemplate[]>({
      servers: servers.values(),
      ask: async ({ templates }) => {
        const { items, error } = await templates.get();
        return { answer: [...items], error };
      },
      perServerTimeoutMs,
    });
  const read: ClientResources['read'] = (serverName, resource) =>
    withServer(servers, 'READ_RESOURCE', serverName, async ({ connection }) => {
      const uri = typeof resource === 'string' ? resource : resource.uri;
      const result = await connection.request((engine, options) => engine.request('resources/read', { uri }, options), {
        retries: 1,
      });
      // The engine has checked the result.
      return result as unknown as ReadResourceResult;
    });
  return {
    listWithErrors,
    templatesWithErrors,
    list: async () => {
      const { data, errors } = await listWithErrors();
      logMissing('Resources', errors);
      return data;
    },
    templates: async () => {
      const { data, errors } = await templatesWithErrors();
      logMissing('Resource templates', errors);
      return data;
    },
    read,
    readContent: async (serverName, resource) => {
      const { contents } = await read(serverName, resource);
      const [first, ...others] = contents.map(toContent);
      return first !== undefined && others.length === 0 ? first : contents.map(toContent);
    },
    subscribe: (serverName, uri) =>
      withServer(servers, 'SUBSCRIBE_RESOURCE', serverName, async ({ connection }) => {
        await connection.subscribe(uri);
        return {};
      }),
    unsubscribe: (serverName, uri) =>
      withServer(servers, 'UNSUBSCRIBE_RESOURCE', serverName, async ({ connection }) => {
        await connection.unsubscribe(uri);
        return {};
      }),
    onUpdated: (serverName, handler) =>
      withServer(servers, 'ON_UPDATED_RESOURCE', serverName, async ({ handlers }) => {
        handlers.onResourceUpdated = handler;
      }),
    onListChanged: (serverName, handler) =>
      withServer(servers, 'ON_LIST_CHANGED_RESOURCE', serverName, async ({ handlers, connection }) => {
        handlers.onListChanged.resources = handler;
        await connection.handlersChanged();
      }),
  };
}

function toContent({
  text,
  blob = '',
  mimeType = 'application/octet-stream',
}: ResourceContents): string | BinaryContent {
  return text ?? { data: Buffer.from(blob, 'base64'), mediaType: mimeType };
}
