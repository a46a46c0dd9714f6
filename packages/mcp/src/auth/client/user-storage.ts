import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { getDefaultLogger } from '@quiver/core';
import type { OAuthClientMetadata } from '../../protocol/oauth-types.js';
import { FileOAuthStorage } from './file-oauth-storage.js';
import { InMemoryOAuthStorage, type OAuthStorage } from './oauth-storage.js';

/**
 * Returns the storage of one client at one server: a file that only the user can read (mode 0600), in the folder `quiver/oauth` of
 * `XDG_CONFIG_HOME` (`~/.config`), on Windows of `APPDATA`. Each server, client and list of scopes has a file, so that one that is slow
 * to refresh its token delays no other. A user without a home has a storage in memory, and one log line.
 *
 * @see [XDG Base Directory Specification](https://specifications.freedesktop.org/basedir-spec/latest/)
 */
export function createUserStorage(serverUrl: URL, client: OAuthClientMetadata): OAuthStorage {
  const { client_name: name, redirect_uris: redirectUris, scope } = client;
  const key = JSON.stringify([serverUrl.href, name, redirectUris, scope?.split(' ').toSorted()]);
  const file = `${createHash('sha256').update(key).digest('hex').slice(0, 32)}.json`;
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
