import { isObject } from '../json.js';

/** Returns whether a value has all members of another one, in the objects inside of it too. Other values must be equal. */
export function includesMembers(
  actual: unknown,
  expected: unknown,
  equals: (actual: unknown, expected: unknown) => boolean,
): boolean {
  if (!isObject(actual) || !isObject(expected)) return equals(actual, expected);
  return Object.entries(expected).every(([name, value]) => includesMembers(actual[name], value, equals));
}
