// Every check of docs/reference/security-checks.md has a test file, and no check is listed twice.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const page = readFileSync(new URL('../reference/security-checks.md', import.meta.url), 'utf8');
const rows = [...page.matchAll(/^\| ([A-Z]{1,2}\d{2}) +\|[^|]+\|(.+)\|$/gm)].map(([, id = '', cell = '']) => ({
  id,
  files: [...cell.matchAll(/\]\(([^)]+)\)/g)].map(
    ([, path = '']) => new URL(path, new URL('../reference/', import.meta.url)),
  ),
}));

test('every check names test files that contain tests', () => {
  assert.ok(rows.length > 0);
  for (const { id, files } of rows) {
    assert.ok(files.length > 0, `${id} names no test file.`);
    for (const file of files) {
      assert.ok(existsSync(file), `${id} names ${file.pathname}, which does not exist.`);
      assert.match(readFileSync(file, 'utf8'), /^\s*(it|test)(\.each)?\b/m, `${file.pathname} contains no test.`);
    }
  }
});

test('no check is listed twice', () => {
  assert.equal(new Set(rows.map(({ id }) => id)).size, rows.length);
});
