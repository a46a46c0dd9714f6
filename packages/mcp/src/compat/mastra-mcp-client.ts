import { randomUUID } from 'node:crypto';
import { QuiverError } from '@quiver/core';
import { checkOptions, type OptionChecks, unchecked } from '@quiver/core/internal';
import type { ClientCapabilities } from '../protocol/types.js';
import { MCPClient } from '../client/mcp-client.js';
import type { RemoteTool } from '../client/tools/remote-tool.js';
import type { MastraMCPServerDefinition } from '../client/config/server-definition.js';
import type { ListResourcesResult } from '../resource.js';

/** Options of `MastraMCPClient`. */
export interface MastraMCPClientOptions {
  /** Name of the client that the server receives, and of the server in messages. */
  name: string;
  /** Definition of the server. */
  server: MastraMCPServerDefinition;
  /** Capabilities to declare to the server. */
  capabilities?: ClientCapabilities;
  /** Version of the client that the server receives. Default `1.0.0`. */
  version?: string;
  /** Milliseconds one request may take. Default 60 000. */
  timeout?: number;
}

const checks: OptionChecks<MastraMCPClientOptions> = {
  ...unchecked<MastraMCPClientOptions>()('name', 'server', 'capabilities', 'version', 'timeout'),
};

/**
 * A client of one server.
 *
 * @deprecated Use `MCPClient`, also for a single server.
 */
export class MastraMCPClient {
  readonly name: string;
  readonly #client: MCPClient;

  constructor(options: MastraMCPClientOptions) {
    checkOptions('MastraMCPClient', options, checks);
    const { name, server, capabilities, timeout, version = '1.0.0' } = options;
    this.name = name;
    this.#client = new MCPClient({
      // Several clients of one server were always allowed here.
      id: randomUUID(),
      clientInfo: { name, version },
      servers: { [name]: { ...server, ...(capabilities && { capabilities }) } },
      ...(timeout !== undefined && { timeout }),
    });
  }

  /** Connects at once. @throws `MCP_CLIENT_RECONNECT_FAILED` with the reason */
  async connect(): Promise<void> {
    if (this.#client.status()[this.name]?.state !== 'ready') await this.#client.reconnectServer(this.name);
  }

  disconnect(): Promise<void> {
    return this.#client.disconnect();
  }

  /** @throws `MCP_CLIENT_LIST_RESOURCES_FAILED` when the server cannot be asked */
  async resources(): Promise<ListResourcesResult> {
    const { data, errors } = await this.#client.resources.listWithErrors();
    const reason = errors[this.name];
    if (reason !== undefined) throw new QuiverError('MCP_CLIENT_LIST_RESOURCES_FAILED', reason);
    return { resources: data[this.name] ?? [] };
  }

  /** The tools by the server's own names. @throws `MCP_CLIENT_GET_TOOLSETS_FAILED` */
  async tools(): Promise<Record<string, RemoteTool>> {
    return (await this.#client.listToolsets())[this.name] ?? {};
  }
}
