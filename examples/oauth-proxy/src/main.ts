// An MCP server whose users sign in with GitHub, Google or Microsoft, by an authorization server of its own in front of these.
import { entra, github, google, type IdentityProvider } from './identity-providers.ts';
import { startOAuthProxy } from './oauth-proxy.ts';
import { startProtectedServer } from './protected-server.ts';

const { ISSUER: issuer = 'http://localhost:3001', RESOURCE: resource = 'http://localhost:3000/mcp' } = process.env;

const known = { github, google, entra: entra.bind(undefined, process.env['ENTRA_TENANT_ID'] ?? '') };
const providers: Record<string, IdentityProvider> = {};
for (const [name, create] of Object.entries(known)) {
  const clientId = process.env[`${name.toUpperCase()}_CLIENT_ID`];
  const clientSecret = process.env[`${name.toUpperCase()}_CLIENT_SECRET`];
  if (clientId && clientSecret) providers[name] = create({ clientId, clientSecret });
}
if (Object.keys(providers).length === 0) throw new Error('Set GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET.');

await startOAuthProxy({ issuer, resource, providers });
await startProtectedServer(resource, issuer);
console.log(`MCP server: ${resource}, sign-in with ${Object.keys(providers).join(', ')} at ${issuer}`);
