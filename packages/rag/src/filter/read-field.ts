import type { FieldPath } from './filter.js';

/** Reads a path in metadata; a key that itself contains the dots comes first. Missing and `undefined` are the same. */
export function fieldReader(path: FieldPath): (root: unknown) => unknown {
  const [first = '', ...rest] = path;
  if (path.length === 0) return toPlainValue;
  if (rest.length === 0) return (root) => toPlainValue(ownValue(root, first));
  const literal = path.join('.');
  return (root) => {
    let value = ownValue(root, literal);
    if (value === undefined) {
      value = root;
      for (const key of path) value = ownValue(value, key);
    }
    return toPlainValue(value);
  };
}

function ownValue(holder: unknown, key: string): unknown {
  if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, key)) return undefined;
  if (Array.isArray(holder) && key === 'length') return undefined;
  return (holder as Record<string, unknown>)[key];
}

/** A value as JSON would have it. */
export function toPlainValue(value: unknown): unknown {
  return value instanceof Date ? value.toJSON() : value;
}
