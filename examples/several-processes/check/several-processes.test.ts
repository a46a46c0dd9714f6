import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from 'pg';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const run = promisify(execFile);

/** Runs the program, which fails when a call is lost or run twice, a user does not receive exactly one question, or a subscriber misses a change.
 *  Answers of users meet a balancer that fails during restarts. */
async function runProgram(...args: string[]): Promise<void> {
  const flags = process.execArgv.filter((flag) => !flag.startsWith('--test'));
  const { stdout } = await run(process.execPath, [...flags, main, ...args]);
  assert.match(stdout, /SIGKILL at .+, \d+ of its \d+ calls failed/);
  assert.match(stdout, /^8 subscribers/m);
  if (!args.includes('--proxy')) assert.match(stdout, /^[1-9]\d* answers of users were not delivered/m);
}

test('restarts and kills processes without a service', { timeout: 400_000 }, () => runProgram());

/** Each store and each balancer; a balancer without a variable is that of `balancer.ts`. */
const setups = [
  ['QUIVER_POSTGRES_URL', 'round robin'],
  ['QUIVER_POSTGRES_URL', 'QUIVER_NGINX'],
  ['QUIVER_REDIS_URL', 'QUIVER_HAPROXY'],
  ['QUIVER_REDIS_URL', 'QUIVER_CADDY'],
] as const;

describe('restarts each process three times', { concurrency: 2, timeout: 900_000 }, () => {
  for (const [store, balancer] of setups) {
    const missing = ['QUIVER_LONG', store, balancer].find((name) => name.startsWith('QUIVER_') && !process.env[name]);
    test(
      `${store}, ${balancer}`,
      { skip: missing !== undefined && `${missing} is not set`, timeout: 400_000 },
      async () => {
        const name = `${store}_${balancer.replace(' ', '_')}_${process.pid}`.toLowerCase();
        const proxy = process.env[balancer] === undefined ? [] : ['--proxy', process.env[balancer]];
        const options = ['--name', name, '--rounds', '3', '--call', '8000', '--kill-task', ...proxy];
        await runProgram(process.env[store] as string, ...options).finally(() => removeTables(name));
      },
    );
  }
});

/** The tables of `PostgresStore`. The keys in Redis have a lifetime. */
async function removeTables(name: string): Promise<void> {
  const client = new Client({ connectionString: process.env['QUIVER_POSTGRES_URL'] });
  if (process.env['QUIVER_POSTGRES_URL'] === undefined) return;
  await client.connect();
  const { rows } = await client.query('SELECT tablename FROM pg_tables WHERE starts_with(tablename, $1)', [`${name}_`]);
  for (const { tablename } of rows as { tablename: string }[]) await client.query(`DROP TABLE IF EXISTS ${tablename}`);
  await client.end();
}
