import { InMemoryOAuthStorage, MCPOAuthClientProvider } from '@quiver/mcp/auth';
import { describe, expect, it } from 'vitest';
import { clientMetadata, redirectUrl, setUp } from '../../../test/oauth/oauth-stage.ts';
import { StoredValues } from './oauth-storage.js';

describe('MCPOAuthClientProvider with a storage that fails', () => {
  it.each<[string, () => string]>([
    ['garbage', () => 'garbage'],
    ['half JSON', () => '{"access_token":"s3cr3t'],
    ['a number', () => '1'],
    ['a prototype', () => '{"__proto__":{"access_token":"a","token_type":"Bearer"}}'],
    [
      'an exception',
      () => {
        throw new Error('disk');
      },
    ],
  ])('treats %s as empty, with one warning at most', async (_what, get) => {
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, warn: (message: string) => void warnings.push(message), error() {} };
    const provider = new MCPOAuthClientProvider({
      redirectUrl,
      clientMetadata,
      logger,
      storage: { get, set() {}, delete() {} },
    });
    expect(await provider.tokens()).toBeUndefined();
    expect(await provider.clientInformation()).toBeUndefined();
    expect(await provider.hasValidTokens()).toBe(false);
    expect(warnings.length).toBeLessThan(2);
    expect(warnings.join('')).not.toContain('s3cr3t');
    expect(({} as { access_token?: string }).access_token).toBeUndefined();
  });

  it('signs in when the storage cannot be written', async () => {
    const stage = await setUp();
    const full = {
      get: () => undefined,
      set: () => Promise.reject(new Error('disk full')),
      delete: () => Promise.reject(new Error('disk full')),
    };
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, warn: (message: string) => void warnings.push(message), error() {} };
    const { user, fetch } = await stage.begin({ storage: full, logger });
    await stage.signIn(user);
    expect((await stage.call(fetch)).status).toBe(200);
    expect(warnings).toHaveLength(1);
  });

  it('logs neither the value that an error of the storage quotes nor the query of the server', async () => {
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, warn: (message: string) => void warnings.push(message), error() {} };
    const storage = {
      get: () => undefined,
      set: (_key: string, value: string) => Promise.reject(new Error(`Failed query: insert, params: ${value}`)),
      delete() {},
    };
    const provider = new MCPOAuthClientProvider({ redirectUrl, clientMetadata, logger, storage });
    provider.bind('https://mcp.example.com/mcp?api_key=s3cr3t-key');
    await provider.saveTokens({ access_token: 'secret-token-of-ada', token_type: 'Bearer' });
    expect(warnings).toEqual([expect.stringContaining('Failed query: insert, params: [token]')]);
    expect(warnings.join('')).not.toMatch(/secret-tok|s3cr3t/);
    expect(() => provider.bind('https://mcp.example.com/mcp?api_key=k3y-2')).toThrow(
      expect.objectContaining({ message: expect.not.stringMatching(/s3cr3t|k3y-2/) as string }) as Error,
    );
  });

  it('runs without a lock when the storage cannot lock, and never runs a failed function again', async () => {
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, warn: (message: string) => void warnings.push(message), error() {} };
    const storage = new InMemoryOAuthStorage();
    const readOnly = Object.assign(storage, { exclusive: () => Promise.reject(new Error('read-only file system')) });
    const values = new StoredValues(readOnly, logger);
    expect(await values.exclusive(async () => 'done')).toBe('done');
    expect(warnings).toEqual([expect.stringContaining('read-only file system')]);
    let runs = 0;
    const leaky = Object.assign(new InMemoryOAuthStorage(), {
      exclusive: async <Result>(run: () => Promise<Result>): Promise<Result> => {
        await run().catch(() => {});
        throw new Error('The lock was not released.');
      },
    });
    const run = (): Promise<never> => {
      runs += 1;
      return Promise.reject(new Error('refused'));
    };
    await expect(new StoredValues(leaky, logger).exclusive(run)).rejects.toThrow('refused');
    expect(runs).toBe(1);
  });
});
