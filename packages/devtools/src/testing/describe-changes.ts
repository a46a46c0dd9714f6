import { isObject } from '../json.js';
import { show } from './matchers.js';

const maxShown = 120;

/** Returns the differences between two JSON values, one line each: the path, the value before and the value after. */
export function describeChanges(before: unknown, after: unknown, path: string): string[] {
  if (isBranch(before) && isBranch(after) && Array.isArray(before) === Array.isArray(after)) {
    const [old, now] = [byName(before), byName(after)];
    const names = [...new Set([...old.keys(), ...now.keys()])];
    return names.flatMap((name) => describeChanges(old.get(name), now.get(name), `${path}/${name}`));
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (before === undefined) return [`${path} was added: ${show(after, maxShown)}`];
  if (after === undefined) return [`${path} was removed`];
  return [`${path} was ${show(before, maxShown)}, and is ${show(after, maxShown)}`];
}

function isBranch(value: unknown): value is Record<string, unknown> | unknown[] {
  return isObject(value) || Array.isArray(value);
}

/** Members by name; items of a list by their own name or URI, so that an added tool is not a difference of all later ones. */
function byName(value: Record<string, unknown> | unknown[]): Map<string, unknown> {
  if (!Array.isArray(value)) return new Map(Object.entries(value));
  return new Map(value.map((item, index) => [String(nameOf(item) ?? index), item]));
}

function nameOf(item: unknown): unknown {
  return isObject(item) ? (item['name'] ?? item['uri'] ?? item['uriTemplate']) : undefined;
}
