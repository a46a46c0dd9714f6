/** Splits a list into parts of at most `count` items and, unless a single item is larger, of at most `maxSize` in total. */
export function partsOf<Item>(
  items: readonly Item[],
  count: number,
  { sizeOf = () => 0, maxSize = Number.POSITIVE_INFINITY }: { sizeOf?: (item: Item) => number; maxSize?: number } = {},
): Item[][] {
  const parts: Item[][] = [];
  let size = 0;
  for (const item of items) {
    const last = parts.at(-1);
    const added = sizeOf(item);
    if (!last || last.length === count || size + added > maxSize) {
      parts.push([item]);
      size = added;
    } else {
      last.push(item);
      size += added;
    }
  }
  return parts;
}
