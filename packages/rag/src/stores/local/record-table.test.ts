import { expect, it } from 'vitest';
import { type EncodedRows, RecordTable } from './record-table.js';

it('does not need an entry whose rows are all decoded', () => {
  const rowsOf = (...ids: readonly string[]): EncodedRows => ({
    count: ids.length,
    row: (place) => ({ id: ids[place] as string, metadata: {} }),
    ids: () => ids,
  });
  const unused = (): never => {
    throw new Error('The rows of the table hold these ids.');
  };
  const table = new RecordTable();
  table.load({ ...rowsOf('a', 'b'), ids: unused }, true);
  table.load(rowsOf('c', 'd', 'e'), true);
  for (const row of [0, 1, 3]) table.get(row);
  expect(['a', 'b', 'c', 'd', 'e', 'f'].map((id) => table.rowOf(id))).toEqual([0, 1, 2, 3, 4, undefined]);
});
