import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import { withFileLock } from './file-lock.js';

let folder: string;
let path: string;
const children: ChildProcess[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quiver-lock-'));
  path = join(folder, 'tokens.lock');
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await rm(folder, { recursive: true });
});

/** A process of its own that takes the lock and keeps it. */
async function holdElsewhere(): Promise<ChildProcess> {
  const loader = fileURLToPath(new URL('../../../../../scripts/source-hooks.mjs', import.meta.url));
  const module = JSON.stringify(new URL('./file-lock.ts', import.meta.url).href);
  const script = `const { withFileLock } = await import(${module});
    await withFileLock(${JSON.stringify(path)}, () => new Promise((resolve) => setTimeout(resolve, 60_000)));`;
  const child = spawn(process.execPath, ['--import', loader, '--input-type=module', '-e', script], {
    stdio: 'inherit',
  });
  children.push(child);
  await eventually(async () => expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ pid: child.pid }));
  return child;
}

describe('withFileLock', () => {
  it('lets one in at a time, whoever comes, and leaves nothing behind', async () => {
    let inside = 0;
    let most = 0;
    const run = async (): Promise<void> => {
      inside += 1;
      most = Math.max(most, inside);
      await sleep(2);
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 10 }, () => withFileLock(path, run)));
    expect([most, inside]).toEqual([1, 0]);
    expect(await readdir(folder)).toEqual([]);
  });

  it('is free again after a run that failed', async () => {
    await expect(withFileLock(path, () => Promise.reject(new Error('disk full')))).rejects.toThrow('disk full');
    expect(await withFileLock(path, async () => 'in')).toBe('in');
  });

  it('OC02 is kept from a process that lives, and free at once when that is killed', async () => {
    const holder = await holdElsewhere();
    let isIn = false;
    const waiting = withFileLock(path, async () => void (isIn = true), { staleAfter: 60_000 });
    await sleep(300);
    expect(isIn).toBe(false);
    holder.kill('SIGKILL');
    await waiting;
    expect(isIn).toBe(true);
  });

  it('OC02 is taken from a dead holder by one at a time, so that nobody removes the lock of whoever came first', async () => {
    const holder = await holdElsewhere();
    const dead = await readFile(path, 'utf8');
    let isIn = false;
    let waiting: Promise<void> | undefined;
    await withFileLock(`${path}.removal`, async () => {
      holder.kill('SIGKILL');
      waiting = withFileLock(path, async () => void (isIn = true));
      await sleep(200);
      // Another one is just about to remove it, and then takes it.
      expect([isIn, await readFile(path, 'utf8')]).toEqual([false, dead]);
      await writeFile(path, JSON.stringify({ pid: process.pid, host: hostname(), id: 'first' }));
    });
    await sleep(200);
    expect([isIn, await readFile(path, 'utf8')]).toEqual([false, expect.stringContaining('first')]);
    await rm(path);
    await waiting;
    expect(isIn).toBe(true);
  });

  it('OC02 is taken from a holder on another machine when that shows no sign of life', async () => {
    await writeFile(path, JSON.stringify({ pid: 1, host: `not-${hostname()}`, id: 'x' }));
    expect(await withFileLock(path, async () => 'in', { staleAfter: 100 })).toBe('in');
  });

  it('OC02 stays with a holder on another machine that does, however old its clock is', async () => {
    await writeFile(path, JSON.stringify({ pid: 1, host: `not-${hostname()}`, id: 'x' }));
    let time = 1000;
    const beat = setInterval(() => {
      time += 1;
      void utimes(path, time, time).catch(() => {});
    }, 20);
    let isIn = false;
    const waiting = withFileLock(path, async () => void (isIn = true), { staleAfter: 2000 });
    await sleep(500);
    expect(isIn).toBe(false);
    clearInterval(beat);
    await rm(path);
    await waiting;
  });

  it('shows that it lives while it runs', async () => {
    await withFileLock(
      path,
      async () => {
        await utimes(path, 1000, 1000);
        const { mtimeMs } = await stat(path);
        await eventually(async () => {
          expect((await stat(path)).mtimeMs).toBeGreaterThan(mtimeMs);
        });
      },
      { heartbeat: 20 },
    );
  });

  it('does not remove the lock of whoever took it meanwhile', async () => {
    const other = JSON.stringify({ pid: process.pid, host: hostname(), id: 'another' });
    await withFileLock(path, () => writeFile(path, other));
    expect(await readFile(path, 'utf8')).toBe(other);
  });
});
