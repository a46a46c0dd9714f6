import type { FieldPath, Filter, FilterScalar } from '../../filter/index.js';
import { isNativeKey, partialKey } from './pinecone-record.js';

/**
 * The part of a filter that Pinecone can apply: it lets all records through that pass the filter, and others. The filter has to
 * be evaluated on what comes back.
 *
 * @returns `undefined` when nothing can be said in Pinecone's language
 */
export function filterToPinecone(filter: Filter): object | undefined {
  const condition = compile(filter);
  return condition && { $or: [{ [partialKey]: { $eq: true } }, condition] };
}

function compile(filter: Filter): object | undefined {
  switch (filter.kind) {
    case 'and': {
      const parts = filter.filters.map(compile).filter((part) => part !== undefined);
      return parts.length > 0 ? { $and: parts } : undefined;
    }
    case 'or': {
      const parts = filter.filters.map(compile);
      return parts.length > 0 && parts.every((part) => part !== undefined) ? { $or: parts } : undefined;
    }
    case 'equal':
      return equalToOne(filter.path, [filter.value]);
    case 'in':
      return equalToOne(filter.path, filter.values);
    case 'order':
      if (typeof filter.value !== 'number') return undefined;
      return condition(filter.path, { [`$${filter.order}`]: filter.value });
    default:
      return undefined;
  }
}

/** A field that is null or missing Pinecone cannot find. Lists of strings match by their elements, as they should. */
function equalToOne(path: FieldPath, values: readonly FilterScalar[]): object | undefined {
  if (values.length === 0 || values.includes(null)) return undefined;
  return condition(path, { $in: values });
}

function condition(path: FieldPath, operators: object): object | undefined {
  const key = path.join('.');
  return isNativeKey(key) ? { [key]: operators } : undefined;
}
