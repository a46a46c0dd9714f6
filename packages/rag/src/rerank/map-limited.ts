/** Like `Promise.all(items.map(run))`, with at most `limit` at once. Results are in the order of the items. */
export async function mapLimited<Item, Result>(
  items: readonly Item[],
  limit: number,
  run: (item: Item, position: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  // One iterator for all workers: each takes the next item when it is free.
  const queue = items.entries();
  const work = async (): Promise<void> => {
    for (const [position, item] of queue) results[position] = await run(item, position);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work));
  return results;
}
