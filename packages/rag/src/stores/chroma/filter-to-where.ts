import type { FieldPath, Filter, FilterScalar } from '../../filter/index.js';
import type { ChromaWhere } from './chroma-client.js';
import { isNativeKey, partialKey } from './chroma-record.js';

/**
 * The part of a filter that Chroma can apply: it lets all records through that pass the filter, and others. The filter has to be
 * evaluated on what comes back.
 *
 * Only equality is left to Chroma. Its other comparisons depend on whether a number was written as an integer, and its negations
 * on whether a key is there.
 *
 * @returns `undefined` when nothing can be said in Chroma's language
 */
export function filterToWhere(filter: Filter): ChromaWhere | undefined {
  const condition = compile(filter);
  return condition && or([{ [partialKey]: true }, condition]);
}

function compile(filter: Filter): ChromaWhere | undefined {
  switch (filter.kind) {
    case 'and':
      return and(filter.filters.map(compile).filter((part) => part !== undefined));
    case 'or': {
      const parts = filter.filters.map(compile);
      return parts.every((part) => part !== undefined) ? or(parts) : undefined;
    }
    case 'equal':
      return equalToOne(filter.path, [filter.value]);
    case 'in':
      return equalToOne(filter.path, filter.values);
    default:
      return undefined;
  }
}

/** Chroma takes lists of one type only; a field that is null or missing it cannot find. */
function equalToOne(path: FieldPath, values: readonly FilterScalar[]): ChromaWhere | undefined {
  const key = path.join('.');
  if (!isNativeKey(key) || values.includes(null)) return undefined;
  const ofType = (type: string): FilterScalar[] => values.filter((value) => typeof value === type);
  const lists = [ofType('string'), ofType('boolean')].filter((list) => list.length > 0);
  return or([
    ...lists.map((list) => ({ [key]: { $in: list } })),
    // Whole numbers and fractions are two types there, and no list may hold both.
    ...ofType('number').map((value) => ({ [key]: { $eq: value } })),
  ]);
}

/** Lists of one and of none are errors there. */
function and(parts: readonly ChromaWhere[]): ChromaWhere | undefined {
  return parts.length > 1 ? { $and: parts } : parts[0];
}

function or(parts: readonly ChromaWhere[]): ChromaWhere | undefined {
  return parts.length > 1 ? { $or: parts } : parts[0];
}
