import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FileOAuthStorage } from '@quiver/mcp/auth';
import { describe, expect, it } from 'vitest';
import { scratchFolder } from '../../../test/scratch-folder.ts';

/** Returns the path of a file that does not exist yet. */
const newPath = (): string => join(scratchFolder(), 'deep', 'tokens.json');

describe('FileOAuthStorage', () => {
  it('keeps values for the next process, readable by its owner only', async () => {
    const path = newPath();
    const storage = new FileOAuthStorage({ path });
    expect(await storage.get('a')).toBeUndefined();
    await storage.set('a', '1');
    await storage.set('__proto__', '2');
    await storage.delete('none');
    const next = new FileOAuthStorage({ path });
    expect([await next.get('a'), await next.get('__proto__')]).toEqual(['1', '2']);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await next.delete('a');
    expect(await storage.get('a')).toBeUndefined();
    const others = (await readdir(dirname(path))).filter((name) => name !== 'tokens.json');
    expect(others.filter((name) => !/^tokens\.json\.write\.lock\.\d$/.test(name))).toEqual([]);
  });

  it('loses nothing when many write at once', async () => {
    const path = newPath();
    const storages = [new FileOAuthStorage({ path }), new FileOAuthStorage({ path })];
    await Promise.all(Array.from({ length: 20 }, (_, n) => storages[n % 2]?.set(`k${n}`, String(n))));
    for (let n = 0; n < 20; n += 1) expect(await storages[0]?.get(`k${n}`)).toBe(String(n));
  });

  it('reads every change of another process, also one of the same length', async () => {
    const path = newPath();
    const [reader, writer] = [new FileOAuthStorage({ path }), new FileOAuthStorage({ path })];
    for (let n = 100; n < 150; n += 1) {
      await writer.set('a', String(n));
      expect(await reader.get('a')).toBe(String(n));
    }
    await rm(path);
    expect(await reader.get('a')).toBeUndefined();
  });

  it('encrypts with a key, and neither opens nor overwrites a file without the right one', async () => {
    const path = newPath();
    const storage = new FileOAuthStorage({ path, encryptionKey: 'correct' });
    await storage.set('tokens', 's3cr3t');
    await storage.set('more', 'x');
    const bytes = await readFile(path, 'utf8');
    expect(bytes).not.toContain('s3cr3t');
    expect(await new FileOAuthStorage({ path, encryptionKey: 'correct' }).get('tokens')).toBe('s3cr3t');
    for (const other of [new FileOAuthStorage({ path, encryptionKey: 'wrong' }), new FileOAuthStorage({ path })]) {
      await expect(other.get('tokens')).rejects.toMatchObject({ code: 'OAUTH_STORAGE_UNREADABLE' });
      await expect(other.set('tokens', 'x')).rejects.toMatchObject({ code: 'OAUTH_STORAGE_UNREADABLE' });
    }
    expect(await readFile(path, 'utf8')).toBe(bytes);
  });

  it('reports a damaged file without quoting it', async () => {
    const path = newPath();
    await mkdir(dirname(path));
    await writeFile(path, '{"tokens":"s3cr3t');
    const error: unknown = await new FileOAuthStorage({ path }).get('tokens').catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'OAUTH_STORAGE_UNREADABLE' });
    expect(String(error)).not.toContain('s3cr3t');
  });

  it('runs one function at a time', async () => {
    const path = newPath();
    let inside = 0;
    let most = 0;
    const run = (storage: FileOAuthStorage): Promise<void> =>
      storage.exclusive(async () => {
        inside += 1;
        most = Math.max(most, inside);
        await new Promise((resolve) => setTimeout(resolve, 5));
        inside -= 1;
      });
    await Promise.all([1, 2, 3, 4].map(() => run(new FileOAuthStorage({ path }))));
    expect([most, inside]).toEqual([1, 0]);
  });
});
