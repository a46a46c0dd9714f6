/**
 * Finds many patterns in a text at the same time. Time and memory grow with the length of patterns and text, and with the number of
 * reported places. Characters are UTF-16 code units.
 *
 * @see Aho and Corasick: Efficient string matching: an aid to bibliographic search. 1975. https://doi.org/10.1145/360825.360855
 */
export class PatternAutomaton {
  /** Number of the pattern that ends at a node, or -1. */
  readonly #pattern: Int32Array;
  readonly #nodeOf: Int32Array;
  /** Longest proper suffix of a node that is a node as well. */
  readonly #suffix: Int32Array;
  /** Nearest node among a node and its suffixes where a pattern that is still wanted ends; 0 for none. */
  readonly #wanted: Int32Array;
  /** Hash table of the children: for a node and a unit, the child, or 0. Parents and units of the nodes confirm a hit. */
  readonly #children: Int32Array;
  readonly #parent: Int32Array;
  readonly #unit: Uint16Array;

  /** @param patterns - none of them empty; equal patterns count as the first of them */
  constructor(patterns: readonly Uint16Array[]) {
    const size = patterns.reduce((sum, { length }) => sum + length, 1);
    this.#pattern = new Int32Array(size).fill(-1);
    this.#nodeOf = new Int32Array(patterns.length);
    this.#suffix = new Int32Array(size);
    this.#wanted = new Int32Array(size);
    this.#parent = new Int32Array(size);
    this.#unit = new Uint16Array(size);
    this.#children = new Int32Array(2 ** Math.ceil(Math.log2(2 * size + 2)));
    // In the order of their depth, because a suffix must be known before the nodes that need it.
    let nodes = 1;
    const ends = patterns.map(() => 0);
    const longest = patterns.reduce((most, { length }) => Math.max(most, length), 0);
    let open = patterns.map((_, index) => index);
    for (let depth = 0; depth < longest; depth += 1) {
      open = open.filter((index) => patterns[index]!.length > depth);
      for (const index of open) {
        const unit = patterns[index]![depth]!;
        const parent = ends[index]!;
        let node = this.#child(parent, unit);
        if (node === 0) {
          node = nodes;
          nodes += 1;
          this.#addChild(parent, unit, node);
          this.#suffix[node] = parent === 0 ? 0 : this.#follow(this.#suffix[parent]!, unit);
        }
        ends[index] = node;
      }
    }
    for (const [index, node] of ends.entries()) {
      if (this.#pattern[node] === -1) this.#pattern[node] = index;
      this.#nodeOf[index] = node;
    }
    for (let node = 1; node < nodes; node += 1)
      this.#wanted[node] = this.#pattern[node] === -1 ? this.#wanted[this.#suffix[node]!]! : node;
  }

  /** Stops reporting a pattern. */
  forget(pattern: number): void {
    const node = this.#nodeOf[pattern]!;
    if (this.#wanted[node] === node) this.#wanted[node] = this.#wanted[this.#suffix[node]!]!;
  }

  /** Reports the wanted patterns in a text, by the position where they end. */
  search(units: Uint16Array, report: (pattern: number, end: number) => void): void {
    let node = 0;
    for (let at = 0; at < units.length; at += 1) {
      node = this.#follow(node, units[at]!);
      for (let found = this.#nearestWanted(node); found !== 0; found = this.#nearestWanted(this.#suffix[found]!))
        report(this.#pattern[found]!, at + 1);
    }
  }

  /** Skips forgotten patterns, and shortens the chain for the next search. */
  #nearestWanted(node: number): number {
    let found = this.#wanted[node]!;
    while (this.#wanted[found] !== found) found = this.#wanted[found]!;
    for (let at = node; this.#wanted[at] !== found;) {
      const next = this.#wanted[at]!;
      this.#wanted[at] = found;
      at = next;
    }
    return found;
  }

  #follow(from: number, unit: number): number {
    for (let node = from; ; node = this.#suffix[node]!) {
      const child = this.#child(node, unit);
      if (child !== 0 || node === 0) return child;
    }
  }

  #child(node: number, unit: number): number {
    const mask = this.#children.length - 1;
    for (let slot = hash(node, unit) & mask; ; slot = (slot + 1) & mask) {
      const child = this.#children[slot]!;
      if (child === 0 || (this.#parent[child] === node && this.#unit[child] === unit)) return child;
    }
  }

  #addChild(node: number, unit: number, child: number): void {
    const mask = this.#children.length - 1;
    let slot = hash(node, unit) & mask;
    while (this.#children[slot] !== 0) slot = (slot + 1) & mask;
    this.#children[slot] = child;
    this.#parent[child] = node;
    this.#unit[child] = unit;
  }
}

function hash(node: number, unit: number): number {
  const mixed = Math.imul(node, 0x9e3779b1) ^ Math.imul(unit, 0x85ebca6b);
  return mixed ^ (mixed >>> 15);
}
