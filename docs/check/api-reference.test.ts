// The API reference has a module for each public entry point, named as programs import it, and its links lead to the sources. TypeDoc fails on its own
// warnings.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readEntryPoints } from './entry-points.ts';

test('the API reference has every entry point', (t) => {
  const out = mkdtempSync(join(tmpdir(), 'quiver-api-'));
  t.after(() => rmSync(out, { recursive: true }));
  const docs = fileURLToPath(new URL('..', import.meta.url));
  const { status, stdout, stderr } = spawnSync(join(docs, 'node_modules/.bin/typedoc'), ['--out', out], {
    cwd: docs,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout + stderr);
  const modules = readFileSync(join(out, 'README.md'), 'utf8').matchAll(/^- \[(.+?)\]/gm);
  const expected = readEntryPoints().flatMap(({ name, internal }) => (internal ? [] : [name]));
  assert.deepEqual([...modules].map(([, name]) => name).toSorted(), expected.toSorted());
  assert.ok(expected.length >= 28);

  const repository = new URL('../../', import.meta.url);
  const linked = globSync('**/*.md', { cwd: out }).flatMap((page) =>
    Array.from(readFileSync(join(out, page), 'utf8').matchAll(/\/blob\/main\/([^#)]+)#L(\d+)/g), ([, path, line]) => ({
      path: path as string,
      line: Number(line),
    })),
  );
  const lines = new Map(
    [...new Set(linked.map(({ path }) => path))].map((path) => [
      path,
      readFileSync(new URL(path, repository), 'utf8').split('\n').length,
    ]),
  );
  assert.ok(linked.length > 1000);
  assert.deepEqual(
    linked.filter(({ path, line }) => line > (lines.get(path) ?? 0)),
    [],
  );
});
