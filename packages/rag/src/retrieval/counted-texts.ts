/**
 * Texts as terms with their numbers of occurrence, one after another in one piece of memory. A text gets the next slot; one that is
 * removed keeps its slot until {@link CountedTexts.compact}.
 */
export class CountedTexts {
  #numbers = new Map<string, number>();
  /** Texts that hold each term. */
  #frequencies = new IntList();
  /** −1 for a text that was removed. */
  #docs = new IntList();
  /** Terms of each text, repeated ones included. */
  #lengths = new IntList();
  /** Where each text begins in `#pairs`. */
  #starts = new IntList();
  /** The number of a term, and how often it occurs, in turn. */
  #pairs = new IntList();
  #count = 0;
  #totalLength = 0;

  /** Texts that were not removed. */
  get count(): number {
    return this.#count;
  }

  /** Slots, those of removed texts included. */
  get slots(): number {
    return this.#docs.length;
  }

  get terms(): number {
    return this.#frequencies.length;
  }

  get averageLength(): number {
    return this.#totalLength / this.#count;
  }

  get lengths(): Int32Array {
    return this.#lengths.values;
  }

  /** The document of each slot, −1 where it was removed. */
  get docs(): Int32Array {
    return this.#docs.values;
  }

  /** See {@link CountedTexts.start}. */
  get pairs(): Int32Array {
    return this.#pairs.values;
  }

  /** Where the pairs of a slot begin; those of the last one end at the start of the slot after it. */
  start(slot: number): number {
    return slot === this.#docs.length ? this.#pairs.length : this.#starts.at(slot);
  }

  /** The number of a term, `undefined` for one that no text ever held. */
  number(term: string): number | undefined {
    return this.#numbers.get(term);
  }

  /** Texts that hold a term. */
  frequency(number: number): number {
    return this.#frequencies.at(number);
  }

  /** @returns the slot of the text */
  append(doc: number, terms: readonly string[]): number {
    const slot = this.#docs.length;
    this.#docs.push(doc);
    this.#lengths.push(terms.length);
    this.#starts.push(this.#pairs.length);
    const counts = new Map<number, number>();
    for (const term of terms) {
      const number = this.#numberOf(term);
      counts.set(number, (counts.get(number) ?? 0) + 1);
    }
    for (const [number, count] of counts) {
      this.#pairs.push(number);
      this.#pairs.push(count);
      this.#frequencies.set(number, this.#frequencies.at(number) + 1);
    }
    this.#count += 1;
    this.#totalLength += terms.length;
    return slot;
  }

  remove(slot: number): void {
    this.#docs.set(slot, -1);
    const end = this.start(slot + 1);
    for (let at = this.start(slot); at < end; at += 2) {
      const number = this.#pairs.at(at);
      this.#frequencies.set(number, this.#frequencies.at(number) - 1);
    }
    this.#count -= 1;
    this.#totalLength -= this.#lengths.at(slot);
  }

  /** The same texts without what was removed; slots and numbers change, the order of texts does not. */
  compact(): CountedTexts {
    const compacted = new CountedTexts();
    const newNumbers = new Int32Array(this.terms);
    for (const [term, number] of this.#numbers) {
      if (this.frequency(number) === 0) continue;
      newNumbers[number] = compacted.#numberOf(term);
      compacted.#frequencies.set(compacted.terms - 1, this.frequency(number));
    }
    for (let slot = 0; slot < this.slots; slot += 1) {
      const doc = this.#docs.at(slot);
      if (doc === -1) continue;
      compacted.#docs.push(doc);
      compacted.#lengths.push(this.#lengths.at(slot));
      compacted.#starts.push(compacted.#pairs.length);
      const end = this.start(slot + 1);
      for (let at = this.start(slot); at < end; at += 2) {
        compacted.#pairs.push(newNumbers[this.#pairs.at(at)] as number);
        compacted.#pairs.push(this.#pairs.at(at + 1));
      }
    }
    compacted.#count = this.#count;
    compacted.#totalLength = this.#totalLength;
    return compacted;
  }

  #numberOf(term: string): number {
    let number = this.#numbers.get(term);
    if (number === undefined) {
      number = this.#frequencies.length;
      // A copy: engines keep the text that a word was cut from alive with the word.
      this.#numbers.set(Array.from(term).join(''), number);
      this.#frequencies.push(0);
    }
    return number;
  }
}

/** A growing list of 32-bit integers in one piece of memory. */
class IntList {
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
