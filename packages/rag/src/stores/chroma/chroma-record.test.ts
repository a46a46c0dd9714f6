import { expect, it } from 'vitest';
import { parseFilter } from '../../filter/index.js';
import { filterToWhere } from './chroma-record.js';

// Chroma rejects `$and` and `$or` with fewer than two conditions.
it.each<[object, object | undefined]>([
  [{ a: 1 }, { a: { $eq: 1 } }],
  [{ a: { $in: [1] } }, { a: { $eq: 1 } }],
  [{ a: { $in: ['x', 'y'] } }, { a: { $in: ['x', 'y'] } }],
  [{ a: { $in: ['x', 1] } }, { $or: [{ a: { $in: ['x'] } }, { a: { $eq: 1 } }] }],
  [{ $and: [{ a: 1 }] }, { a: { $eq: 1 } }],
  [{ $and: [{ a: 1 }, { b: { $gt: 1 } }] }, { a: { $eq: 1 } }],
  [{ $and: [{ a: 1 }, { b: true }] }, { $and: [{ a: { $eq: 1 } }, { b: { $in: [true] } }] }],
  [{ a: { $in: [] } }, undefined],
  [{ $or: [{ a: 1 }, { a: { $in: [] } }] }, undefined],
])('joins only several conditions of %j', (filter, condition) => {
  expect(filterToWhere(parseFilter(filter as never))?.['$or']).toEqual(condition && [expect.anything(), condition]);
});
