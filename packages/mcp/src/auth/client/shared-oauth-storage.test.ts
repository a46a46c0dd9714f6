import { createOAuthFetch, SharedOAuthStorage, type SharedOAuthStorageOptions } from '@quiver/mcp/auth';
import { InMemoryStore } from '@quiver/mcp/server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { StoredValues } from './oauth-storage.js';
import { errorOf } from '../../../test/error-of.ts';
import { setUp } from '../../../test/oauth/oauth-stage.ts';

/** Everything that a store contains, as text. */
async function contentOf(store: InMemoryStore): Promise<string> {
  const keys = await store.keys('');
  const values = await Promise.all(keys.map(async (key) => (await store.get(key))?.value));
  return JSON.stringify([keys, values]);
}

describe('SharedOAuthStorage', () => {
  it('keeps values for other processes of the same owner, and for no other owner', async () => {
    const store = new InMemoryStore();
    const storage = new SharedOAuthStorage({ store, owner: 'ada' });
    expect(await storage.get('tokens')).toBeUndefined();
    await storage.set('tokens', 's3cr3t ✓');
    await storage.set('', 'empty name');
    await storage.set('\0 \uD800'.repeat(1000), 'any name');
    const next = new SharedOAuthStorage({ store, owner: 'ada' });
    expect(await next.get('tokens')).toBe('s3cr3t ✓');
    expect(await next.get('')).toBe('empty name');
    expect(await next.get('\0 \uD800'.repeat(1000))).toBe('any name');
    expect(await new SharedOAuthStorage({ store, owner: 'bob' }).get('tokens')).toBeUndefined();
    await next.delete('tokens');
    await next.delete('none');
    expect(await storage.get('tokens')).toBeUndefined();
  });

  it('stores neither names nor, with a key, values in plain text', async () => {
    const store = new InMemoryStore();
    const open = (encryptionKey?: string) => new SharedOAuthStorage({ store, owner: 'ada', encryptionKey });
    await open('correct').set('tokens:https://mcp.example.com/?key=s3cr3t', 's3cr3t');
    expect(await contentOf(store)).not.toMatch(/s3cr3t|ada/);
    expect(await open('correct').get('tokens:https://mcp.example.com/?key=s3cr3t')).toBe('s3cr3t');
    for (const other of [open('wrong'), open()]) {
      const error: unknown = await other.get('tokens:https://mcp.example.com/?key=s3cr3t').catch((reason) => reason);
      expect(error).toMatchObject({ code: 'OAUTH_STORAGE_UNREADABLE' });
      expect(String(error)).not.toContain('s3cr3t');
    }
    await open().set('plain', 'x');
    await expect(open('correct').get('plain')).rejects.toMatchObject({ code: 'OAUTH_STORAGE_UNREADABLE' });
  });

  it('derives the key once for the storages of all users, without blocking', async () => {
    const actual = await import('node:crypto');
    const crypto = { ...actual, scrypt: vi.fn(actual.scrypt), scryptSync: vi.fn(actual.scryptSync) };
    vi.resetModules();
    vi.doMock('node:crypto', () => crypto);
    onTestFinished(() => {
      vi.doUnmock('node:crypto');
      vi.resetModules();
    });
    const { SharedOAuthStorage } = await import('@quiver/mcp/auth');
    const store = new InMemoryStore();
    const open = (owner: string) => new SharedOAuthStorage({ store, owner, encryptionKey: 'of many users' });
    await Promise.all(['ada', 'bob'].map((owner) => open(owner).set('tokens', owner)));
    expect(await Promise.all(['ada', 'bob', 'ada'].map((owner) => open(owner).get('tokens')))).toEqual([
      'ada',
      'bob',
      'ada',
    ]);
    expect(crypto.scryptSync).not.toHaveBeenCalled();
    expect(crypto.scrypt).toHaveBeenCalledTimes(1);
  });

  it('keeps the order of a write and a deletion that are not awaited', async () => {
    const store = new InMemoryStore();
    const open = () => new SharedOAuthStorage({ store, owner: 'ada', encryptionKey: 'not derived yet' });
    for (const _ of ['before the key is derived', 'with a derived key']) {
      await Promise.all([open().set('tokens', 'of a refresh'), open().delete('tokens')]);
      expect(await open().get('tokens')).toBeUndefined();
    }
  });

  it('rejects a record that was damaged or copied to another name', async () => {
    const store = new InMemoryStore();
    const storage = new SharedOAuthStorage({ store, owner: 'ada', encryptionKey: 'key' });
    await storage.set('a', 'value of a');
    const [a = ''] = await store.keys('oauth/');
    await storage.set('b', 'value of b');
    const b = (await store.keys('oauth/')).find((key) => key !== a) ?? '';
    await store.put(b, (await store.get(a))?.value ?? '');
    await expect(storage.get('b')).rejects.toMatchObject({ code: 'OAUTH_STORAGE_UNREADABLE' });
    for (const damaged of ['', '{', '1', '{"text":1}', '{"sealed":"x","salt":"","iv":"","tag":""}']) {
      await store.put(b, damaged);
      await expect(storage.get('b')).rejects.toMatchObject({ code: 'OAUTH_STORAGE_UNREADABLE' });
      await storage.exclusive(() => storage.set('b', 'new'));
      expect(await storage.get('b')).toBe('new');
    }
  });

  it('runs one function at a time among all storages of an owner', async () => {
    const store = new InMemoryStore();
    const storages = [0, 1].map(() => new SharedOAuthStorage({ store, owner: 'ada' }));
    let inside = 0;
    let most = 0;
    const run = async (): Promise<void> => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setTimeout(resolve, 1));
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 6 }, (_, turn) => storages[turn % 2]?.exclusive(run)));
    expect(most).toBe(1);
    await expect(storages[0]?.exclusive(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(await storages[1]?.exclusive(async () => 'next')).toBe('next');
  });

  it('keeps newer values when a suspended process continues', async () => {
    let now = 0;
    const store = new InMemoryStore(() => now);
    const suspended = new SharedOAuthStorage({ store, owner: 'ada', encryptionKey: 'key' });
    const other = new SharedOAuthStorage({ store, owner: 'ada', encryptionKey: 'key' });
    await other.set('tokens', 'old');
    await suspended.exclusive(async () => {
      expect(await suspended.get('tokens')).toBe('old');
      now = 60_000;
      await other.exclusive(() => other.set('tokens', 'newer'));
      for (const late of [suspended.set('tokens', 'late'), suspended.delete('tokens')])
        await expect(late).rejects.toMatchObject({ code: 'SHARED_STORE_LOCK_LOST' });
      await suspended.set('other', 'unaffected');
    });
    expect(await other.get('tokens')).toBe('newer');
    expect(await other.get('other')).toBe('unaffected');
    await other.exclusive(() => other.delete('tokens'));
    expect(await suspended.get('tokens')).toBeUndefined();
    await other.exclusive(() => other.delete('tokens'));
  });

  it('reads the newer tokens after a suspended process could not write its own', async () => {
    let now = 0;
    const store = new InMemoryStore(() => now);
    const open = (): [SharedOAuthStorage, StoredValues] => {
      const storage = new SharedOAuthStorage({ store, owner: 'ada' });
      return [storage, new StoredValues(storage, { debug() {}, info() {}, warn() {}, error() {} })];
    };
    const [[suspended, values], [other, newer]] = [open(), open()];
    await suspended.exclusive(async () => {
      now = 60_000;
      await other.exclusive(() => newer.write('tokens', { access_token: 'newer' }));
      await values.write('tokens', { access_token: 'late' });
    });
    expect(await values.read('tokens')).toEqual({ access_token: 'newer' });
  });

  it('refreshes an expired token once for several processes', async () => {
    const stage = await setUp();
    const store = new InMemoryStore();
    const open = (): SharedOAuthStorage => new SharedOAuthStorage({ store, owner: 'ada', encryptionKey: 'key' });
    const { user, fetch } = await stage.begin({ storage: open() });
    await stage.signIn(user);
    const others = [0, 1, 2].map(() =>
      createOAuthFetch({ provider: stage.provider({ storage: open() }), serverUrl: stage.mcp.url }),
    );
    stage.as.active.clear();
    const responses = await Promise.all([fetch, ...others].map((each) => stage.call(each)));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(stage.as.tokenRequests.filter((form) => form.get('grant_type') === 'refresh_token')).toHaveLength(1);
    // Neither a refresh token nor an access token is readable.
    expect(await contentOf(store)).not.toMatch(/token/i);
  });

  it.each<[string, Partial<SharedOAuthStorageOptions>]>([
    ['no owner', { owner: undefined as never }],
    ['an empty owner', { owner: '' }],
    ['an empty key', { encryptionKey: '' }],
  ])('rejects %s', (_kind, options) => {
    const store = new InMemoryStore();
    expect(() => new SharedOAuthStorage({ store, owner: 'ada', ...options })).toThrow(errorOf('OPTIONS_INVALID'));
  });
});
