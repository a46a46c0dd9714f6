import { anyValue, checkOptions, type OptionChecks } from '@quiver/core/internal';
import { MCPOAuthClientProvider, providerChecks } from './oauth-client-provider.js';
import type { MCPOAuthClientProviderOptions } from './sign-in-state.js';
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { getDefaultLogger } from '@quiver/core';
import { FileOAuthStorage } from './file-oauth-storage.js';
import { InMemoryOAuthStorage, type OAuthStorage } from './oauth-storage.js';

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
  const { clientName = 'Quiver', port = defaultPort, ...options } = given;
  const redirectUrl = `http://localhost:${port}/callback`;
  const clientMetadata = {
    redirect_uris: [redirectUrl],
    client_name: clientName,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
  return new MCPOAuthClientProvider({ ...options, redirectUrl, clientMetadata }, true);
}

/** Returns the provider of `auth: 'oauth'`: its tokens outlive the program. */
export function createUserProvider(serverUrl: URL): MCPOAuthClientProvider {
  return createLoopbackProvider({ storage: createUserStorage(serverUrl) });
}

/**
 * Returns the storage of one server: a file that only the user can read (mode 0600), in the folder `quiver/oauth` of `XDG_CONFIG_HOME`
 * (`~/.config`), on Windows of `APPDATA`. Each server has its own, so that one that is slow to refresh its token delays no other. A user
 * without a home has a storage in memory, and one log line.
 *
 * @see [XDG Base Directory Specification](https://specifications.freedesktop.org/basedir-spec/latest/)
 */
export function createUserStorage({ href }: URL): OAuthStorage {
  const file = `${createHash('sha256').update(href).digest('hex').slice(0, 32)}.json`;
  const folder = settingsFolder();
  if (folder !== undefined) return new FileOAuthStorage({ path: join(folder, 'quiver', 'oauth', file) });
  getDefaultLogger().warn(
    'The user has no home folder, so that OAuth tokens are kept in memory only. Set XDG_CONFIG_HOME.',
  );
  return new InMemoryOAuthStorage();
}

/** Returns `undefined` for a user without a home. */
function settingsFolder(): string | undefined {
  const { XDG_CONFIG_HOME: configured, APPDATA: ofWindows } = process.env;
  const known = configured || (process.platform === 'win32' && ofWindows);
  if (known) return known;
  try {
    const home = homedir();
    return home === '' ? undefined : join(home, '.config');
  } catch {
    return undefined;
  }
}
