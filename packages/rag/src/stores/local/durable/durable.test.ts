import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { appendFile, open, readdir, readFile, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { expectError } from '../../../../../../scripts/test-error.ts';
import { newFolder } from '../../../../../../scripts/test-folder.ts';
import { LocalVector } from '../index.js';
import { crc32, crc32InScript } from './log-format.js';

const sourceHooks = new URL('../../../../../../scripts/source-hooks.mjs', import.meta.url).href;
const indexName = 'docs';
let path: string;
beforeEach(async () => void (path = await newFolder()));

const logFile = (): string => join(path, `${indexName}.qvlog`);

async function write(change: (store: LocalVector) => Promise<unknown>): Promise<void> {
  await using store = new LocalVector({ path });
  await store.createIndex({ indexName, dimension: 2 });
  await change(store);
}

async function ids(): Promise<string[]> {
  await using store = new LocalVector({ path });
  return (await store.listVectors({ indexName })).records.map(({ id }) => id);
}

describe('LocalVector in a folder', () => {
  it('finds everything again after it was closed', async () => {
    await write(async (store) => {
      await store.upsert({
        indexName,
        ids: ['a', 'b'],
        vectors: [
          [1, 2],
          [3, 4],
        ],
        metadata: [{ n: 1 }, { n: 'ü€😀' }],
        documents: ['x', undefined],
      });
      await store.deleteVector({ indexName, id: 'a' });
      await store.upsert({ indexName, ids: ['c'], vectors: [[0.1, -0.2]] });
    });
    await using store = new LocalVector({ path });
    expect((await store.listVectors({ indexName, includeVector: true })).records).toEqual([
      { id: 'b', vector: [3, 4], metadata: { n: 'ü€😀' } },
      { id: 'c', vector: [Math.fround(0.1), Math.fround(-0.2)], metadata: {} },
    ]);
  });

  it('creates nothing when it only reads', async () => {
    await using store = new LocalVector({ path: join(path, 'missing') });
    expect(await store.listIndexes()).toEqual([]);
    await expect(stat(join(path, 'missing'))).rejects.toThrow('ENOENT');
  });

  it('lets one store write and others read what it writes', async () => {
    await using writer = new LocalVector({ path });
    await using reader = new LocalVector({ path });
    await writer.createIndex({ indexName, dimension: 2 });
    await writer.upsert({ indexName, ids: ['a'], vectors: [[1, 0]] });
    expect(await reader.describeIndex({ indexName })).toMatchObject({ count: 1 });
    await writer.upsert({ indexName, ids: ['b'], vectors: [[0, 1]] });
    expect(await reader.query({ indexName, queryVector: [0, 1], topK: 1 })).toMatchObject([{ id: 'b' }]);
    await expectError(reader.upsert({ indexName, vectors: [[1, 1]] }), 'VECTOR_STORE_LOCKED', String(process.pid));
    await writer.close();
    await reader.upsert({ indexName, ids: ['c'], vectors: [[1, 1]] });
    expect(await writer.describeIndex({ indexName })).toMatchObject({ count: 3 });
  });

  it('shows a reader an index that was deleted and made anew', async () => {
    await using writer = new LocalVector({ path });
    await using reader = new LocalVector({ path });
    await writer.createIndex({ indexName, dimension: 2 });
    await reader.describeIndex({ indexName });
    await writer.deleteIndex({ indexName });
    await expectError(reader.describeIndex({ indexName }), 'VECTOR_INDEX_NOT_FOUND');
    await writer.createIndex({ indexName, dimension: 5 });
    expect(await reader.describeIndex({ indexName })).toMatchObject({ dimension: 5 });
  });

  it('shows readers every state in order while they read at the same time as it is written', async () => {
    await using writer = new LocalVector({ path });
    await using reader = new LocalVector({ path });
    await writer.createIndex({ indexName, dimension: 2 });
    const progress = { isWriting: true };
    const writing = (async () => {
      for (let version = 1; version <= 200; version += 1) {
        await writer.upsert({
          indexName,
          ids: ['x', 'y'],
          vectors: [
            [version, 1],
            [version, 2],
          ],
          metadata: [{ version }, { version }],
        });
        if (version % 50 === 0) await writer.deleteVectors({ indexName, ids: ['y'] });
      }
    })();
    const seen: number[] = [];
    void writing.finally(() => (progress.isWriting = false));
    while (progress.isWriting) {
      const reads = await Promise.all(Array.from({ length: 4 }, () => reader.get({ indexName, ids: ['x'] })));
      seen.push(...reads.flatMap((records) => records.map(({ metadata }) => metadata['version'] as number)));
    }
    await writing;
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(await reader.get({ indexName, ids: ['x', 'y'] })).toMatchObject([{ metadata: { version: 200 } }]);
  });

  it('refuses a name that differs from an existing one only in case', async () => {
    await write(async (store) => {
      await expectError(store.createIndex({ indexName: 'DOCS', dimension: 2 }), 'OPTIONS_INVALID');
    });
  });

  it('has the same version in every process that reads the same records, also after a compaction', async () => {
    await using writer = new LocalVector({ path });
    await using reader = new LocalVector({ path });
    await writer.createIndex({ indexName, dimension: 2 });
    const versions = new Set<string | undefined>();
    const sizes: number[] = [];
    const ids = Array.from({ length: 100 }, (_, n) => String(n));
    for (let round = 0; round < 15; round += 1) {
      await writer.upsert({ indexName, ids, vectors: ids.map((_id, n) => [n, round + 1]) });
      const version = await writer.version({ indexName });
      expect(await reader.version({ indexName })).toBe(version);
      await using late = new LocalVector({ path });
      expect(await late.version({ indexName })).toBe(version);
      versions.add(version);
      sizes.push((await stat(logFile())).size);
    }
    expect(sizes.some((size, round) => size < (sizes[round - 1] ?? 0))).toBe(true);
    expect(versions.size).toBe(15);
  });

  it('writes derived data nowhere but beside their index', async () => {
    await using store = new LocalVector({ path });
    await store.createIndex({ indexName, dimension: 2 });
    for (const name of ['../graph', 'a/b', '', '.'])
      await expectError(store.derived!.write({ indexName, name, data: new Uint8Array(1) }), 'OPTIONS_INVALID');
    expect(new LocalVector().derived).toBeUndefined();
  });

  it('compacts a log that is mostly history', async () => {
    await using reader = new LocalVector({ path });
    await write(async (store) => {
      for (let round = 0; round < 30; round += 1) {
        const batch = Array.from({ length: 50 }, (_, n) => `id${n}`);
        await store.upsert({ indexName, ids: batch, vectors: batch.map(() => [round, 1]) });
        if (round === 1) await reader.describeIndex({ indexName });
      }
    });
    expect((await stat(logFile())).size).toBeLessThan(25_000);
    expect(await reader.get({ indexName, ids: ['id7'], includeVector: true })).toMatchObject([{ vector: [29, 1] }]);
    expect(await ids()).toHaveLength(50);
  });
});

describe('a log that was cut off', () => {
  it('loses the last, unfinished write and nothing else, wherever the cut is', async () => {
    await write((store) => store.upsert({ indexName, ids: ['a'], vectors: [[1, 2]] }));
    const before = (await stat(logFile())).size;
    await write((store) =>
      store.upsert({
        indexName,
        ids: ['b', 'c'],
        vectors: [
          [1, 2],
          [3, 4],
        ],
      }),
    );
    const whole = await readFile(logFile());
    for (let size = before; size < whole.byteLength; size += 1) {
      await writeFile(logFile(), whole.subarray(0, size));
      expect(await ids()).toEqual(['a']);
    }
    await write((store) => store.upsert({ indexName, ids: ['d'], vectors: [[5, 6]] }));
    expect(await ids()).toEqual(['a', 'd']);
  });

  it('ignores zeros that a file system left at the end', async () => {
    await write((store) => store.upsert({ indexName, ids: ['a'], vectors: [[1, 2]] }));
    await appendFile(logFile(), Buffer.alloc(5000));
    expect(await ids()).toEqual(['a']);
  });

  it('reports damage in the middle instead of losing what follows', async () => {
    await write(async (store) => {
      await store.upsert({ indexName, ids: ['a'], vectors: [[1, 2]] });
      await store.upsert({ indexName, ids: ['b'], vectors: [[3, 4]] });
    });
    const size = (await stat(logFile())).size;
    const undamaged = await readFile(logFile());
    for (let position = 0; position < size - 80; position += 7) {
      const handle = await open(logFile(), 'r+');
      await handle.write(Buffer.of((undamaged[position] as number) ^ 0x55), 0, 1, position);
      await handle.close();
      await expect(ids(), `byte ${position}`).rejects.toMatchObject({
        code: 'VECTOR_STORE_CORRUPT',
        message: expect.stringContaining('docs.qvlog'),
      });
      await writeFile(logFile(), undamaged);
    }
  });

  it.each([1, 3])('reports vectors of another dimension than that of the index: %d', async (dimension) => {
    const other = 'other';
    let start = 0;
    await write(async (store) => {
      await store.createIndex({ indexName: other, dimension });
      start = (await stat(join(path, `${other}.qvlog`))).size;
      await store.upsert({ indexName: other, ids: ['a', 'b'], vectors: [1, 2].map((n) => Array(dimension).fill(n)) });
    });
    await appendFile(logFile(), (await readFile(join(path, `${other}.qvlog`))).subarray(start));
    await expectError(ids(), 'VECTOR_STORE_CORRUPT', 'do not have the dimension of the index');
  });

  it('writes nothing more after a change that the memory has no room for', async () => {
    const upsert = (store: LocalVector, first: number, count: number): Promise<unknown> => {
      const numbers = Array.from({ length: count }, (_, place) => first + place);
      return store.upsert({ indexName, ids: numbers.map(String), vectors: numbers.map((number) => [number, 1]) });
    };
    await write(async (store) => {
      await upsert(store, 0, 4000);
      const { Float32Array: Original } = globalThis;
      const failing = new Proxy(Original, {
        construct(target, args: unknown[]) {
          // The buffer of the next 4,096 rows.
          if (args[0] === 2 * 4096) throw new RangeError('Array buffer allocation failed');
          return Reflect.construct(target, args) as object;
        },
      });
      vi.stubGlobal('Float32Array', failing);
      try {
        await expect(upsert(store, 4000, 200)).rejects.toThrow('allocation');
      } finally {
        vi.unstubAllGlobals();
      }
      await expectError(upsert(store, 4150, 50), 'VECTOR_STORE_UNUSABLE');
    });
    await using store = new LocalVector({ path });
    expect(await store.get({ indexName, ids: ['0', '4000', '4199'] })).toHaveLength(3);
    expect(await store.describeIndex({ indexName })).toMatchObject({ count: 4200 });
  });

  it('refuses a file that holds no index', async () => {
    await write(async () => undefined);
    await truncate(logFile(), 0);
    await expectError(ids(), 'VECTOR_STORE_CORRUPT');
  });
});

describe('a process that is killed while it writes', () => {
  const rounds = 8;
  const writer = fileURLToPath(new URL('killed-writer.fixture.ts', import.meta.url));
  it(`keeps every batch that it acknowledged and no half one (kill -9, ${rounds} times)`, async () => {
    let acknowledged = 0;
    for (let round = 0; round < rounds; round += 1) {
      const child = spawn(
        process.execPath,
        ['--conditions=@quiver/source', '--import', sourceHooks, writer, path, String(round)],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      );
      child.stdout.setEncoding('utf8').on('data', (text: string) => (acknowledged += text.split('\n').length - 1));
      const started = await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(() => undefined)]);
      expect(started, 'the writer must store at least one batch').toBeDefined();
      await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 60));
      child.kill('SIGKILL');
      await once(child, 'close');

      await using store = new LocalVector({ path });
      const batches = new Map<number, number>();
      for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
        const page = await store.listVectors({ indexName, ...(cursor !== undefined && { cursor }) });
        for (const { metadata } of page.records)
          batches.set(metadata['batch'], (batches.get(metadata['batch']) ?? 0) + 1);
        cursor = page.nextCursor;
      }
      expect([...batches.values()].every((size) => size === 50)).toBe(true);
      expect(batches.size).toBeGreaterThanOrEqual(acknowledged);
      expect(batches.size).toBeLessThanOrEqual(acknowledged + round + 1);
    }
  });
});

/** The lock file of the highest generation. */
async function lockFile(): Promise<string> {
  const generations = (await readdir(path)).flatMap((name) => /^writer\.lock\.(\d+)$/.exec(name)?.[1] ?? []);
  return join(path, `writer.lock.${Math.max(...generations.map(Number))}`);
}

describe('the lock of a folder', () => {
  const fixture = fileURLToPath(new URL('commanded-writer.fixture.ts', import.meta.url));
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  /** A process that stores one record for each id on its standard input, and prints `stored` or the code of the error. */
  async function startWriter(
    wrapper: readonly string[] = [],
  ): Promise<{ child: ChildProcess; store: (id: string) => Promise<string> }> {
    const [program = '', ...args] = [
      ...wrapper,
      process.execPath,
      '--conditions=@quiver/source',
      '--import',
      sourceHooks,
      fixture,
      path,
    ];
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    children.push(child);
    const store = async (id: string): Promise<string> => {
      child.stdin.write(`${id}\n`);
      const [line] = (await once(child.stdout, 'data')) as [Buffer];
      return line.toString().trim();
    };
    expect(await store('first')).toBe('stored');
    return { child, store };
  }

  it.runIf(existsSync('/proc/self/ns/pid'))(
    'excludes a writer in another PID namespace of the same host name',
    async () => {
      await startWriter(['unshare', '--pid', '--fork', '--kill-child', '--mount-proc']);
      await expectError(
        write((store) => store.truncateIndex({ indexName })),
        'VECTOR_STORE_LOCKED',
      );
      expect(await ids()).toEqual(['first']);
    },
  );

  it('is taken over at once from a process that was killed', async () => {
    const { child } = await startWriter();
    child.kill('SIGKILL');
    await once(child, 'close');
    await write((store) => store.upsert({ indexName, ids: ['second'], vectors: [[1, 2]] }));
    expect(await ids()).toEqual(['first', 'second']);
  });

  it('is lost by a writer that is suspended for too long, which stores nothing any more', async () => {
    const { child, store } = await startWriter();
    child.kill('SIGSTOP');
    const longAgo = new Date(Date.now() - 60_000);
    await utimes(await lockFile(), longAgo, longAgo);
    const before = (await stat(logFile())).ino;
    await using successor = new LocalVector({ path });
    await successor.upsert({ indexName, ids: ['second'], vectors: [[3, 4]] });
    // A write of the suspended process that was under way would reach the old file.
    expect((await stat(logFile())).ino).not.toBe(before);
    child.kill('SIGCONT');
    expect(await store('third')).toBe('VECTOR_STORE_LOCK_LOST');
    expect(await store('fourth')).toBe('VECTOR_STORE_LOCKED');
    await successor.upsert({ indexName, ids: ['fifth'], vectors: [[5, 6]] });
    await successor.close();
    expect(await store('sixth')).toBe('stored');
    expect(await ids()).toEqual(['fifth', 'first', 'second', 'sixth']);
  });

  it('keeps every acknowledged record while suspended writers wake up and are killed at random', async () => {
    const acknowledged: string[] = [];
    for (let round = 0; round < 6; round += 1) {
      const { child } = await startWriter();
      const name = (n: number): string => `${round}-${n}`;
      let printed = 0;
      const hasStored = new Promise<void>((resolve) => {
        child.stdout!.on('data', (text: Buffer) => {
          for (const line of text.toString().trim().split('\n')) {
            if (line === 'stored') acknowledged.push(name(printed));
            printed += 1;
          }
          if (printed >= 5) resolve();
        });
      });
      child.stdin!.write(Array.from({ length: 500 }, (_, n) => `${name(n)}\n`).join(''));
      // On a busy machine, the first record takes longer than the rest of the round.
      await hasStored;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 40));
      child.kill('SIGSTOP');
      const longAgo = new Date(Date.now() - 60_000);
      await utimes(await lockFile(), longAgo, longAgo);
      await write((store) => store.upsert({ indexName, ids: [`parent-${round}`], vectors: [[round, 1]] }));
      acknowledged.push(`parent-${round}`);
      child.kill('SIGCONT');
      await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 20));
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    const stored = new Set(await ids());
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
    expect(acknowledged.length).toBeGreaterThan(20);
  });
});

describe.runIf(process.platform === 'linux' && process.getuid?.() === 0)('a full disk', () => {
  beforeEach(async () => {
    await promisify(execFile)('mount', ['-t', 'tmpfs', '-o', 'size=512k', 'tmpfs', path]);
  });
  afterEach(() => promisify(execFile)('umount', [path]));

  it('fails the change with the path, and loses nothing', async () => {
    await using store = new LocalVector({ path });
    await store.createIndex({ indexName, dimension: 64 });
    const upsert = (id: string): Promise<unknown> =>
      store.upsert({
        indexName,
        ids: [id],
        vectors: [Array.from({ length: 64 }, () => 1)],
        documents: ['x'.repeat(50_000)],
      });
    const stored: string[] = [];
    const failure: unknown = await (async () => {
      for (let n = 10; ; n += 1) {
        await upsert(String(n));
        stored.push(String(n));
      }
    })().catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'VECTOR_STORE_FAILED',
      message: expect.stringContaining(logFile()),
      cause: { code: 'ENOSPC' },
      details: { path: logFile() },
    });
    expect(await ids()).toEqual(stored);
    // The store can be used again as soon as there is room.
    await store.truncateIndex({ indexName });
    await store.deleteIndex({ indexName });
    await store.createIndex({ indexName, dimension: 64 });
    await upsert('again');
    expect(await ids()).toEqual(['again']);
  });

  it('fails the creation of an index and of derived data with the path', async () => {
    await using store = new LocalVector({ path });
    await store.createIndex({ indexName, dimension: 2 });
    const data = new Uint8Array(600_000);
    await expect(store.derived?.write({ indexName, name: 'graph', data })).rejects.toMatchObject({
      code: 'VECTOR_STORE_FAILED',
      message: expect.stringContaining(path),
      cause: { code: 'ENOSPC' },
    });
    await writeFile(join(path, 'filler'), data).catch(() => {});
    await expect(store.createIndex({ indexName: 'other', dimension: 2 })).rejects.toMatchObject({
      code: 'VECTOR_STORE_FAILED',
      cause: { code: 'ENOSPC' },
    });
    expect(await store.listIndexes()).toEqual([indexName]);
  });
});

describe('crc32', () => {
  it('is the CRC of the standard, by both ways', () => {
    const bytes = Buffer.from('123456789');
    expect(crc32(bytes)).toBe(0xcb_f4_39_26);
    expect(crc32InScript(bytes)).toBe(0xcb_f4_39_26);
  });
});
