import { lexicalTerms } from './lexical-terms.js';
import { TopK } from './top-k.js';

/** Saturation: how soon further occurrences of a word in a text stop to count. */
const k1 = 1.2;
/** Length normalization. */
const b = 0.75;
/** Texts that may be added before all are sorted again: sorting each one in would take longer. */
const minFresh = 1024;
const freshShare = 1 / 16;

export interface Bm25Options {
  /** Splits a text or a query into terms. Default: English stems without stop words; words of other languages unchanged. */
  toTerms?: (text: string) => string[];
}

export interface Bm25SearchOptions {
  limit: number;
  /** Whether a document may be found. Default all. */
  accept?: ((doc: number) => boolean) | undefined;
  /** Orders documents of equal score. */
  idOf: (doc: number) => string;
}

export interface Bm25Match {
  readonly doc: number;
  /** Share of the largest score that any text could reach for the query: above 0, below 1. */
  readonly score: number;
}

/** Occurrences by term: slots of texts, in ascending order, and counts. */
interface Postings {
  /** Number of sorted slots. */
  readonly slots: number;
  /** Start of the postings of each term, and the end of the last. Later terms are in no sorted text. */
  readonly starts: Int32Array;
  readonly slotOf: Int32Array;
  readonly countOf: Int32Array;
}

/** A term of a query. */
interface QueryTerm {
  readonly number: number;
  /** Inverse document frequency, times the occurrences in the query. */
  readonly weight: number;
}

/**
 * Keyword search, ordered exactly by BM25: `k1 = 1.2`, `b = 0.75`, `idf = ln(1 + (N − df + 0.5) / (df + 0.5))`; a word of the query
 * counts as often as it occurs there.
 *
 * Documents are small numbers of the caller. They can be added, replaced and removed at any time; every search sees the current
 * documents, and no frequency or length is an estimate.
 *
 * @see Robertson and Zaragoza: The Probabilistic Relevance Framework: BM25 and Beyond. 2009. https://doi.org/10.1561/1500000019
 */
export class Bm25Index {
  readonly #toTerms: (text: string) => string[];
  #texts = new CountedTexts();
  readonly #slotOfDoc = new Map<number, number>();
  /** The texts of the last sorting, by term. Later ones are in the slots behind. */
  #postings: Postings = buildPostings(this.#texts);
  /** Later texts by term: slot and count in turn. A rare term of many texts is then found without reading the texts. */
  readonly #fresh = new Map<number, number[]>();
  /** End of the slots in `#fresh`; a search adds those behind it. */
  #freshEnd = 0;
  #removed = 0;
  /** Sums of a search in progress, by slot: all 0 between searches. */
  #scores = new Float64Array(0);

  constructor({ toTerms = lexicalTerms }: Bm25Options = {}) {
    this.#toTerms = toTerms;
  }

  /** Number of documents. */
  get count(): number {
    return this.#texts.count;
  }

  /** Adds a document, or replaces its text. */
  set(doc: number, text: string): void {
    const terms = this.#toTerms(text);
    this.delete(doc);
    this.#slotOfDoc.set(doc, this.#texts.append(doc, terms));
  }

  /** Removes a document, if it exists. */
  delete(doc: number): void {
    const slot = this.#slotOfDoc.get(doc);
    if (slot === undefined) return;
    this.#texts.remove(slot);
    this.#slotOfDoc.delete(doc);
    this.#removed += 1;
    // Also without searches: replaced texts must not accumulate.
    if (this.#removed >= Math.max(minFresh, this.count)) this.#sort();
  }

  /** Gives a document another number, which must be free. */
  move(from: number, to: number): void {
    const slot = this.#slotOfDoc.get(from);
    if (slot === undefined) return;
    this.#slotOfDoc.delete(from);
    this.#slotOfDoc.set(to, slot);
    this.#texts.docs.set(slot, to);
  }

  /** Returns documents that share a term with the query, best first, equal ones by id. */
  search(text: string, { limit, accept, idOf }: Bm25SearchOptions): Bm25Match[] {
    this.#includeFresh();
    const { terms, largest } = this.#toQuery(text);
    if (terms.length === 0) return [];
    const found = new TopK(limit, idOf);
    const docs = this.#texts.docs.values;
    for (const slot of this.#sumUp(terms)) {
      const doc = docs[slot] as number;
      if (doc !== -1 && (!accept || accept(doc))) found.offer(doc, this.#scores[slot] as number);
      this.#scores[slot] = 0;
    }
    return found.toSorted().map(({ row, similarity }) => ({ doc: row, score: similarity / largest }));
  }

  /** @returns terms that some text contains, and the upper bound of all scores */
  #toQuery(text: string): { terms: QueryTerm[]; largest: number } {
    const counts = new Map<string, number>();
    for (const term of this.#toTerms(text)) counts.set(term, (counts.get(term) ?? 0) + 1);
    const terms: QueryTerm[] = [];
    let largest = 0;
    for (const [term, count] of counts) {
      const number = this.#texts.numbers.get(term);
      const frequency = number === undefined ? 0 : this.#texts.frequencies.at(number);
      const weight = count * Math.log(1 + (this.count - frequency + 0.5) / (frequency + 0.5));
      largest += weight * (k1 + 1);
      if (number !== undefined && frequency > 0) terms.push({ number, weight });
    }
    return { terms, largest };
  }

  /** Adds up the scores of all texts that contain one of the terms. @returns their slots */
  #sumUp(terms: readonly QueryTerm[]): number[] {
    const texts = this.#texts;
    if (this.#scores.length < texts.slots) this.#scores = new Float64Array(texts.slots * 2);
    const scores = this.#scores;
    const lengths = texts.lengths.values;
    const averageLength = texts.totalLength / texts.count;
    const touched: number[] = [];
    const add = (slot: number, count: number, weight: number): void => {
      const length = lengths[slot] as number;
      if (scores[slot] === 0) touched.push(slot);
      (scores[slot] as number) += (weight * count * (k1 + 1)) / (count + k1 * (1 - b + (b * length) / averageLength));
    };
    const { starts, slotOf, countOf } = this.#postings;
    for (const { number, weight } of terms) {
      const end = starts[number + 1] ?? 0;
      for (let at = starts[number] ?? 0; at < end; at += 1) add(slotOf[at] as number, countOf[at] as number, weight);
      const fresh = this.#fresh.get(number) ?? [];
      for (let at = 0; at < fresh.length; at += 2) add(fresh[at] as number, fresh[at + 1] as number, weight);
    }
    return touched;
  }

  /** Makes texts that were added since the last search findable: sorts all of them if they are many. */
  #includeFresh(): void {
    const texts = this.#texts;
    const sorted = this.#postings.slots;
    if (texts.slots - sorted >= Math.max(minFresh, sorted * freshShare)) return this.#sort();
    const pairs = texts.pairs.values;
    const end = texts.start(texts.slots);
    for (let slot = this.#freshEnd, at = texts.start(slot); at < end; slot += 1) {
      for (const next = texts.start(slot + 1); at < next; at += 2) {
        const term = pairs[at] as number;
        const occurrences = this.#fresh.get(term);
        if (occurrences) occurrences.push(slot, pairs[at + 1] as number);
        else this.#fresh.set(term, [slot, pairs[at + 1] as number]);
      }
    }
    this.#freshEnd = texts.slots;
  }

  #sort(): void {
    if (this.#removed > 0) {
      this.#texts = this.#texts.compact();
      const { docs, slots } = this.#texts;
      for (let slot = 0; slot < slots; slot += 1) this.#slotOfDoc.set(docs.at(slot), slot);
      this.#removed = 0;
    }
    this.#postings = buildPostings(this.#texts);
    this.#fresh.clear();
    this.#freshEnd = this.#texts.slots;
  }
}

/** Sorts texts by term, in two passes. */
function buildPostings(texts: CountedTexts): Postings {
  const { slots } = texts;
  const terms = texts.frequencies.length;
  const pairs = texts.pairs.values;
  const length = texts.start(slots);
  const starts = new Int32Array(terms + 1);
  for (let at = 0; at < length; at += 2) (starts[(pairs[at] as number) + 1] as number) += 1;
  for (let term = 0; term < terms; term += 1) (starts[term + 1] as number) += starts[term] as number;
  const next = starts.slice();
  const slotOf = new Int32Array(length / 2);
  const countOf = new Int32Array(length / 2);
  for (let slot = 0; slot < slots; slot += 1) {
    const end = texts.start(slot + 1);
    for (let at = texts.start(slot); at < end; at += 2) {
      const term = pairs[at] as number;
      const place = next[term] as number;
      next[term] = place + 1;
      slotOf[place] = slot;
      countOf[place] = pairs[at + 1] as number;
    }
  }
  return { slots, starts, slotOf, countOf };
}

/**
 * Texts as terms with their numbers of occurrence, one after another in one piece of memory. A text gets the next slot; a removed
 * text keeps its slot until {@link CountedTexts.compact}.
 */
class CountedTexts {
  /** Number of each term. */
  readonly numbers = new Map<string, number>();
  /** Texts that contain each term. */
  readonly frequencies = new IntList();
  /** Document of each slot; −1 for a removed text. */
  readonly docs = new IntList();
  /** Terms of each text, repeated ones included. */
  readonly lengths = new IntList();
  /** The number of a term and its occurrences, in turn. See {@link CountedTexts.start}. */
  readonly pairs = new IntList();
  readonly #starts = new IntList();
  /** Texts that were not removed. */
  count = 0;
  /** Sum of their lengths. */
  totalLength = 0;

  /** Slots, including those of removed texts. */
  get slots(): number {
    return this.docs.length;
  }

  /** Returns the start of a slot's pairs; they end at the start of the next slot. */
  start(slot: number): number {
    return slot === this.slots ? this.pairs.length : this.#starts.at(slot);
  }

  /** @returns the slot of the text */
  append(doc: number, terms: readonly string[]): number {
    const slot = this.#addSlot(doc, terms.length);
    const counts = new Map<number, number>();
    for (const term of terms) {
      const number = this.#numberOf(term);
      counts.set(number, (counts.get(number) ?? 0) + 1);
    }
    for (const [number, count] of counts) {
      this.pairs.push(number);
      this.pairs.push(count);
      this.frequencies.set(number, this.frequencies.at(number) + 1);
    }
    return slot;
  }

  remove(slot: number): void {
    this.docs.set(slot, -1);
    const end = this.start(slot + 1);
    for (let at = this.start(slot); at < end; at += 2) {
      const number = this.pairs.at(at);
      this.frequencies.set(number, this.frequencies.at(number) - 1);
    }
    this.count -= 1;
    this.totalLength -= this.lengths.at(slot);
  }

  /** Returns the same texts without removed ones. Slots and numbers change, the order of texts does not. */
  compact(): CountedTexts {
    const compacted = new CountedTexts();
    const newNumbers = new Int32Array(this.frequencies.length);
    for (const [term, number] of this.numbers) {
      const frequency = this.frequencies.at(number);
      if (frequency === 0) continue;
      newNumbers[number] = compacted.#numberOf(term);
      compacted.frequencies.set(newNumbers[number], frequency);
    }
    for (let slot = 0; slot < this.slots; slot += 1) {
      const doc = this.docs.at(slot);
      if (doc === -1) continue;
      compacted.#addSlot(doc, this.lengths.at(slot));
      const end = this.start(slot + 1);
      for (let at = this.start(slot); at < end; at += 2) {
        compacted.pairs.push(newNumbers[this.pairs.at(at)] as number);
        compacted.pairs.push(this.pairs.at(at + 1));
      }
    }
    return compacted;
  }

  #addSlot(doc: number, length: number): number {
    this.#starts.push(this.pairs.length);
    this.lengths.push(length);
    this.docs.push(doc);
    this.count += 1;
    this.totalLength += length;
    return this.slots - 1;
  }

  #numberOf(term: string): number {
    let number = this.numbers.get(term);
    if (number === undefined) {
      number = this.frequencies.length;
      // A copy: engines keep the text that a word was cut from alive with the word.
      this.numbers.set(Array.from(term).join(''), number);
      this.frequencies.push(0);
    }
    return number;
  }
}

/** A growing list of 32-bit integers in one piece of memory. */
class IntList {
  length = 0;
  /** The memory itself: valid up to `length`, until the next `push`. */
  values = new Int32Array(64);

  at(position: number): number {
    return this.values[position] as number;
  }

  set(position: number, value: number): void {
    this.values[position] = value;
  }

  push(value: number): void {
    if (this.length === this.values.length) {
      const larger = new Int32Array(this.length * 2);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.length] = value;
    this.length += 1;
  }
}
