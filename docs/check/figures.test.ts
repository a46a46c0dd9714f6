import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import claims from './claims.json' with { type: 'json' };
import figures from '../../benchmarks/figures.json' with { type: 'json' };

interface Figure {
  readonly value: number;
}

const root = new URL('../../', import.meta.url);
const stored = figures as Readonly<Record<string, Figure | undefined>>;

/** Formatting may wrap a sentence, and widens the cells of tables. */
function toPlain(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

describe('sentences with figures', () => {
  for (const { page, text, figure, least, most } of claims) {
    it(`${page}: ${text}`, () => {
      const content = readFileSync(fileURLToPath(new URL(page, root)), 'utf8');
      assert.ok(toPlain(content).includes(toPlain(text)), `${page} no longer says this: change docs/check/claims.json`);
      const value = stored[figure]?.value;
      assert.ok(value !== undefined, `benchmarks/figures.json has no figure ${figure}`);
      assert.ok(value >= least && value <= most, `${figure} is ${value}: correct the sentence and its range`);
    });
  }
});
