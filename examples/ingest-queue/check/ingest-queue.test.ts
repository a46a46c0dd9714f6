import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createLexicalEmbedder, ingest } from '@quiver/rag';
import { loadDocuments } from '@quiver/loaders';
import { PgVector } from '@quiver/rag/pg';
import { createClient } from '@redis/client';
import { Client } from 'pg';

const { QUIVER_POSTGRES_URL: postgresUrl, QUIVER_REDIS_URL: redisUrl } = process.env;
const run = `ingest_queue_${process.pid}_${Date.now()}`;

for (const [recipe, skip] of [
  ['bullmq', (!redisUrl || !postgresUrl) && 'QUIVER_REDIS_URL or QUIVER_POSTGRES_URL is not set'],
  ['pg-boss', !postgresUrl && 'QUIVER_POSTGRES_URL is not set'],
] as const) {
  describe(`ingestion by ${recipe}`, { skip, timeout: 120_000 }, () => {
    const indexName = `${run}_${recipe.replace('-', '_')}`;
    const whole = `${indexName}_whole`;
    const running = new Set<ChildProcess>();

    after(async () => {
      for (const child of running) child.kill('SIGKILL');
      const store = openStore();
      for (const name of [indexName, whole]) await store.deleteIndex({ indexName: name }).catch(() => undefined);
      await store.close();
      await forget(indexName);
    });

    test('leaves the index of one process, although workers are killed', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'quiver-queue-'));
      const start = (command: string): ChildProcess => {
        const program = fileURLToPath(new URL(`../src/${recipe}.ts`, import.meta.url));
        const env = {
          ...process.env,
          FOLDER: folder,
          INDEX: indexName,
          PREFIX: indexName,
          SCHEMA: indexName,
          RECOVERY: '3',
        };
        const child = spawn(process.execPath, [program, command], { env, stdio: ['ignore', 'pipe', 'inherit'] });
        running.add(child);
        child.on('exit', () => running.delete(child));
        return child;
      };
      const runPlan = async (): Promise<string> => {
        await line(start('plan'), /^planned/);
        const killed = start('work');
        await line(killed, /^part/);
        killed.kill('SIGKILL');
        const worker = start('work');
        const finished = await line(worker, /^finished/);
        worker.kill('SIGTERM');
        await once(worker, 'exit');
        return finished;
      };
      try {
        for (let n = 0; n < 60; n += 1)
          await writeFile(join(folder, `${n}.md`), `# Guide ${n}\n\nText ${n}.\n\n## Part\n\nMore.`);
        await runPlan();
        await compare(folder);

        await rm(join(folder, '7.md'));
        await writeFile(join(folder, '8.md'), '# Guide 8\n\nNew text.');
        await writeFile(join(folder, '60.md'), '# Guide 60\n\nText.');
        assert.match(await runPlan(), /"missing":\[\]/);
        await compare(folder);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });

    /** Compares the index with that of one process. */
    async function compare(folder: string): Promise<void> {
      const store = openStore();
      try {
        const embedder = createLexicalEmbedder();
        await ingest({
          documents: loadDocuments(folder),
          vectorStore: store,
          indexName: whole,
          model: embedder,
          cleanup: 'all',
        });
        assert.deepEqual(await recordsOf(store, indexName), await recordsOf(store, whole));
      } finally {
        await store.close();
      }
    }
  });
}

function openStore(): PgVector {
  return new PgVector({ id: 'check', connectionString: postgresUrl as string });
}

async function recordsOf(store: PgVector, indexName: string): Promise<unknown[]> {
  const { records } = await store.listVectors({ indexName, includeVector: true, limit: 1000 });
  return records.toSorted((first, second) => (first.id < second.id ? -1 : 1));
}

/** The first line of the output that matches. */
async function line({ stdout }: ChildProcess, pattern: RegExp): Promise<string> {
  assert.ok(stdout);
  const lines: string[] = [];
  for await (const text of createInterface({ input: stdout })) {
    if (pattern.test(text)) return text;
    lines.push(text);
  }
  return assert.fail(`The program ended without ${pattern}: ${lines.join(' | ')}`);
}

/** Removes what the queues stored. */
async function forget(name: string): Promise<void> {
  const database = new Client({ connectionString: postgresUrl as string });
  await database.connect();
  await database.query(`DROP SCHEMA IF EXISTS "${name}" CASCADE`);
  await database.end();
  if (redisUrl === undefined) return;
  const redis = createClient({ url: redisUrl });
  await redis.connect();
  const keys = await redis.keys(`${name}:*`);
  if (keys.length > 0) await redis.del(keys);
  await redis.close();
}
