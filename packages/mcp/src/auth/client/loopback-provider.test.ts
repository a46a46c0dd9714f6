import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { InMemoryOAuthStorage } from './oauth-storage.js';
import { createUserStorage } from './loopback-provider.js';
import { captureLog } from '../../../test/capture-log.ts';

const url = new URL('https://mcp.example.com/mcp');

test('has one file per server', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quiver-home-'));
  vi.stubEnv('XDG_CONFIG_HOME', folder);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    return rm(folder, { recursive: true });
  });
  await createUserStorage(url).set('tokens', 'of this one');
  expect(await createUserStorage(url).get('tokens')).toBe('of this one');
  expect(await createUserStorage(new URL('/other', url)).get('tokens')).toBeUndefined();
});

test('is in memory for a user without a home, and logs it', () => {
  for (const name of ['XDG_CONFIG_HOME', 'APPDATA', 'HOME', 'USERPROFILE']) vi.stubEnv(name, '');
  onTestFinished(() => void vi.unstubAllEnvs());
  const lines = captureLog('warn');
  expect(createUserStorage(url)).toBeInstanceOf(InMemoryOAuthStorage);
  expect(lines).toEqual([expect.stringContaining('no home folder')]);
});
