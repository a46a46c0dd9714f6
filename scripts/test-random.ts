/** Returns a generator of numbers from 0 to 1 (mulberry32). The numbers of a seed are the same on every machine. */
export function randomFrom(seed: number | string): () => number {
  let state = typeof seed === 'number' ? seed : 0x811c9dc5;
  if (typeof seed === 'string')
    for (const character of seed) state = Math.imul(state ^ (character.codePointAt(0) as number), 0x01000193);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
