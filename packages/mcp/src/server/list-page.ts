import type { Params } from '../protocol/json-rpc.js';
import { invalidParams } from '../protocol/protocol-error.js';

export interface PageRequest<Item> {
  /** Member of the result that holds the items. */
  readonly member: string;
  readonly items: readonly Item[];
  /** Returns what identifies an item within its list. */
  readonly keyOf: (item: Item) => string;
  readonly params: Params | undefined;
  readonly pageSize: number;
}

/**
 * Returns the page of a list that a request names, as the members of its result: `"prompts":[…],"nextCursor":"…"`. A cursor names the
 * last item of the page before, so the rest of a list that changes in between is neither repeated nor skipped.
 *
 * @throws ProtocolError -32602 for an unknown cursor
 */
export function encodePage<Item>({ member, items, keyOf, params, pageSize }: PageRequest<Item>): string {
  const cursor = params?.['cursor'];
  const start = cursor === undefined ? 0 : startAfter(items, keyOf, cursor);
  const end = start + pageSize;
  const page = items.slice(start, end);
  const last = page.at(-1);
  const list = `"${member}":${JSON.stringify(page)}`;
  if (end >= items.length || last === undefined) return list;
  return `${list},"nextCursor":${JSON.stringify(encodeURIComponent(`${end}:${keyOf(last)}`))}`;
}

function startAfter<Item>(items: readonly Item[], keyOf: (item: Item) => string, cursor: unknown): number {
  const [, position, key] = /^(\d{1,9}):(.*)$/s.exec(decode(cursor)) ?? [];
  if (position === undefined || key === undefined)
    throw invalidParams('Unknown cursor: start the list again without one.');
  const found = items.findIndex((item) => keyOf(item) === key);
  // The item was removed: the items after it moved up by one.
  return found === -1 ? Math.min(Math.max(Number(position) - 1, 0), items.length) : found + 1;
}

function decode(cursor: unknown): string {
  try {
    return typeof cursor === 'string' ? decodeURIComponent(cursor) : '';
  } catch {
    return '';
  }
}
