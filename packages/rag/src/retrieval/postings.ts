import type { CountedTexts } from './counted-texts.js';

/** For each term the slots of the texts that hold it, and how often they do, in the order of slots. */
export interface Postings {
  /** Slots that are covered. */
  readonly slots: number;
  /** Where the postings of each term begin; one more at the end. Terms beyond are in no text that is covered. */
  readonly starts: Int32Array;
  readonly slotOf: Int32Array;
  readonly countOf: Int32Array;
}

/** Sorts texts by term, in two passes. */
export function buildPostings(texts: CountedTexts): Postings {
  const { terms, slots, pairs } = texts;
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
