import { isObject } from '../json.js';

const maxChanges = 20;

/** Returns the differences between two JSON values, one line each: the path, the value before and the value after. */
export function describeChanges(before: unknown, after: unknown, path = ''): string[] {
  const changes: string[] = [];
  compare(before, after, path, changes);
  const more = changes.length - maxChanges;
  return more > 0 ? [...changes.slice(0, maxChanges), `and ${more} more`] : changes;
}

function compare(before: unknown, after: unknown, path: string, changes: string[]): void {
  if (isBranch(before) && isBranch(after) && Array.isArray(before) === Array.isArray(after)) {
    const [old, now] = [byName(before), byName(after)];
    for (const name of new Set([...old.keys(), ...now.keys()]))
      compare(old.get(name), now.get(name), `${path}/${name}`, changes);
    return;
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return;
  if (before === undefined) changes.push(`${path} was added: ${show(after)}`);
  else if (after === undefined) changes.push(`${path} was removed`);
  else changes.push(`${path} was ${show(before)}, and is ${show(after)}`);
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

const maxShownLength = 120;

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text;
}
