// Calls a protected MCP server once, with the tokens of a file, in a separate process. Exits with 0 when the call was served.
// Arguments: URL of the server, path of the storage, redirect URL.
import { createOAuthFetch, FileOAuthStorage, MCPOAuthClientProvider } from '@quiver/mcp/auth';
import { initializeParams, rpc } from '../clients/wire.ts';

const [serverUrl = '', path = '', redirectUrl = ''] = process.argv.slice(2);
const provider = new MCPOAuthClientProvider({
  redirectUrl,
  clientMetadata: { redirect_uris: [redirectUrl] },
  storage: new FileOAuthStorage({ path }),
});
const response = await createOAuthFetch({ provider, serverUrl })(serverUrl, {
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  body: JSON.stringify(rpc('initialize', initializeParams)),
});
process.exit(response.status === 200 ? 0 : 1);
