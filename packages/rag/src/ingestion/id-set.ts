/** A set of ids that are 128-bit hashes in hexadecimal, as those of chunks are, in 16 bytes each. */
export interface IdSet {
  /** @returns `false` when it was there already */
  add(id: string): boolean;
  /** `false` for whatever is no such hash. */
  has(id: string): boolean;
}

const initialCapacity = 1024;
/** A fuller table is searched for longer. */
const maxLoad = 0.7;

/**
 * An open-addressing hash table in one typed array: a run over a million chunks remembers them in 32 MB, where a `Set` of strings
 * takes four times that.
 */
export function createIdSet(): IdSet {
  let capacity = initialCapacity;
  let words = new Uint32Array(capacity * 4);
  let count = 0;

  /** The slot of the id, or the empty one where it belongs. */
  function find(table: Uint32Array, [a, b, c, d]: Words): number {
    const last = table.length - 4;
    for (let slot = (a * 4) & last; ; slot = (slot + 4) & last) {
      if (table[slot + 3] === 0) return slot;
      if (table[slot] === a && table[slot + 1] === b && table[slot + 2] === c && table[slot + 3] === d) return slot;
    }
  }

  function grow(): void {
    capacity *= 2;
    const larger = new Uint32Array(capacity * 4);
    for (let slot = 0; slot < words.length; slot += 4) {
      if (words[slot + 3] === 0) continue;
      const entry = words.subarray(slot, slot + 4);
      larger.set(entry, find(larger, entry as unknown as Words));
    }
    words = larger;
  }

  return {
    add(id) {
      const entry = toWords(id);
      if (!entry) throw new RangeError(`${id} is not 32 hexadecimal digits.`);
      if (count >= capacity * maxLoad) grow();
      const slot = find(words, entry);
      if (words[slot + 3] !== 0) return false;
      words.set(entry, slot);
      count += 1;
      return true;
    },
    has(id) {
      const entry = toWords(id);
      return entry !== undefined && words[find(words, entry) + 3] !== 0;
    },
  };
}

type Words = readonly [number, number, number, number];

/** The last word of an entry is never 0, which marks an empty slot. */
function toWords(id: string): Words | undefined {
  if (!/^[0-9a-f]{32}$/.test(id)) return undefined;
  const word = (place: number): number => Number.parseInt(id.slice(place * 8, place * 8 + 8), 16);
  return [word(0), word(1), word(2), word(3) || 1];
}
