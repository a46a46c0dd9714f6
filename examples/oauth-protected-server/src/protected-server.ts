import { createServer } from 'node:http';
import { createTool } from '@quiver/core/tools';
import { createJwtValidator, createOAuthMiddleware } from '@quiver/mcp/auth';
import { MCPServer } from '@quiver/mcp/server';

const notes = new Map<unknown, string[]>();

const listNotes = createTool({
  id: 'list-notes',
  description: 'Lists the notes of the signed-in user.',
  outputSchema: {
    type: 'object',
    properties: { user: { type: 'string' }, notes: { type: 'array', items: { type: 'string' } } },
    required: ['user', 'notes'],
  },
  execute: async (_input, context) => {
    const user: unknown = context?.mcp?.extra?.authInfo?.extra?.['subject'];
    return { user, notes: notes.get(user) ?? [] };
  },
});

const addNote = createTool({
  id: 'add-note',
  description: 'Adds a note. Needs the scope notes:write.',
  execute: async (_input, context) => {
    const user: unknown = context?.mcp?.extra?.authInfo?.extra?.['subject'];
    notes.set(user, [...(notes.get(user) ?? []), 'Water the plants']);
    return { added: true };
  },
});

/** Starts an MCP server that accepts only tokens of the given issuer. */
export async function startProtectedServer(url: URL, issuer: string): Promise<{ close(): Promise<void> }> {
  const server = new MCPServer({ name: 'Notes', version: '1.0.0', tools: { listNotes, addNote } });
  const protect = createOAuthMiddleware({
    oauth: {
      resource: url.href,
      authorizationServers: [issuer],
      requiredScopes: ['notes:read'],
      toolScopes: { addNote: ['notes:write'] },
      validateToken: createJwtValidator({ issuer, jwksUri: `${issuer}/jwks` }),
    },
  });
  const http = createServer(async (req, res) => {
    // An invalid request target, such as `//`, must not end the process.
    if (!URL.canParse(req.url ?? '', url.origin)) return void res.writeHead(400).end();
    const target = new URL(req.url ?? '', url.origin);
    const { proceed } = await protect(req, res, target);
    if (proceed) await server.startHTTP({ url: target, httpPath: '/mcp', req, res });
  });
  await new Promise<void>((resolve) => http.listen(Number(url.port), '127.0.0.1', resolve));
  return {
    close: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      await server.close();
    },
  };
}
