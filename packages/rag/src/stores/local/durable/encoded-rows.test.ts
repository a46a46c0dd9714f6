import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeIds } from './encoded-rows.js';

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

it('decodes rows as JSON.parse does, or leaves them to it', () => {
  let decoded = 0;
  fc.assert(
    fc.property(fc.array(record, { minLength: 1, maxLength: 200 }), (records) => {
      const json = JSON.stringify(records);
      const rows = decodeIds(Buffer.from(json), records.length);
      if (!rows) return;
      decoded += 1;
      const expected = JSON.parse(json) as { id: string }[];
      expect(rows.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
      expect(rows.map((row) => row.decode())).toEqual(expected);
    }),
  );
  expect(decoded).toBeGreaterThan(5);
});

it('leaves rows to JSON.parse whose ids are not at their start, or are escaped', () => {
  const decode = (json: string, count: number): unknown => decodeIds(Buffer.from(json), count);
  expect(decode('[{"id":"a","metadata":{}},{"id":"b","metadata":{}}]', 2)).toHaveLength(2);
  expect(decode('[{"metadata":{},"id":"a"}]', 1)).toBeUndefined();
  expect(decode('[{"id":"a","metadata":{"list":[{"id":"b"}]}}]', 1)).toBeUndefined();
  expect(decode('[{"id":"\\u00fc","metadata":{}}]', 1)).toBeUndefined();
  expect(decode('[{"id":"ü","metadata":{}}]', 1)).toBeUndefined();
});

it('reports a row that is not what its file announced', () => {
  const rows = decodeIds(Buffer.from('[{"id":"a","metadata":}]'), 1);
  expect(() => rows?.[0]?.decode()).toThrow(expect.objectContaining({ code: 'VECTOR_STORE_CORRUPT' }));
});
