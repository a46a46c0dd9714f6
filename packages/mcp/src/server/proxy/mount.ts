import type { McpExtra } from '@quiver/core/tools';
import type { HttpServerDefinition } from '../../client/config/server-definition.js';

/** An `MCPServer` of this process. */
export interface MountedServer {
  fetch(request: Request, options: { authInfo?: unknown }): Promise<Response>;
}

/** Returns the definition of a server of this process that receives the identity of each caller. It opens no port. */
export function toDefinition(server: MountedServer): HttpServerDefinition {
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
