import { anyValue, checkOptions, type OptionChecks } from '@quiver/core/internal';
import type { OAuthClientMetadata } from '../../protocol/oauth-types.js';
import { MCPOAuthClientProvider, providerChecks } from './oauth-client-provider.js';
import type { MCPOAuthClientProviderOptions } from './sign-in-state.js';
import { createUserStorage } from './user-storage.js';

/** Port of the redirect URL. Registrations contain it, so it does not change between runs. */
const defaultPort = 33_419;

/** Options of `createLoopbackProvider()`. */
export interface LoopbackProviderOptions extends Omit<
  MCPOAuthClientProviderOptions,
  'redirectUrl' | 'clientMetadata' | 'tokenRequest'
> {
  /** Name that the consent page shows. Default `Quiver`. */
  clientName?: string;
  /** Port that `authenticate()` listens on. Default 33419. */
  port?: number;
}

const { redirectUrl: _url, clientMetadata: _metadata, tokenRequest: _request, ...inherited } = providerChecks;
const checks: OptionChecks<LoopbackProviderOptions> = { ...inherited, clientName: anyValue, port: anyValue };

/**
 * Returns a provider for a user at this computer: `mcp.authenticate(serverName)` listens on a loopback address, shows the sign-in page
 * and waits. Calls show no page. `auth: 'oauth'` in a server definition uses it with a file of the user as its storage.
 *
 * @example
 * const authProvider = createLoopbackProvider({ storage: new FileOAuthStorage({ path: '.tokens.json' }) });
 * const mcp = new MCPClient({ servers: { notes: { url: 'https://mcp.example.com/mcp', authProvider } } });
 * await mcp.authenticate('notes');
 */
export function createLoopbackProvider(given: LoopbackProviderOptions = {}): MCPOAuthClientProvider {
  checkOptions('createLoopbackProvider', given, checks);
  const { clientName, port, ...options } = given;
  const clientMetadata = describeClient(clientName, port);
  const redirectUrl = clientMetadata.redirect_uris[0] as string;
  return new MCPOAuthClientProvider({ ...options, redirectUrl, clientMetadata }, true);
}

/** Returns the provider of `auth: 'oauth'`: its tokens outlive the program. */
export function createUserProvider(serverUrl: URL): MCPOAuthClientProvider {
  return createLoopbackProvider({ storage: createUserStorage(serverUrl, describeClient()) });
}

function describeClient(name = 'Quiver', port = defaultPort): OAuthClientMetadata {
  return {
    redirect_uris: [`http://localhost:${port}/callback`],
    client_name: name,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
}
