import { createTool } from '@quiver/core/tools';
import { createJwtValidator } from '@quiver/mcp/auth';
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
  return server.listen({
    port: Number(url.port),
    authenticate: {
      resource: url.href,
      authorizationServers: [issuer],
      requiredScopes: ['notes:read'],
      toolScopes: { addNote: ['notes:write'] },
      validateToken: createJwtValidator({ issuer, jwksUri: `${issuer}/jwks` }),
    },
  });
}
