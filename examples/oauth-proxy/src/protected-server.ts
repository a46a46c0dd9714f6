import { createTool } from '@quiver/core/tools';
import { createJwtValidator } from '@quiver/mcp/auth';
import { MCPServer } from '@quiver/mcp/server';

const whoAmI = createTool({
  id: 'who-am-i',
  description: 'Names the signed-in user.',
  outputSchema: { type: 'object', properties: { user: { type: 'string' } }, required: ['user'] },
  execute: async (_input, context) => ({ user: context?.mcp?.extra?.authInfo?.extra?.['subject'] }),
});

/** Starts an MCP server that accepts only tokens that the issuer made for it. */
export async function startProtectedServer(resource: string, issuer: string): Promise<{ close(): Promise<void> }> {
  const server = new MCPServer({ name: 'Who am I', version: '1.0.0', tools: { whoAmI } });
  return server.listen({
    port: Number(new URL(resource).port || 3000),
    authenticate: {
      resource,
      authorizationServers: [issuer],
      requiredScopes: ['mcp'],
      validateToken: createJwtValidator({ issuer, jwksUri: `${issuer}/jwks` }),
    },
  });
}
