import { Result } from '../content.js';
import { requestMethods, type ListMethod } from '../protocol/methods.js';
import { invalidParams } from '../protocol/protocol-error.js';
import type { ServerRequest } from './request.js';

/**
 * Returns the page of a list that a request names. A cursor names the last item of the page before, so the rest of a list that changes
 * in between is neither repeated nor skipped.
 *
 * @param isPrivate - whether other callers may receive another list. Default `false`
 * @throws ProtocolError -32602 for an unknown cursor
 */
export function encodePage(
  { params, server }: ServerRequest,
  method: ListMethod,
  items: readonly object[],
  isPrivate = false,
): Result {
  const cursor = params?.['cursor'];
  const start = cursor === undefined ? 0 : startAfter(method, items, cursor);
  const end = start + server.pageSize;
  const page = items.slice(start, end);
  const last = page.at(-1);
  const hasMore = end < items.length && last !== undefined;
  const nextCursor = hasMore ? encodeURIComponent(`${end}:${keyOf(method, last)}`) : undefined;
  return Result.of({ [requestMethods[method].resultMember]: page, nextCursor }, { isPrivate });
}

/** Returns what identifies an item within its list. */
export function keyOf(method: ListMethod, item: object): string {
  const members = item as Readonly<Record<string, unknown>>;
  return requestMethods[method].key.map((member) => String(members[member] ?? '')).join('\n');
}

function startAfter(method: ListMethod, items: readonly object[], cursor: unknown): number {
  const [, position, key] = /^(\d{1,9}):(.*)$/s.exec(decode(cursor)) ?? [];
  if (position === undefined || key === undefined)
    throw invalidParams('Unknown cursor: start the list again without one.');
  const found = items.findIndex((item) => keyOf(method, item) === key);
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
