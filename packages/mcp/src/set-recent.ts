/** Sets an entry as the most recently used one of a map, which keeps at most a number of entries. Maps keep the order of insertion. */
export function setRecent<Key, Value>(entries: Map<Key, Value>, key: Key, value: Value, most: number): void {
  entries.delete(key);
  entries.set(key, value);
  for (const oldest of entries.keys()) {
    if (entries.size <= most) return;
    entries.delete(oldest);
  }
}
