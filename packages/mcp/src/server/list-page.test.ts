import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodePage } from './list-page.js';
import type { ServerRequest } from './request.js';

interface Page {
  readonly items: readonly string[];
  nextCursor?: string;
}

function pageOf(items: readonly string[], params: { cursor?: unknown }, pageSize: number): Page {
  const tools = items.map((name) => ({ name }));
  const { json } = encodePage({ params, server: { pageSize } } as ServerRequest, 'tools/list', tools);
  const { tools: page, ...rest } = JSON.parse(json) as { tools: { name: string }[]; nextCursor?: string };
  return { ...rest, items: page.map(({ name }) => name) };
}

/** Reads a list page by page; `change` is applied after every page. */
function readAll(list: string[], pageSize: number, change: (list: string[]) => string[] = (same) => same): string[] {
  const read: string[] = [];
  let cursor: string | undefined;
  let items = list;
  do {
    const page = pageOf(items, cursor === undefined ? {} : { cursor }, pageSize);
    expect(page.items.length).toBeLessThanOrEqual(pageSize);
    read.push(...page.items);
    cursor = page.nextCursor;
    items = change(items);
  } while (cursor !== undefined && read.length < 1000);
  return read;
}

describe('pages', () => {
  const lists = fc.uniqueArray(fc.string(), { maxLength: 40 });

  test('all pages together are the list', () => {
    fc.assert(
      fc.property(lists, fc.integer({ min: 1, max: 50 }), (list, pageSize) => {
        expect(readAll(list, pageSize)).toEqual(list);
      }),
    );
  });

  test('items that are added in front are neither read twice, nor push others out', () => {
    fc.assert(
      fc.property(lists, fc.integer({ min: 1, max: 10 }), (list, pageSize) => {
        let count = 0;
        const read = readAll(list, pageSize, (now) => [`new item ${(count += 1)}`, ...now]);
        expect(read).toEqual(list);
      }),
    );
  });

  test('continues behind the last item of a page after its removal', () => {
    const { nextCursor } = pageOf(['a', 'b', 'c', 'd'], {}, 2);
    const next = pageOf(['a', 'c', 'd'], { cursor: nextCursor }, 2);
    expect(next).toEqual({ items: ['c', 'd'] });
  });

  test.each([1, null, {}, '', 'x', '1', '%', '-1:a'])('the cursor %j is refused', (cursor) => {
    expect(() => pageOf(['a'], { cursor }, 1)).toThrow(expect.objectContaining({ code: -32602 }) as Error);
  });
});
