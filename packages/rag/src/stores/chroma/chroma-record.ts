import type { CheckedRecord } from '../../store/check-arguments.js';
import { recordText } from '../../store/record-text.js';
import type { VectorMetadata, VectorRecord } from '../../store/vector-store.js';

/** The metadata as JSON: Chroma itself has no nested objects, no null, and no lists of mixed types. */
const jsonKey = 'quiver_json';
/** `true` where some of the metadata is only in the JSON, so that Chroma cannot filter by it. */
export const partialKey = 'quiver_partial';
/** `false` where the document that Chroma holds is only a copy of a text in the metadata, for the search by words. */
const documentKey = 'quiver_document';

/** Keys that mean themselves in Chroma's filters. */
export function isNativeKey(key: string): boolean {
  return /^[a-z_][\w.-]{0,127}$/i.test(key) && !key.startsWith('quiver_') && !key.startsWith('chroma');
}

/** A record as Chroma takes it. Scalars stand beside the JSON, where Chroma can filter by them. */
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

/** Metadata that something else has written is returned as it is. */
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
