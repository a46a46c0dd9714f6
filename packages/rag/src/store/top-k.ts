/** A binary heap: its first item is before all others. */
export class Heap<Item> {
  readonly #isBefore: (a: Item, b: Item) => boolean;
  readonly items: Item[] = [];

  constructor(isBefore: (a: Item, b: Item) => boolean) {
    this.#isBefore = isBefore;
  }

  push(item: Item): void {
    const { items } = this;
    let child = items.length;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      const other = items[parent] as Item;
      if (!this.#isBefore(item, other)) break;
      items[child] = other;
      child = parent;
    }
    items[child] = item;
  }

  /** Removes the first item. */
  pop(): Item | undefined {
    const [first] = this.items;
    const last = this.items.pop();
    if (this.items.length > 0) this.replaceFirst(last as Item);
    return first;
  }

  /** Removes the first item and adds another. */
  replaceFirst(item: Item): void {
    const { items } = this;
    let parent = 0;
    for (let child = 1; child < items.length; child = 2 * parent + 1) {
      if (child + 1 < items.length && this.#isBefore(items[child + 1] as Item, items[child] as Item)) child += 1;
      if (!this.#isBefore(items[child] as Item, item)) break;
      items[parent] = items[child] as Item;
      parent = child;
    }
    items[parent] = item;
  }
}

export interface Candidate {
  readonly row: number;
  readonly similarity: number;
}

/**
 * Keeps the best `k` of many candidates. Equal similarities are ordered by id, so the result does not depend on the order in which
 * candidates arrive.
 */
export class TopK {
  readonly #k: number;
  readonly #isWorse: (a: Candidate, b: Candidate) => boolean;
  readonly #heap: Heap<Candidate>;

  constructor(k: number, idOf: (row: number) => string) {
    this.#k = k;
    this.#isWorse = (a, b) => (a.similarity === b.similarity ? idOf(a.row) > idOf(b.row) : a.similarity < b.similarity);
    this.#heap = new Heap(this.#isWorse);
  }

  /** Similarity of the worst candidate kept; −∞ while there are fewer than `k`. */
  get worst(): number {
    const { items } = this.#heap;
    return items.length < this.#k ? Number.NEGATIVE_INFINITY : (items[0] as Candidate).similarity;
  }

  offer(row: number, similarity: number): void {
    const { items } = this.#heap;
    if (items.length < this.#k) return this.#heap.push({ row, similarity });
    const worst = items[0] as Candidate;
    if (similarity < worst.similarity) return;
    const candidate = { row, similarity };
    if (this.#isWorse(worst, candidate)) this.#heap.replaceFirst(candidate);
  }

  /** Best first. */
  toSorted(): Candidate[] {
    return this.#heap.items.toSorted((a, b) => (this.#isWorse(a, b) ? 1 : -1));
  }
}
