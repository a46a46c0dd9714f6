// A web application whose agent reads and writes the notes of its users. Each user signs in at the MCP server once.
import { InMemoryStore } from '@quiver/mcp/server';
import { startAssistant } from './assistant.ts';
import { startAuthorizationServer } from './authorization-server.ts';
import { freePort } from './free-port.ts';
import { startProtectedServer } from './protected-server.ts';
import { rehearsedModel } from './rehearsed-model.ts';
import { visit, type Cookies } from './visit.ts';

const notesUrl = new URL(`http://localhost:${await freePort()}/mcp`);
const url = new URL(`http://localhost:${await freePort()}`);
const client = { client_id: 'assistant', client_secret: crypto.randomUUID() };
const authorizationServer = await startAuthorizationServer(notesUrl.href, [
  {
    ...client,
    client_name: 'Assistant',
    redirect_uris: [new URL('/callback', url).href],
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
    token_endpoint_auth_method: 'client_secret_basic',
  },
]);
const { issuer } = authorizationServer;
const server = await startProtectedServer(notesUrl, issuer);
const application = await startAssistant({
  url,
  notesUrl,
  model: rehearsedModel,
  store: new InMemoryStore(),
  encryptionKey: crypto.randomUUID(),
  issuer,
  client,
});

const browsers = new Map<string, Cookies>(['ada', 'bob'].map((user) => [user, new Map()]));
for (const [user, cookies] of browsers) await visit(new URL(`/login?user=${user}`, url), cookies);
for (const [user, message] of [
  ['ada', 'notes_listNotes'],
  ['bob', 'notes_listNotes'],
  ['ada', 'notes_addNote'],
  ['ada', 'notes_listNotes'],
  ['bob', 'notes_listNotes'],
] as const) {
  const text = await visit(new URL(`/?message=${message}`, url), browsers.get(user));
  console.log(`${user}, ${message}: ${text}`);
}

await application.close();
await server.close();
await authorizationServer.close();
