import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from 'pg';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const run = promisify(execFile);

const story = [
  'legacy: served by 3 instances of 3',
  'legacy: Ordered 3.',
  'legacy: notified of a change',
  'legacy: after the end of the instance that asked: the result is unknown, 0 more orders',
  'legacy: notified of a change',
  'tasks: all completed, those of the instance that was killed at another one',
  'modern: served by 2 instances of 2',
  'modern: Ordered 3.',
  'modern: notified of a change',
  'modern: after the end of the instance that asked: Ordered 3., 1 more orders',
  'modern: notified of a change',
];

describe('three processes behind a balancer without stickiness', { concurrency: true, timeout: 180_000 }, () => {
  for (const variable of ['QUIVER_POSTGRES_URL', 'QUIVER_REDIS_URL']) {
    const url = process.env[variable];
    const name = `${variable.toLowerCase()}_${process.pid}`;
    test(
      `serve sessions, questions and subscriptions, with ${variable}`,
      {
        skip: url === undefined && `${variable} is not set`,
      },
      async () => {
        const args = [...process.execArgv.filter((arg) => !arg.startsWith('--test')), main, url as string, name];
        const { stdout } = await run(process.execPath, args).finally(() => removeTables(name));
        assert.deepEqual(stdout.trim().split('\n'), story);
      },
    );
  }
});

/** The tables of `PostgresStore`; the keys in Redis are few. */
async function removeTables(name: string): Promise<void> {
  const client = new Client({ connectionString: process.env['QUIVER_POSTGRES_URL'] });
  if (process.env['QUIVER_POSTGRES_URL'] === undefined) return;
  await client.connect();
  const { rows } = await client.query('SELECT tablename FROM pg_tables WHERE starts_with(tablename, $1)', [`${name}_`]);
  for (const { tablename } of rows as { tablename: string }[]) await client.query(`DROP TABLE IF EXISTS ${tablename}`);
  await client.end();
}
