/**
 * Removes the oldest entries of a map or set beyond a number. Maps keep the order of insertion: an entry that is deleted and set again when
 * it is used makes it the least recently used one.
 */
export function evictOldest<Key>(entries: Map<Key, unknown> | Set<Key>, most: number): void {
  if (entries.size <= most) return;
  for (const key of entries.keys()) {
    entries.delete(key);
    if (entries.size <= most) return;
  }
}
