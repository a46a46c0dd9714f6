import { invalidOptions } from '@quiver/core/internal';
import type { McpExtra } from '@quiver/core/tools';
import { isInProcessServer } from '../../client/config/in-process-server.js';
import { describeValue } from '../../client/config/parse-server-definition.js';
import type { HttpServerDefinition } from '../../client/config/server-definition.js';
import { isObject } from '../../protocol/json-rpc.js';

/** An `MCPServer` of this process. */
export interface MountedServer {
  fetch(request: Request, options: { authInfo?: unknown }): Promise<Response>;
}

/**
 * Returns the definition of a server of this process that receives the identity of each caller. It opens no port.
 *
 * @throws `OPTIONS_INVALID` for a value that is not an `MCPServer`
 */
export function toDefinition(name: string, server: MountedServer): HttpServerDefinition {
  if (!isObject(server) || !isInProcessServer(server) || !('fetch' in server))
    throw invalidOptions(
      `server.mount('${name}') needs an \`MCPServer\` of this process, but received ${describeValue(server)}. Use server.proxy() for other servers.`,
      { details: { server: name } },
    );
  return {
    url: 'http://localhost/mcp',
    transport: 'http',
    // Without sessions, which would belong to one caller.
    protocol: 'modern',
    fetch: (url, init, requestContext) => {
      const { authInfo } = (requestContext?.get('mcp.extra') as McpExtra | undefined) ?? {};
      const headers = new Headers(init?.headers);
      // Servers check which host a request is for.
      headers.set('host', 'localhost');
      return server.fetch(new Request(url, { ...init, headers }), authInfo ? { authInfo } : {});
    },
  };
}
