import type { Filter } from '../../filter/index.js';
import { keywordText, recordText } from '../../store/record-text.js';
import type { CheckedRecord } from '../../store/checks.js';
import { combine, type FieldCondition, toServiceCondition } from '../../store/conditions.js';
import type { VectorMetadata, VectorRecord } from '../../store/vector-store.js';
import type { ChromaRows, ChromaSelection, ChromaWhere } from './chroma-client.js';

/** The metadata as JSON: Chroma itself has no nested objects, no null, and no lists of mixed types. */
const jsonKey = 'quiver_json';
/** `true` where some of the metadata is only in the JSON, so that Chroma cannot filter by it. */
const partialKey = 'quiver_partial';
/**
 * `false` where the document in Chroma is only a copy of a text in the metadata, for keyword search; where it begins with the context of
 * the text, the length of this beginning.
 */
const textStartKey = 'quiver_document';

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
  const searched = keywordText(record);
  const before = searched.length - recordText(record).length;
  const native = Object.entries(metadata).filter(
    ([key, value]) => isNativeKey(key) && ['string', 'number', 'boolean'].includes(typeof value),
  );
  return {
    id,
    embedding: [...vector],
    metadata: {
      ...Object.fromEntries(native),
      [partialKey]: native.length < Object.keys(metadata).length,
      [jsonKey]: JSON.stringify(metadata),
      ...(document === '' ? { [textStartKey]: false } : before > 0 && { [textStartKey]: before }),
    },
    document: searched,
  };
}

/** Converts rows of Chroma. Metadata of other writers is returned unchanged. */
export function fromChromaRows({ ids, metadatas, documents, embeddings }: ChromaRows): VectorRecord[] {
  return ids.map((id, row) => {
    const [stored, document, vector] = [metadatas?.[row], documents?.[row], embeddings?.[row]];
    const json: unknown = stored?.[jsonKey];
    const start: unknown = stored?.[textStartKey];
    return {
      id,
      metadata: typeof json === 'string' ? (JSON.parse(json) as VectorMetadata) : { ...stored },
      ...(document && start !== false && { document: typeof start === 'number' ? document.slice(start) : document }),
      ...(vector && { vector: Array.from(vector) }),
    };
  });
}

/** Returns the columns of a record. */
export function includedIn(includeVector: boolean): ChromaSelection['include'] {
  return ['metadatas', 'documents', ...(includeVector ? (['embeddings'] as const) : [])];
}

/** The database of Chroma rejects 1,000 conditions, and 6,000 crash the server. */
export const maxConditions = 300;

/**
 * Returns the part of a filter that Chroma can apply: a superset matches it.
 *
 * Only equality is left to Chroma. Its other comparisons depend on whether a number was written as an integer, and its negations
 * on whether a key is there.
 */
export function filterToWhere(filter: Filter): ChromaWhere | undefined {
  let conditions = 0;
  const toWhere = (key: string, field: FieldCondition): ChromaWhere | undefined => {
    if (field.kind === 'order' || !isNativeKey(key)) return undefined;
    const values = field.kind === 'equal' ? [field.value] : field.values;
    // Chroma cannot find a field that is null or missing.
    if (values.includes(null)) return undefined;
    // It takes lists of one type only. Whole numbers and fractions are two types there.
    const lists = ['string', 'boolean'].map((type) => values.filter((value) => typeof value === type));
    const parts: ChromaWhere[] = [
      ...lists.filter((list) => list.length > 0).map((list) => ({ [key]: { $in: list } })),
      ...values.filter((value) => typeof value === 'number').map((value) => ({ [key]: { $eq: value } })),
    ];
    conditions += parts.length;
    return combine('or', parts);
  };
  const condition = toServiceCondition(filter, toWhere, combine);
  if (conditions > maxConditions) return undefined;
  return condition && { $or: [{ [partialKey]: true }, condition] };
}
