/** Removes the oldest entries of a map beyond a number. Maps keep the order of insertion. */
export function evictOldest<Key>(entries: Map<Key, unknown>, most: number): void {
  for (const key of entries.keys()) {
    if (entries.size <= most) return;
    entries.delete(key);
  }
}

/** Sets an entry as the most recently used one of a map, which keeps at most a number of entries. */
export function setRecent<Key, Value>(entries: Map<Key, Value>, key: Key, value: Value, most: number): void {
  entries.delete(key);
  entries.set(key, value);
  evictOldest(entries, most);
}
