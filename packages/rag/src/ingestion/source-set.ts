import { canonicalJson } from '../document/canonical-json.js';
import { contentHash } from '../document/content-hash.js';
import type { VectorFilter } from '../store/vector-store.js';
import { createIdSet } from './id-set.js';

/** The values of `metadata.source` of the documents of a run. */
export interface SourceSet {
  add(source: unknown): void;
  has(source: unknown): boolean;
  /** What selects the records of these sources in a store, and perhaps others: one filter for each few sources, or none for all. */
  toFilters(): VectorFilter[];
}

/** Beyond so many, reading the whole index is less work than asking for each, and the values need not be kept. */
const maxListed = 1000;
const sourcesPerFilter = 100;

export function createSourceSet(): SourceSet {
  const hashes = createIdSet();
  let listed: (string | number | boolean)[] | undefined = [];
  const hash = (source: unknown): string => contentHash(canonicalJson(source));
  return {
    add(source) {
      if (!hashes.add(hash(source)) || !listed) return;
      if (listed.length < maxListed && isScalar(source)) listed.push(source);
      else listed = undefined;
    },
    has: (source) => hashes.has(hash(source)),
    toFilters() {
      if (!listed) return [undefined];
      const filters: VectorFilter[] = [];
      for (let start = 0; start < listed.length; start += sourcesPerFilter) {
        filters.push({ source: { $in: listed.slice(start, start + sourcesPerFilter) } });
      }
      return filters;
    },
  };
}

/** What a filter can be compared with. */
function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'boolean'].includes(typeof value) || Number.isFinite(value);
}
