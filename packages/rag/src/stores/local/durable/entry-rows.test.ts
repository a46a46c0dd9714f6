import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { IndexRow } from '../record-table.js';
import { EntryRows } from './entry-rows.js';

const record = fc.record(
  {
    id: fc.oneof(
      { weight: 50, arbitrary: fc.stringMatching(/^[a-z0-9 {}:,[\]]*$/) },
      { weight: 1, arbitrary: fc.string({ unit: 'grapheme' }) },
    ),
    metadata: fc.dictionary(
      fc.string(),
      fc.oneof(
        { weight: 100, arbitrary: fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), fc.constant('{"id":"')) },
        {
          weight: 1,
          arbitrary: fc.oneof(fc.jsonValue(), fc.constant([{ id: 'inner' }]), fc.constant({ id: 'x', n: 1 })),
        },
      ),
      { maxKeys: 3 },
    ),
    document: fc.string({ unit: 'grapheme' }),
  },
  { requiredKeys: ['id', 'metadata'] },
);

const encode = (rows: readonly object[]): Buffer => Buffer.from(JSON.stringify(rows));
const corrupt = expect.objectContaining({ code: 'VECTOR_STORE_CORRUPT' });

function decodeAll(rows: EntryRows): IndexRow[] {
  return rows.ids().map((id, place) => {
    const decoded = rows.row(place);
    expect(decoded.id).toBe(id);
    return decoded;
  });
}

it('decodes rows as JSON.parse does, each alone and all together', () => {
  fc.assert(
    fc.property(fc.array(record, { minLength: 1, maxLength: 200 }), (records) => {
      const bytes = encode(records);
      const expected = JSON.parse(bytes.toString()) as IndexRow[];
      const last = records.length - 1;
      expect(new EntryRows(bytes, records.length).row(last)).toEqual(expected[last]);
      expect(decodeAll(new EntryRows(bytes, records.length))).toEqual(expected);
    }),
  );
});

it('finds ids of any characters, and behind other fields', () => {
  const rows = [{ id: 'a' }, { id: 'ü' }, { id: 'a"b' }, { metadata: {}, id: 'c' }, { id: '{"id":"' }, { id: '\n' }];
  const ids = new EntryRows(encode(rows), rows.length).ids();
  expect(ids).toEqual(rows.map(({ id }) => id));
});

it('reports rows that are not JSON, or not as many as their vectors', () => {
  const broken = new EntryRows(Buffer.from('[{"id":"a","metadata":}]'), 1);
  expect(() => decodeAll(broken)).toThrow(corrupt);
  expect(() => broken.row(0)).toThrow(corrupt);
  const rows = encode([
    { id: 'a', metadata: {} },
    { id: 'b', metadata: {} },
  ]);
  for (const count of [1, 3]) expect(() => new EntryRows(rows, count).ids()).toThrow(corrupt);
});

it('keeps no JSON of rows that are decoded together', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const record = { id: 'a', metadata: { author: { id: 'b' } } };
  const open = (): [rows: EntryRows, json: WeakRef<Buffer>] => {
    const json = encode([record]);
    const rows = new EntryRows(json, 1);
    expect(rows.ids()).toEqual(['a']);
    return [rows, new WeakRef(json)];
  };
  const [rows, json] = open();
  // A reference is strong until the current job ends.
  await new Promise(setImmediate);
  collectGarbage();
  expect(json.deref()).toBeUndefined();
  expect(rows.row(0)).toEqual(record);
});
