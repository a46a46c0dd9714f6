import type { FieldPath, Filter, FilterScalar } from '../../filter/index.js';
import { type CheckedRecord, invalidArgument } from '../../store/check-arguments.js';
import type { VectorMetadata, VectorRecord } from '../../store/vector-store.js';
import type { PineconeRecord, SparseVector } from './pinecone-client.js';

/** The metadata as JSON, where it holds what Pinecone cannot: nested objects, null, and lists of anything but strings. */
const jsonKey = 'quiver_json';
/** `true` next to the JSON: Pinecone cannot filter by all of the metadata. */
const partialKey = 'quiver_partial';
const documentKey = 'quiver_document';

const longestMetadata = 40_960;

/** Keys that mean themselves in Pinecone's filters. */
function isNativeKey(key: string): boolean {
  return key !== '' && !key.startsWith('$') && !key.startsWith('quiver_');
}

/** @throws `VECTOR_ARGUMENT_INVALID` for what Pinecone refuses: vectors of zeros, and metadata above 40 KB, naming its largest keys */
export function toPineconeRecord(record: CheckedRecord, sparseValues?: SparseVector): PineconeRecord {
  const { id, vector, metadata, document } = record;
  if (vector.every((value) => value === 0))
    throw invalidArgument(`The vector of '${id}' holds only zeros, which Pinecone does not store.`);
  const native = Object.entries(metadata).filter(([key, value]) => isNativeKey(key) && isNative(value));
  const stored: VectorMetadata = Object.fromEntries(native);
  if (native.length < Object.keys(metadata).length) {
    stored[partialKey] = true;
    stored[jsonKey] = JSON.stringify(metadata);
  }
  if (document !== undefined) stored[documentKey] = document;
  const size = bytesOf(stored);
  if (size > longestMetadata) {
    const largest = Object.entries({ ...metadata, ...(document !== undefined && { document }) })
      .map(([key, value]) => ({ key, bytes: bytesOf(value) }))
      .toSorted((a, b) => b.bytes - a.bytes)
      .slice(0, 3)
      .map(({ key, bytes }) => `${key} (${bytes} bytes)`);
    throw invalidArgument(
      `The metadata of '${id}', its document included, takes ${size} bytes; Pinecone allows ${longestMetadata}. Largest: ${largest.join(', ')}.`,
    );
  }
  return { id, values: [...vector], metadata: stored, ...(sparseValues && { sparseValues }) };
}

export function bytesOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

function isNative(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every((item) => typeof item === 'string');
  return ['string', 'number', 'boolean'].includes(typeof value);
}

export function fromPineconeRecord(
  { id, values, metadata = {} }: PineconeRecord,
  includeVector: boolean,
): VectorRecord {
  const { [jsonKey]: json, [partialKey]: _partial, [documentKey]: document, ...native } = metadata;
  return {
    id,
    metadata: typeof json === 'string' ? (JSON.parse(json) as VectorMetadata) : native,
    ...(typeof document === 'string' && { document }),
    ...(includeVector && values && { vector: Array.from(Float32Array.from(values)) }),
  };
}

/**
 * The part of a filter that Pinecone can apply: it lets all records through that pass the filter, and others. The filter has to
 * be evaluated on what comes back.
 *
 * @returns `undefined` when nothing can be said in Pinecone's language
 */
export function filterToPinecone(filter: Filter): object | undefined {
  const condition = compile(filter);
  return condition && { $or: [{ [partialKey]: { $eq: true } }, condition] };
}

function compile(filter: Filter): object | undefined {
  switch (filter.kind) {
    case 'and': {
      const parts = filter.filters.map(compile).filter((part) => part !== undefined);
      return parts.length > 0 ? { $and: parts } : undefined;
    }
    case 'or': {
      const parts = filter.filters.map(compile);
      return parts.length > 0 && parts.every((part) => part !== undefined) ? { $or: parts } : undefined;
    }
    case 'equal':
      return equalToOne(filter.path, [filter.value]);
    case 'in':
      return equalToOne(filter.path, filter.values);
    case 'order':
      if (typeof filter.value !== 'number') return undefined;
      return condition(filter.path, { [`$${filter.order}`]: filter.value });
    default:
      return undefined;
  }
}

/** A field that is null or missing Pinecone cannot find. Lists of strings match by their elements, as they should. */
function equalToOne(path: FieldPath, values: readonly FilterScalar[]): object | undefined {
  if (values.length === 0 || values.includes(null)) return undefined;
  return condition(path, { $in: values });
}

function condition(path: FieldPath, operators: object): object | undefined {
  const key = path.join('.');
  return isNativeKey(key) ? { [key]: operators } : undefined;
}
