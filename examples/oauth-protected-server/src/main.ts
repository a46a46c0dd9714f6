// A protected MCP server, its authorization server, and a client that signs in.
//
//   node src/main.ts              opens the sign-in pages itself
//   node src/main.ts --browser    prints the URLs of the pages and waits for you
import { MCPOAuthClientProvider } from '@quiver/mcp/auth';
import { MCPClient } from '@quiver/mcp/client';
import { startAuthorizationServer } from './authorization-server.ts';
import { freePort } from './free-port.ts';
import { startProtectedServer } from './protected-server.ts';
import { visit } from './visit.ts';

const usesBrowser = process.argv.includes('--browser');
const url = new URL(`http://localhost:${await freePort()}/mcp`);
const redirectUrl = `http://localhost:${await freePort()}/callback`;

const authorizationServer = await startAuthorizationServer(url.href);
const server = await startProtectedServer(url, authorizationServer.issuer);

const anonymous = await fetch(url, { method: 'POST' });
console.log(`Without a token: ${anonymous.status}`);

const authProvider = new MCPOAuthClientProvider({
  redirectUrl,
  clientMetadata: {
    redirect_uris: [redirectUrl],
    application_type: 'native',
    client_name: 'Notes on the command line',
  },
  onRedirectToAuthorization: async (page) => {
    if (usesBrowser) console.log(`Please visit ${page.href}`);
    else await visit(page);
  },
});
const client = new MCPClient({ servers: { notes: { url, authProvider } } });
await client.authenticate('notes');
console.log('Signed in.');

const { notes_listNotes: listNotes, notes_addNote: addNote } = await client.listTools();
console.log('Notes:', JSON.stringify(await listNotes?.execute?.({}, {})));

// The token only has the read scope. Writing needs another scope, which the user approves once.
await client.authenticate('notes', { scope: 'notes:read notes:write' });
await addNote?.execute?.({}, {});
console.log('Notes:', JSON.stringify(await listNotes?.execute?.({}, {})));

await client.disconnect();
await server.close();
await authorizationServer.close();
