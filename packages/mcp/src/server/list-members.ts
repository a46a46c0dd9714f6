import type { ListPage } from './list-page.js';

/** The members of a list result as JSON text: `"prompts":[…],"nextCursor":"…"`. */
export async function listMembers(name: string, page: Promise<ListPage<object>>): Promise<string> {
  const { items, nextCursor } = await page;
  const list = `"${name}":${JSON.stringify(items)}`;
  return nextCursor === undefined ? list : `${list},"nextCursor":${JSON.stringify(nextCursor)}`;
}
