import {
  numberIn,
  objectOf,
  oneOf,
  type OptionCheck,
  required,
  valueThat,
  wholeNumber,
  invalidOptions,
} from '@quiver/core/internal';
import type { MmrOptions, FusionWeights, QueryMode, VectorMetric, VectorStore } from './vector-store.js';

/** Rejects options that have no effect next to another one. @throws `OPTIONS_INVALID` */
export function rejectBeside(owner: string, given: string, others: Readonly<Record<string, unknown>>): void {
  const names = Object.keys(others).filter((name) => others[name] !== undefined);
  if (names.length === 0) return;
  throw invalidOptions(`${owner} accepts '${given}' or '${names.join("', '")}', not both.`);
}

/** Number of results of a query that names none. */
export const defaultTopK = 10;

/** Upper bound of `topK`. A larger value is most likely a mistake; `listVectors` returns all records in pages. */
export const largestTopK = 1_000_000;

/** Accepts a number of results. */
export const topKValue: OptionCheck = wholeNumber(1, largestTopK);

/** Accepts a confidence. */
export const confidenceValue: OptionCheck = numberIn({ least: 0, most: 1 });

/** Modes of search. */
export const searchModes: readonly QueryMode[] = ['vector', 'keyword', 'hybrid'];

/** Accepts a mode of search. */
export const modeValue: OptionCheck = oneOf(...searchModes);

/** Similarities of vectors. */
export const vectorMetrics: readonly VectorMetric[] = ['cosine', 'euclidean', 'dotproduct'];

/** Accepts `minScore` of a query: `RecordStore` leaves out the other results. */
export const minScoreValue: OptionCheck = numberIn({});

/** Accepts the weights of a hybrid search. */
export const fusionValue: OptionCheck = objectOf<FusionWeights>({
  vector: numberIn({ least: 0 }),
  keyword: numberIn({ least: 0 }),
});

/** Accepts the settings of diverse results. */
export const mmrValue: OptionCheck = objectOf<MmrOptions>({
  lambda: numberIn({ least: 0, most: 1 }),
  candidates: topKValue,
});

/** Requires an embedding model. `toEmbedder` checks the value. */
export const modelValue: OptionCheck = required(
  () => undefined,
  'an embedding model, a model string or an embedder, such as createLexicalEmbedder()',
);

/** Accepts an object whose values are objects, such as settings by store. */
export const objectsByName: OptionCheck = valueThat(
  (value) => isObject(value) && Object.values(value).every((item) => item === undefined || isObject(item)),
  'an object of objects',
);

/** Accepts an object that is not a list. */
export const objectValue: OptionCheck = valueThat(isObject, 'an object');

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Requires a vector store. */
export const storeValue: OptionCheck = required(
  valueThat(
    // A store for one purpose may lack methods that others need.
    (value) =>
      [(value as VectorStore | null)?.listVectors, (value as VectorStore | null)?.upsert].some(
        (method) => typeof method === 'function',
      ),
    'a vector store, such as a LocalVector',
  ),
);
