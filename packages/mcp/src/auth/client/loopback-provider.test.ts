import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getDefaultLogger, setDefaultLogger } from '@quiver/core';
import { expect, onTestFinished, test, vi } from 'vitest';
import { InMemoryOAuthStorage } from './oauth-storage.js';
import { createUserStorage } from './loopback-provider.js';

const url = new URL('https://mcp.example.com/mcp');
const client = { client_name: 'Quiver', redirect_uris: ['http://localhost:33419/callback'], scope: 'read write' };

test('has one file per server, client and list of scopes', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quiver-home-'));
  vi.stubEnv('XDG_CONFIG_HOME', folder);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    return rm(folder, { recursive: true });
  });
  await createUserStorage(url, client).set('tokens', 'of this one');
  const read = (to: URL, as: typeof client) => createUserStorage(to, as).get('tokens');
  expect(await read(url, client)).toBe('of this one');
  expect(await read(url, { ...client, scope: 'write read' })).toBe('of this one');
  expect(await read(url, { ...client, scope: 'read' })).toBeUndefined();
  expect(await read(url, { ...client, client_name: 'Another' })).toBeUndefined();
  expect(await read(new URL('/other', url), client)).toBeUndefined();
});

test('is in memory for a user without a home, and logs it', () => {
  for (const name of ['XDG_CONFIG_HOME', 'APPDATA', 'HOME', 'USERPROFILE']) vi.stubEnv(name, '');
  const usual = getDefaultLogger();
  const lines: string[] = [];
  setDefaultLogger({ ...usual, warn: (line) => void lines.push(line) });
  onTestFinished(() => {
    setDefaultLogger(usual);
    vi.unstubAllEnvs();
  });
  expect(createUserStorage(url, client)).toBeInstanceOf(InMemoryOAuthStorage);
  expect(lines).toEqual([expect.stringContaining('no home folder')]);
});
