import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluateFilter, type Filter, parseFilter } from '../../filter/index.js';
import { anyFilter, anyMetadata } from '../../../../devtools/src/stores/any-filter.ts';
import { RowSelection } from './row-selection.js';

function tryParse(filter: unknown): Filter | undefined {
  try {
    return parseFilter(filter);
  } catch {
    return undefined;
  }
}

describe('the rows that pass a filter', () => {
  // F08 F09 F10
  it('are those of the reference evaluator after any additions, replacements and moves', () => {
    let compared = 0;
    fc.assert(
      fc.property(
        fc.array(anyMetadata, { maxLength: 30 }),
        fc.array(fc.tuple(fc.constantFrom('add', 'replace', 'remove'), fc.nat(29), anyMetadata), { maxLength: 20 }),
        fc.array(anyFilter, { minLength: 1, maxLength: 4 }),
        (metadata, changes, inputs) => {
          const filters = inputs.flatMap((input) => tryParse(input) ?? []);
          const rows = [...metadata];
          const selection = new RowSelection((row) => rows[row]);
          const compare = (): void => {
            for (const filter of filters) {
              const expected = rows.flatMap((values, row) => (evaluateFilter(filter, values) ? [row] : []));
              expect([...selection.select(filter, rows.length)]).toEqual(expected);
              compared += 1;
            }
          };
          compare();
          for (const [kind, at, values] of changes) {
            if (kind === 'add') {
              rows.push(values);
              selection.set(rows.length - 1);
            } else if (at < rows.length && kind === 'replace') {
              rows[at] = values;
              selection.set(at);
            } else if (at < rows.length) {
              const last = rows.pop() ?? {};
              if (at < rows.length) {
                rows[at] = last;
                selection.move(rows.length, at);
              }
            }
          }
          compare();
        },
      ),
      { numRuns: 500 },
    );
    expect(compared).toBeGreaterThan(500);
  });

  it('are correct after the column of a field was evicted and recreated', () => {
    const rows = Array.from({ length: 50 }, (_, row) => ({ kind: row % 2 }));
    const selection = new RowSelection((row) => rows[row]);
    const odd = parseFilter({ kind: 1 });
    const count = (): number => selection.select(odd, rows.length).length;
    expect(count()).toBe(25);
    for (let field = 0; field < 200; field += 1) selection.select(parseFilter({ [`field${field}`]: 1 }), rows.length);
    rows[0] = { kind: 1 };
    selection.set(0);
    expect(count()).toBe(26);
  });

  it('do not keep obsolete values, also without queries', () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const bytes = (): number => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const rows = Array.from({ length: 10 }, () => ({ version: '' }));
    const selection = new RowSelection((row) => rows[row]);
    selection.select(parseFilter({ version: 'x' }), rows.length);
    const before = bytes();
    for (let change = 0; change < 200_000; change += 1) {
      rows[change % 10] = { version: `version ${change}` };
      selection.set(change % 10);
    }
    // All of them together take 30 MB.
    expect(bytes() - before).toBeLessThan(10e6);
    const found = selection.select(parseFilter({ version: 'version 199999' }), rows.length);
    expect([...found]).toEqual([9]);
  });

  it('are those of the reference evaluator while thousands of rows with few values each change', () => {
    const valueOf = (number: number): unknown =>
      [number % 50, [number % 50, 'x'], `text ${number % 7}`, null][number % 4];
    const metadataOf = (number: number): object =>
      number % 11 === 0 ? {} : { kind: valueOf(number), group: number % 40 };
    const rows = Array.from({ length: 3000 }, (_, row) => metadataOf(row));
    const selection = new RowSelection((row) => rows[row]);
    const filters = [
      { kind: 7 },
      { kind: 'x' },
      { kind: null },
      { kind: { $in: [4, 8, 'text 3', 'absent'] } },
      { kind: { $gt: 45 } },
      { group: 3, kind: { $ne: 'text 3' } },
      { $or: [{ group: 3 }, { kind: 9 }] },
    ].map((filter) => parseFilter(filter));
    for (let change = 0; change < 6000; change += 1) {
      const number = change * 7919;
      const row = number % rows.length;
      if (change % 3 === 0) {
        rows.push(metadataOf(number));
        selection.set(rows.length - 1);
      } else if (change % 3 === 1) {
        rows[row] = metadataOf(number + 1);
        selection.set(row);
      } else {
        const last = rows.pop() ?? {};
        if (row < rows.length) {
          rows[row] = last;
          selection.move(rows.length, row);
        }
      }
      if (change % 150 > 0) continue;
      for (const filter of filters) {
        const expected = rows.flatMap((values, place) => (evaluateFilter(filter, values) ? [place] : []));
        expect([...selection.select(filter, rows.length)]).toEqual(expected);
      }
    }
  });
});
