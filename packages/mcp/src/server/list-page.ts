import type { Params } from '../protocol/json-rpc.js';
import { invalidParams } from '../protocol/protocol-error.js';

export interface ListPage<Item> {
  readonly items: readonly Item[];
  /** Start of the next page; `undefined` on the last one. */
  readonly nextCursor: string | undefined;
}

export interface PageRequest {
  readonly params: Params | undefined;
  readonly pageSize: number;
}

/** Returns a page of a list as the members of its result: `"prompts":[…],"nextCursor":"…"`. */
export function encodePage(member: string, { items, nextCursor }: ListPage<unknown>): string {
  const list = `"${member}":${JSON.stringify(items)}`;
  return nextCursor === undefined ? list : `${list},"nextCursor":${JSON.stringify(nextCursor)}`;
}

/**
 * Returns the page of a list that a request names. A cursor names the last item of the page before, so the rest of a list that changes
 * in between is neither repeated nor skipped.
 *
 * @param keyOf - returns what identifies an item within its list
 * @throws ProtocolError -32602 for an unknown cursor
 */
export function pageOf<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  { params, pageSize }: PageRequest,
): ListPage<Item> {
  const cursor = params?.['cursor'];
  const start = cursor === undefined ? 0 : startAfter(items, keyOf, cursor);
  const page = start === 0 && items.length <= pageSize ? items : items.slice(start, start + pageSize);
  const last = page.at(-1);
  const isLast = start + page.length >= items.length || last === undefined;
  return { items: page, nextCursor: isLast ? undefined : toCursor(start + page.length, keyOf(last)) };
}

function toCursor(position: number, key: string): string {
  return encodeURIComponent(`${position}:${key}`);
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
