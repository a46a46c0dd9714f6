import * as fc from 'fast-check';
import type { VectorMetadata } from '@quiver/rag';

const keys = ['a', 'b', 'a.b', '0', "it's", 'x"y', 'größe', "x') = '' OR 1=1 --"];
const texts = ['', 'a', 'A', 'ab', 'aB%', '%', '_', "it's", '5', 'true', 'Äb', 'äb', 'K', '😀', '\u{ffff}', 'a\\b'];
const numbers = [0, 1, -1, 5, 5.5, 0.1, 1e21, 1e-7, 9007199254740991];

const scalar = fc.oneof(fc.constantFrom(...texts), fc.constantFrom(...numbers), fc.boolean(), fc.constant(null));
const key = fc.constantFrom(...keys);
const flatValue = fc.oneof(
  fc.constantFrom(...texts),
  fc.constantFrom(...numbers),
  fc.boolean(),
  fc.array(fc.constantFrom(...texts), { minLength: 1, maxLength: 3 }),
);
const nestedValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3 }),
  ),
})).value;

const path = fc.oneof(
  key,
  fc.tuple(key, key).map((parts) => parts.join('.')),
  fc.constantFrom('a.0', 'a.-1', 'a.01', 'a.0.b'),
);
const list = fc.array(scalar, { maxLength: 3 });
const limit = fc.oneof(fc.constantFrom(...texts), fc.constantFrom(...numbers));
const comparison = fc.oneof(
  fc.record({ $eq: scalar }),
  fc.record({ $ne: scalar }),
  fc.record({ $gt: limit, $lte: limit }, { requiredKeys: ['$gt'] }),
  fc.record({ $gte: limit }),
  fc.record({ $lt: limit }),
  fc.record({ $in: list }),
  fc.record({ $nin: list }),
  fc.record({ $all: list }),
  fc.record({ $exists: fc.boolean() }),
  fc.record({ $contains: scalar }),
  fc.record({ $size: fc.integer({ min: 0, max: 3 }) }),
  fc.record({
    $regex: fc.constantFrom('^a', 'b$', '.', '^..$', '[äÄ]', 'k', '^(a+)+$', String.raw`\w\b`),
    $options: fc.constantFrom('', 'i'),
  }),
);

/** Filters of every operator of the language; the parser rejects some of them. */
export const anyFilter: fc.Arbitrary<VectorMetadata> = fc.letrec<{ filter: VectorMetadata; condition: unknown }>(
  (tie) => ({
    condition: fc.oneof(
      { maxDepth: 3 },
      scalar,
      comparison,
      tie('filter').map((filter) => ({ $elemMatch: filter })),
      comparison.map((operators) => ({ $elemMatch: operators })),
      comparison.map((operators) => ({ $not: operators })),
    ),
    filter: fc.oneof(
      { maxDepth: 4 },
      fc.dictionary(path, tie('condition'), { minKeys: 1, maxKeys: 2 }),
      fc.array(tie('filter'), { maxLength: 3 }).map((parts) => ({ $and: parts })),
      fc.array(tie('filter'), { maxLength: 3 }).map((parts) => ({ $or: parts })),
      fc.array(tie('filter'), { maxLength: 3 }).map((parts) => ({ $nor: parts })),
      tie('filter').map((filter) => ({ $not: filter })),
    ),
  }),
).filter;

/** Metadata of every shape that JSON has. */
export const anyMetadata: fc.Arbitrary<VectorMetadata> = fc.dictionary(key, nestedValue, { maxKeys: 5 }).map(asJson);

/** Metadata of scalars and lists of strings, never empty. */
export const flatMetadata: fc.Arbitrary<VectorMetadata> = fc
  .dictionary(key, flatValue, { minKeys: 1, maxKeys: 5 })
  .map(asJson);

function asJson(metadata: VectorMetadata): VectorMetadata {
  return JSON.parse(JSON.stringify(metadata)) as VectorMetadata;
}
