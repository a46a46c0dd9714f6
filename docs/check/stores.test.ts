// A store that programs can import has a page, and a place in the tables that compare stores.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { describe, test } from 'node:test';
import { readEntryPoints, readStoreNames } from './entry-points.ts';

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const stores = readEntryPoints()
  .filter(({ file }) => basename(dirname(dirname(file))) === 'stores')
  .map(({ name }) => name.replace('@quiver/rag/', ''));

describe('every store', () => {
  test('has a page that imports it', () => {
    for (const store of stores)
      assert.ok(read(`guides/stores/${store}.md`).includes(`'@quiver/rag/${store}'`), `guides/stores/${store}.md`);
  });

  test('has a row in the tables of situations and of packages to install', () => {
    assert.deepEqual(readStoreNames().toSorted(), stores.toSorted());
    const installed = read('../packages/rag/README.md').matchAll(/^\| `\w+` +\| `@quiver\/rag\/(\w+)` +\|/gm);
    assert.deepEqual(Array.from(installed, ([, store]) => store).toSorted(), stores.toSorted());
  });

  test('has a column in the tables of features and of guarantees', () => {
    for (const page of ['guides/choose-chunks-and-store.md', 'concepts/consistency-of-stores.md']) {
      const heads = read(page).match(/^\|.*\bLocalVector\b.*\bPgVector\b.*\|$/gm) ?? [];
      assert.deepEqual(
        heads.map((head) => head.split('|').length - 3),
        [stores.length],
        page,
      );
    }
  });
});
