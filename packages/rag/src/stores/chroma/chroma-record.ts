import type { CheckedRecord } from '../../store/check-arguments.js';
import type { VectorMetadata } from '../../store/vector-store.js';

/** The metadata as JSON: Chroma itself has no nested objects, no null, and no lists of mixed types. */
const jsonKey = 'quiver_json';
/** `true` where some of the metadata is only in the JSON, so that Chroma cannot filter by it. */
export const partialKey = 'quiver_partial';

/** Keys that mean themselves in Chroma's filters. */
export function isNativeKey(key: string): boolean {
  return /^[a-z_][\w.-]{0,127}$/i.test(key) && !key.startsWith('quiver_') && !key.startsWith('chroma');
}

/** Scalars stand beside the JSON, where Chroma can filter by them. */
export function toChromaMetadata({ metadata }: CheckedRecord): VectorMetadata {
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
