import { copyOf, isFunctionTerm } from './analysis.js';
import type { QueryTerm } from './query-terms.js';
import { TopK } from '../store/top-k.js';

/** Saturation: how soon further occurrences of a word in a text stop to count. */
const k1 = 1.2;
/** Length normalization. */
const b = 0.75;
/** Weight of a word that one of eight texts has: a word of questions counts no more than that, however rare it is in the texts. */
const mostOfQuestionWord = Math.log(8);
/** Removed texts stay in the postings until there are so many of them, and that share of all. */
const minRemoved = 1024;
const removedShare = 1 / 4;

const noNumbers = new Float64Array(0);

export interface Bm25SearchOptions {
  limit: number;
  /** Whether a document may be found. Default all. */
  accept?: ((doc: number) => boolean) | undefined;
  /** Orders documents of equal score. */
  idOf: (doc: number) => string;
}

export interface Bm25Match {
  readonly doc: number;
  /** Share of the largest score that a text in the language of the query could reach: above 0, at most 1. */
  readonly score: number;
}

/** Postings by term, as a `Map` has them: number of a text and occurrences there, in turn, in ascending order of the texts. */
export type Postings = Pick<ReadonlyMap<string, readonly number[]>, 'get' | 'keys'>;

/** Documents numbered from 0, as {@link Bm25Index.read} returns them. */
export interface StoredTerms {
  /** Terms of each document that count for its length. */
  readonly lengths: ArrayLike<number>;
  readonly postings: Postings;
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
  /** By term: slot of a text and occurrences there, in turn. A text gets the next slot; a removed one keeps its slot. */
  readonly #postings = new Map<string, number[]>();
  readonly #slotOfDoc = new Map<number, number>();
  /** Document of each slot; −1 for a removed text. */
  #docs: number[] = [];
  /** Terms of each slot's text that count for its length, repeated ones included. */
  #lengths: number[] = [];
  #totalLength = 0;
  /** Sums of a search in progress, by slot: all 0 between searches. */
  #scores = new Float64Array(0);
  /** Slots whose sums are not 0, for a search in progress. */
  #touched = new Int32Array(0);
  /** By slot: the part of the denominator of a score that depends on the length. Empty after a change. */
  #normalizations = new Float64Array(0);

  /** Postings that no search or change has needed yet. */
  #stored: Postings | undefined;

  /** @param docs - the current number of each stored document, −1 for one that was removed */
  constructor(stored?: StoredTerms, docs: readonly number[] = []) {
    if (!stored) return;
    this.#stored = stored.postings;
    this.#docs = [...docs];
    this.#lengths = Array.from(stored.lengths);
    for (const [slot, doc] of docs.entries()) {
      if (doc === -1) continue;
      this.#slotOfDoc.set(doc, slot);
      this.#totalLength += this.#lengths[slot] as number;
    }
  }

  /** Returns the documents, whose numbers have no gaps, to be stored. */
  read(): StoredTerms {
    this.#readStored();
    const lengths = new Uint32Array(this.count);
    for (const [doc, slot] of this.#slotOfDoc) lengths[doc] = this.#lengths[slot] as number;
    return { lengths, postings: { keys: () => this.#postings.keys(), get: (term) => this.#byDocument(term) } };
  }

  #byDocument(term: string): readonly number[] {
    const pairs = this.#postings.get(term) ?? [];
    const found: [doc: number, occurrences: number][] = [];
    for (let at = 0; at < pairs.length; at += 2) {
      const doc = this.#docs[pairs[at] as number] as number;
      if (doc !== -1) found.push([doc, pairs[at + 1] as number]);
    }
    return found.sort(([a], [b]) => a - b).flat();
  }

  #readStored(): void {
    for (const term of this.#stored?.keys() ?? []) this.#pairsOf(term);
    this.#stored = undefined;
  }

  #pairsOf(term: string): number[] | undefined {
    const known = this.#postings.get(term);
    const stored = known ? undefined : this.#stored?.get(term);
    if (!stored) return known;
    const pairs = [...stored];
    this.#postings.set(copyOf(term), pairs);
    return pairs;
  }

  get count(): number {
    return this.#slotOfDoc.size;
  }

  /** Adds a document, or replaces its terms. */
  set(doc: number, terms: readonly string[]): void {
    this.delete(doc);
    const slot = this.#docs.push(doc) - 1;
    this.#slotOfDoc.set(doc, slot);
    let length = 0;
    for (const term of terms) {
      if (!isFunctionTerm(term)) length += 1;
      const pairs = this.#pairsOf(term);
      if (!pairs) this.#postings.set(copyOf(term), [slot, 1]);
      else if (pairs[pairs.length - 2] === slot) (pairs[pairs.length - 1] as number) += 1;
      else pairs.push(slot, 1);
    }
    this.#lengths.push(length);
    this.#totalLength += length;
    this.#normalizations = noNumbers;
  }

  /** Removes a document, if it exists. */
  delete(doc: number): void {
    const slot = this.#slotOfDoc.get(doc);
    if (slot === undefined) return;
    this.#slotOfDoc.delete(doc);
    this.#docs[slot] = -1;
    this.#totalLength -= this.#lengths[slot] as number;
    this.#normalizations = noNumbers;
    const removed = this.#docs.length - this.count;
    if (removed >= minRemoved && removed >= this.count * removedShare) this.#compact();
  }

  /** Gives a document another number, which must be free. */
  move(from: number, to: number): void {
    const slot = this.#slotOfDoc.get(from);
    if (slot === undefined) return;
    this.#slotOfDoc.delete(from);
    this.#slotOfDoc.set(to, slot);
    this.#docs[slot] = to;
  }

  /** Returns documents that share a term with the query, best first, equal ones by id. */
  search(terms: readonly QueryTerm[], { limit, accept, idOf }: Bm25SearchOptions): Bm25Match[] {
    this.#prepare();
    const [scores, docs, touched] = [this.#scores, this.#docs, this.#touched];
    let touchedCount = 0;
    /** Upper bound of the scores of texts in the language of the query. */
    let largest = 0;
    for (const { forms, weight: occurrences, isQuestionWord, isOfOtherLanguage = false } of terms) {
      const lists = forms.map((form) => this.#pairsOf(form)).filter((pairs) => pairs !== undefined);
      // A text has one language, so that texts with two forms of a word are rare.
      const together = lists.reduce((sum, pairs) => sum + this.#frequency(pairs), 0);
      const frequency = Math.min(this.count, together);
      const rarity = Math.log(1 + (this.count - frequency + 0.5) / (frequency + 0.5));
      const weight = occurrences * (isQuestionWord ? Math.min(rarity, mostOfQuestionWord) : rarity);
      if (!isOfOtherLanguage) largest += weight * (k1 + 1);
      for (const pairs of lists) touchedCount = this.#addScores(pairs, weight, touchedCount);
    }
    const found = new TopK(limit, idOf);
    for (let at = 0; at < touchedCount; at += 1) {
      const slot = touched[at] as number;
      const doc = docs[slot] as number;
      if (doc !== -1 && (!accept || accept(doc))) found.offer(doc, scores[slot] as number);
      scores[slot] = 0;
    }
    return found.toSorted().map(({ row, similarity }) => ({ doc: row, score: Math.min(1, similarity / largest) }));
  }

  #frequency(pairs: readonly number[]): number {
    if (this.#docs.length === this.count) return pairs.length / 2;
    let frequency = 0;
    for (let at = 0; at < pairs.length; at += 2) if (this.#docs[pairs[at] as number] !== -1) frequency += 1;
    return frequency;
  }

  #prepare(): void {
    const size = this.#docs.length;
    if (this.#scores.length < size) {
      this.#scores = new Float64Array(size * 2);
      this.#touched = new Int32Array(size * 2);
    }
    if (this.#normalizations.length === size) return;
    // Texts of words without a subject alone have the length 0.
    const averageLength = this.#totalLength / this.count || 1;
    this.#normalizations = new Float64Array(size);
    for (const [slot, length] of this.#lengths.entries())
      this.#normalizations[slot] = k1 * (1 - b + (b * length) / averageLength);
  }

  /** Adds the scores of a term. @returns the number of touched slots, after `touchedCount` were */
  #addScores(pairs: readonly number[], weight: number, touchedCount: number): number {
    const [scores, touched, normalizations] = [this.#scores, this.#touched, this.#normalizations];
    let end = touchedCount;
    for (let at = 0; at < pairs.length; at += 2) {
      const slot = pairs[at] as number;
      const count = pairs[at + 1] as number;
      const score = scores[slot] as number;
      if (score === 0) touched[end++] = slot;
      scores[slot] = score + (weight * count * (k1 + 1)) / (count + (normalizations[slot] as number));
    }
    return end;
  }

  #compact(): void {
    this.#readStored();
    const kept = [...this.#docs.keys()].filter((slot) => this.#docs[slot] !== -1);
    const newSlots = new Int32Array(this.#docs.length).fill(-1);
    for (const [slot, old] of kept.entries()) newSlots[old] = slot;
    this.#docs = kept.map((slot) => this.#docs[slot] as number);
    this.#lengths = kept.map((slot) => this.#lengths[slot] as number);
    for (const [slot, doc] of this.#docs.entries()) this.#slotOfDoc.set(doc, slot);
    for (const [term, pairs] of this.#postings) {
      let end = 0;
      for (let at = 0; at < pairs.length; at += 2) {
        const slot = newSlots[pairs[at] as number] as number;
        if (slot === -1) continue;
        pairs[end] = slot;
        pairs[end + 1] = pairs[at + 1] as number;
        end += 2;
      }
      if (end === 0) this.#postings.delete(term);
      else pairs.length = end;
    }
  }
}
