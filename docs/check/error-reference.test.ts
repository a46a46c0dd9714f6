import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { findMismatches, writeErrorReference } from './error-reference.ts';

test('every error code of the sources has a cause and a remedy', () => {
  assert.deepEqual(findMismatches(), []);
});

test('the page of errors is up to date', () => {
  const page = readFileSync(new URL('../reference/errors.md', import.meta.url), 'utf8');
  // Formatting may differ; words may not.
  const words = (text: string): string => text.replaceAll(/[\s\\]+/g, ' ').trim();
  assert.equal(words(page), words(writeErrorReference()), 'Run `pnpm --filter @quiver/docs errors`.');
});
