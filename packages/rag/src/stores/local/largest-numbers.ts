/** Keeps the `k` largest of many numbers and knows the smallest of them. */
export class LargestNumbers {
  readonly #k: number;
  /** A heap with the smallest number at its root. */
  readonly #heap: Float64Array;
  #size = 0;

  constructor(k: number) {
    this.#k = k;
    this.#heap = new Float64Array(k);
  }

  /** The k-th largest number; −∞ while there are fewer. */
  get smallest(): number {
    return this.#size < this.#k ? Number.NEGATIVE_INFINITY : (this.#heap[0] as number);
  }

  offer(value: number): void {
    const heap = this.#heap;
    if (this.#size < this.#k) {
      let child = this.#size;
      this.#size += 1;
      while (child > 0) {
        const parent = (child - 1) >> 1;
        if ((heap[parent] as number) <= value) break;
        heap[child] = heap[parent] as number;
        child = parent;
      }
      heap[child] = value;
      return;
    }
    if (value <= (heap[0] as number)) return;
    let parent = 0;
    for (let child = 1; child < this.#k; child = 2 * parent + 1) {
      if (child + 1 < this.#k && (heap[child + 1] as number) < (heap[child] as number)) child += 1;
      if ((heap[child] as number) >= value) break;
      heap[parent] = heap[child] as number;
      parent = child;
    }
    heap[parent] = value;
  }
}
