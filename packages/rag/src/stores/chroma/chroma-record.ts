import type { FieldPath, Filter, FilterScalar } from '../../filter/index.js';
import { type CheckedRecord, recordText } from '../../store/check-arguments.js';
import type { VectorMetadata, VectorRecord } from '../../store/vector-store.js';
import type { ChromaWhere } from './chroma-client.js';

/** The metadata as JSON: Chroma itself has no nested objects, no null, and no lists of mixed types. */
const jsonKey = 'quiver_json';
/** `true` where some of the metadata is only in the JSON, so that Chroma cannot filter by it. */
const partialKey = 'quiver_partial';
/** `false` where the document in Chroma is only a copy of a text in the metadata, for keyword search. */
const documentKey = 'quiver_document';

/** Keys that mean themselves in Chroma's filters. */
function isNativeKey(key: string): boolean {
  return /^[a-z_][\w.-]{0,127}$/i.test(key) && !key.startsWith('quiver_') && !key.startsWith('chroma');
}

/** Converts a record for Chroma. Scalars are stored in addition to the JSON, so that Chroma can filter by them. */
export function toChromaRecord(record: CheckedRecord): {
  id: string;
  embedding: number[];
  metadata: VectorMetadata;
  document: string;
} {
  const { id, vector, metadata, document = '' } = record;
  return {
    id,
    embedding: [...vector],
    metadata: { ...toChromaMetadata(metadata), ...(document === '' && { [documentKey]: false }) },
    document: recordText(record),
  };
}

function toChromaMetadata(metadata: VectorMetadata): VectorMetadata {
  const native = Object.entries(metadata).filter(
    ([key, value]) => isNativeKey(key) && ['string', 'number', 'boolean'].includes(typeof value),
  );
  return {
    ...Object.fromEntries(native),
    [partialKey]: native.length < Object.keys(metadata).length,
    [jsonKey]: JSON.stringify(metadata),
  };
}

/** Metadata of other writers is returned unchanged. */
export function fromChromaMetadata(stored: VectorMetadata | null): VectorMetadata {
  const json: unknown = stored?.[jsonKey];
  return typeof json === 'string' ? (JSON.parse(json) as VectorMetadata) : { ...stored };
}

export function fromChromaRecord(
  id: string,
  metadata: VectorMetadata | null | undefined,
  document: string | null | undefined,
  vector?: ArrayLike<number> | null,
): VectorRecord {
  return {
    id,
    metadata: fromChromaMetadata(metadata ?? null),
    ...(document && metadata?.[documentKey] !== false && { document }),
    ...(vector && { vector: Array.from(vector) }),
  };
}

/**
 * The part of a filter that Chroma can apply: it lets all records through that pass the filter, and others. The filter has to be
 * evaluated on what comes back.
 *
 * Only equality is left to Chroma. Its other comparisons depend on whether a number was written as an integer, and its negations
 * on whether a key is there.
 *
 * @returns `undefined` when nothing can be said in Chroma's language
 */
export function filterToWhere(filter: Filter): ChromaWhere | undefined {
  const condition = compile(filter);
  return condition && or([{ [partialKey]: true }, condition]);
}

function compile(filter: Filter): ChromaWhere | undefined {
  switch (filter.kind) {
    case 'and':
      return and(filter.filters.map(compile).filter((part) => part !== undefined));
    case 'or': {
      const parts = filter.filters.map(compile);
      return parts.every((part) => part !== undefined) ? or(parts) : undefined;
    }
    case 'equal':
      return equalToOne(filter.path, [filter.value]);
    case 'in':
      return equalToOne(filter.path, filter.values);
    default:
      return undefined;
  }
}

/** Chroma takes lists of one type only; a field that is null or missing it cannot find. */
function equalToOne(path: FieldPath, values: readonly FilterScalar[]): ChromaWhere | undefined {
  const key = path.join('.');
  if (!isNativeKey(key) || values.includes(null)) return undefined;
  const ofType = (type: string): FilterScalar[] => values.filter((value) => typeof value === type);
  const lists = [ofType('string'), ofType('boolean')].filter((list) => list.length > 0);
  return or([
    ...lists.map((list) => ({ [key]: { $in: list } })),
    // Whole numbers and fractions are two types there, and no list may hold both.
    ...ofType('number').map((value) => ({ [key]: { $eq: value } })),
  ]);
}

/** Lists of one and of none are errors there. */
function and(parts: readonly ChromaWhere[]): ChromaWhere | undefined {
  return parts.length > 1 ? { $and: parts } : parts[0];
}

function or(parts: readonly ChromaWhere[]): ChromaWhere | undefined {
  return parts.length > 1 ? { $or: parts } : parts[0];
}
