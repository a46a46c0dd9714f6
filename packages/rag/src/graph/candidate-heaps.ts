/**
 * For each of many rows the best candidates by an integer estimate, as heaps in shared arrays: the worst one kept is the root.
 * Of equal estimates the smaller number is better.
 */
export class CandidateHeaps {
  readonly capacity: number;
  readonly #estimates: Int32Array;
  readonly #candidates: Uint32Array;
  readonly #sizes: Uint32Array;
  /** By row: estimates below this are of no use. */
  readonly cuts: Int32Array;

  /** @param cut - estimates below it are never kept */
  constructor(rows: number, capacity: number, cut: number) {
    this.capacity = capacity;
    this.#estimates = new Int32Array(rows * capacity);
    this.#candidates = new Uint32Array(rows * capacity);
    this.#sizes = new Uint32Array(rows);
    this.cuts = new Int32Array(rows).fill(cut);
  }

  size(row: number): number {
    return this.#sizes[row] as number;
  }

  /** In no particular order. */
  candidates(row: number): Uint32Array {
    const start = row * this.capacity;
    return this.#candidates.subarray(start, start + this.size(row));
  }

  /** Call it for estimates of at least the row's cut only. */
  offer(row: number, candidate: number, estimate: number): void {
    const size = this.size(row);
    const start = row * this.capacity;
    if (size < this.capacity) {
      this.#sizes[row] = size + 1;
      this.#siftUp(start, size, candidate, estimate);
      if (size + 1 === this.capacity) this.cuts[row] = this.#estimates[start] as number;
      return;
    }
    if (estimate === this.#estimates[start] && candidate > (this.#candidates[start] as number)) return;
    this.#siftDown(start, candidate, estimate);
    this.cuts[row] = this.#estimates[start] as number;
  }

  #siftUp(start: number, end: number, candidate: number, estimate: number): void {
    let child = end;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (!this.#isWorse(candidate, estimate, start + parent)) break;
      this.#move(start + parent, start + child);
      child = parent;
    }
    this.#estimates[start + child] = estimate;
    this.#candidates[start + child] = candidate;
  }

  #siftDown(start: number, candidate: number, estimate: number): void {
    let parent = 0;
    for (let child = 1; child < this.capacity; child = 2 * parent + 1) {
      const right = start + child + 1;
      if (child + 1 < this.capacity) {
        if (this.#isWorse(this.#candidates[right] as number, this.#estimates[right] as number, start + child))
          child += 1;
      }
      if (this.#isWorse(candidate, estimate, start + child)) break;
      this.#move(start + child, start + parent);
      parent = child;
    }
    this.#estimates[start + parent] = estimate;
    this.#candidates[start + parent] = candidate;
  }

  #isWorse(candidate: number, estimate: number, place: number): boolean {
    const other = this.#estimates[place] as number;
    return estimate === other ? candidate > (this.#candidates[place] as number) : estimate < other;
  }

  #move(from: number, to: number): void {
    this.#estimates[to] = this.#estimates[from] as number;
    this.#candidates[to] = this.#candidates[from] as number;
  }
}
