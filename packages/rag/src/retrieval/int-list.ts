/** A growing list of 32-bit integers in one piece of memory. */
export class IntList {
  #values: Int32Array;
  #length = 0;

  constructor(capacity = 64) {
    this.#values = new Int32Array(capacity);
  }

  get length(): number {
    return this.#length;
  }

  /** The memory itself: valid up to {@link IntList.length}, until the next `push`. */
  get values(): Int32Array {
    return this.#values;
  }

  at(position: number): number {
    return this.#values[position] as number;
  }

  set(position: number, value: number): void {
    this.#values[position] = value;
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = new Int32Array(Math.max(64, this.#length * 2));
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#length] = value;
    this.#length += 1;
  }
}
