import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const { QUIVER_POSTGRES_URL: url, ...inherited } = process.env;

describe('multi-tenant example', () => {
  for (const [name, env, skip] of [
    ['PGlite', {}, false],
    ['PostgreSQL', { QUIVER_POSTGRES_URL: url }, url === undefined && 'QUIVER_POSTGRES_URL is not set'],
  ] as const) {
    test(`keeps tenants apart in ${name}`, { skip, timeout: 120_000 }, () => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [main], {
        encoding: 'utf8',
        env: { ...inherited, ...env },
      });
      assert.equal(status, 0, stderr);
      assert.match(stdout, new RegExp(`Database {3}${name}\n`));
      assert.match(stdout, /\nacme {7}At Acme, every employee has 30 days of holiday\.\n/);
      assert.match(stdout, /\nglobex {5}At Globex, every employee has 25 days of holiday\.\n/);
      assert.match(stdout, /\nglobex {5}Globex gives 25 days of holiday\.\n/);
      assert.equal(stdout.match(/^rejected /gm)?.length, 3);
      assert.match(stdout, /No tenant saw rows of the other tenant\.\n$/);
    });
  }
});
