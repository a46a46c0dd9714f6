import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { newFolder } from '../../../scripts/test-folder.ts';
import { acquireFileLock, withFileLock } from './file-lock.js';

let folder: string;
let path: string;
const children: ChildProcess[] = [];
beforeEach(async () => {
  folder = await newFolder();
  path = join(folder, 'data.lock');
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await rm(folder, { recursive: true, maxRetries: 5 });
});

const loader = fileURLToPath(new URL('../../../scripts/source-hooks.mjs', import.meta.url));
const newPidNamespace = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc', '--map-root-user'];

/** Runs a script in another process, with the module under test and the paths of this test in scope. */
function runElsewhere(script: string, wrapper: readonly string[] = []): ChildProcess {
  const source = `import { appendFile, readFile, rename, writeFile } from 'node:fs/promises';
    import { setTimeout as sleep } from 'node:timers/promises';
    const { acquireFileLock, withFileLock } = await import(${JSON.stringify(new URL('./file-lock.ts', import.meta.url).href)});
    const path = ${JSON.stringify(path)};
    const data = ${JSON.stringify(join(folder, 'data'))};
    ${script}`;
  const node = [process.execPath, '--import', loader, '--input-type=module', '-e', source];
  const [program = '', ...rest] = [...wrapper, ...node];
  const child = spawn(program, rest, { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  return child;
}

async function nextLine(child: ChildProcess): Promise<string> {
  const [chunk] = (await once(child.stdout!, 'data')) as [Buffer];
  return chunk.toString().trim();
}

const hold = `const lock = await acquireFileLock(path, { staleAfter: 60_000 });
  console.log(process.pid);
  await sleep(60_000);`;

/** Commits `count` increments, each by the replacement of a file, and appends each committed number to a log. */
const increment = (count: number): string => `
  for (let round = 0; round < ${count}; round += 1) {
    await withFileLock(path, async (lock) => {
      const value = 1 + Number(await readFile(data, 'utf8').catch(() => '0'));
      await sleep(1);
      await writeFile(data + process.pid, String(value));
      await lock.requireHeld();
      await rename(data + process.pid, data);
      await appendFile(data + '.log', value + '\\n');
    });
  }`;

async function loggedNumbers(): Promise<number[]> {
  return (await readFile(join(folder, 'data.log'), 'utf8')).trim().split('\n').map(Number);
}

describe('withFileLock', () => {
  it('runs one function at a time', async () => {
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
  });

  it('frees the lock after a function that fails', async () => {
    await expect(withFileLock(path, () => Promise.reject(new Error('disk full')))).rejects.toThrow('disk full');
    expect(await withFileLock(path, async () => 'in')).toBe('in');
  });

  it('loses no update of processes that compete for the lock', async () => {
    const exits = [1, 2, 3, 4].map(() => once(runElsewhere(increment(15)), 'close'));
    expect((await Promise.all(exits)).map(([code]) => code as number)).toEqual([0, 0, 0, 0]);
    expect(await loggedNumbers()).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
  });

  it('loses no update when processes are killed at random moments', async () => {
    for (let round = 0; round < 6; round += 1) {
      const pair = [runElsewhere(increment(1_000_000)), runElsewhere(increment(1_000_000))];
      const log = join(folder, 'data.log');
      const before = await readFile(log, 'utf8').catch(() => '');
      await vi.waitFor(async () => expect((await readFile(log, 'utf8')).length).toBeGreaterThan(before.length), 20_000);
      await sleep(Math.random() * 100);
      for (const child of pair) child.kill('SIGKILL');
      await Promise.all(pair.map((child) => once(child, 'close')));
    }
    const numbers = await loggedNumbers();
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  });
});

describe('acquireFileLock', () => {
  it('leaves two files however often the lock is taken, and removes old probes', async () => {
    const probe = `${path}.${crypto.randomUUID()}`;
    await writeFile(probe, '');
    await utimes(probe, 1000, 1000);
    for (let round = 0; round < 4; round += 1) await (await acquireFileLock(path)).release();
    expect((await readdir(folder)).sort()).toEqual(['data.lock.3', 'data.lock.4']);
  });

  it('gives every owner a higher generation', async () => {
    const first = await acquireFileLock(path);
    await first.release();
    expect((await acquireFileLock(path)).generation).toBeGreaterThan(first.generation);
  });

  it('reports the holder when it must not wait', async () => {
    await acquireFileLock(path);
    await expect(acquireFileLock(path, { wait: false })).rejects.toMatchObject({
      code: 'FILE_LOCK_HELD',
      details: { path, pid: process.pid, host: hostname() },
    });
  });

  it('takes the lock of a killed process over at once', async () => {
    const holder = runElsewhere(hold);
    await nextLine(holder);
    await expect(acquireFileLock(path, { wait: false })).rejects.toMatchObject({ code: 'FILE_LOCK_HELD' });
    holder.kill('SIGKILL');
    await once(holder, 'close');
    await acquireFileLock(path, { wait: false });
  });

  it('takes the lock of a process on another host over when its heartbeat is old', async () => {
    const owner = { id: 'x', pid: process.pid, host: `not-${hostname()}`, space: 'another boot' };
    await writeFile(`${path}.7`, JSON.stringify(owner));
    await expect(acquireFileLock(path, { wait: false })).rejects.toMatchObject({ code: 'FILE_LOCK_HELD' });
    const old = Date.now() / 1000 - 31;
    await utimes(`${path}.7`, old, old);
    expect((await acquireFileLock(path, { wait: false })).generation).toBe(8);
  });

  it('respects a lock file without content until it is old', async () => {
    await writeFile(`${path}.1`, '');
    await expect(acquireFileLock(path, { wait: false })).rejects.toMatchObject({ code: 'FILE_LOCK_HELD' });
    await utimes(`${path}.1`, 1000, 1000);
    await acquireFileLock(path, { wait: false });
  });

  it('renews its file while the lock is held', async () => {
    const lock = await acquireFileLock(path, { staleAfter: 80 });
    await utimes(`${path}.1`, 1000, 1000);
    await vi.waitFor(async () => expect((await stat(`${path}.1`)).mtimeMs).toBeGreaterThan(2_000_000), 10_000);
    await lock.release();
  });

  it('separates containers that have the same host name and process ids', async ({ skip }) => {
    if (spawnSync('unshare', [...newPidNamespace.slice(1), 'true']).status !== 0) {
      skip('This machine does not permit PID namespaces.');
    }
    const holder = runElsewhere(hold, newPidNamespace);
    const contender = runElsewhere(
      `process.stdin.once('data', async () => {
        const { code } = await acquireFileLock(path, { wait: false }).catch((error) => error);
        console.log(process.pid, code);
        process.exit();
      });`,
      newPidNamespace,
    );
    const pid = await nextLine(holder);
    contender.stdin!.write('go\n');
    expect(await nextLine(contender)).toBe(`${pid} FILE_LOCK_HELD`);
    const exits = [1, 2].map(() =>
      once(runElsewhere(increment(10).replace(/path,/, `path + '2',`), newPidNamespace), 'close'),
    );
    await Promise.all(exits);
    expect(await loggedNumbers()).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });
});

describe('requireHeld', () => {
  it('rejects the commit of a process that was stopped until its lock became stale', async () => {
    const owner = runElsewhere(`
      const lock = await acquireFileLock(path, { staleAfter: 200 });
      await lock.requireHeld();
      console.log('held');
      process.stdin.once('data', async () => {
        const { code } = await lock.requireHeld().catch((error) => error);
        await lock.release();
        console.log(code);
        process.exit();
      });`);
    expect(await nextLine(owner)).toBe('held');
    owner.kill('SIGSTOP');
    const lock = await acquireFileLock(path, { staleAfter: 200 });
    owner.kill('SIGCONT');
    owner.stdin!.write('commit\n');
    expect(await nextLine(owner)).toBe('FILE_LOCK_LOST');
    await lock.requireHeld();
    await lock.release();
  });

  it('rejects the commit of an owner whose generation was removed', async () => {
    const lock = await acquireFileLock(path);
    await rm(`${path}.1`);
    await appendFile(`${path}.4`, '');
    await expect(lock.requireHeld()).rejects.toMatchObject({ code: 'FILE_LOCK_LOST' });
    await lock.release();
    expect(await readdir(folder)).toEqual(['data.lock.4']);
  });
});
