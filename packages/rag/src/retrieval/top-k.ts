export interface Candidate {
  readonly row: number;
  readonly similarity: number;
}

/**
 * Keeps the best `k` of many candidates in a heap whose root is the worst one kept. Equal similarities are ordered by id, so
 * the result does not depend on the order in which candidates arrive.
 */
export class TopK {
  readonly #k: number;
  readonly #idOf: (row: number) => string;
  readonly #heap: Candidate[] = [];

  constructor(k: number, idOf: (row: number) => string) {
    this.#k = k;
    this.#idOf = idOf;
  }

  /** Similarity of the worst candidate kept; −∞ while there are fewer than `k`. */
  get worst(): number {
    return this.#heap.length < this.#k ? Number.NEGATIVE_INFINITY : (this.#heap[0] as Candidate).similarity;
  }

  offer(row: number, similarity: number): void {
    const heap = this.#heap;
    if (heap.length < this.#k) {
      heap.push({ row, similarity });
      this.#siftUp(heap.length - 1);
      return;
    }
    const worst = heap[0] as Candidate;
    if (similarity < worst.similarity) return;
    const candidate = { row, similarity };
    if (!this.#isWorse(worst, candidate)) return;
    heap[0] = candidate;
    this.#siftDown();
  }

  /** Best first. */
  toSorted(): Candidate[] {
    return this.#heap.toSorted((a, b) => (this.#isWorse(a, b) ? 1 : -1));
  }

  #isWorse(a: Candidate, b: Candidate): boolean {
    return a.similarity === b.similarity ? this.#idOf(a.row) > this.#idOf(b.row) : a.similarity < b.similarity;
  }

  #siftUp(start: number): void {
    let child = start;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (!this.#swapIfWorse(child, parent)) return;
      child = parent;
    }
  }

  #siftDown(): void {
    let parent = 0;
    for (;;) {
      const left = 2 * parent + 1;
      if (left >= this.#heap.length) return;
      const right = left + 1;
      const worse =
        right < this.#heap.length && this.#isWorse(this.#heap[right] as Candidate, this.#heap[left] as Candidate)
          ? right
          : left;
      if (!this.#swapIfWorse(worse, parent)) return;
      parent = worse;
    }
  }

  #swapIfWorse(child: number, parent: number): boolean {
    const [lower, upper] = [this.#heap[child] as Candidate, this.#heap[parent] as Candidate];
    if (!this.#isWorse(lower, upper)) return false;
    this.#heap[child] = upper;
    this.#heap[parent] = lower;
    return true;
  }
}
