import { createFilterTest, type Filter } from '../../filter/index.js';
import { keywordText, recordText } from '../../store/record-text.js';
import type { CheckedRecord } from '../../store/checks.js';
import { combine, toServiceCondition } from '../../store/conditions.js';
import { partsOf } from '../../requests/parts-of.js';
import type { VectorMetadata, VectorRecord } from '../../store/vector-store.js';
import type { ChromaCollection, ChromaRows, ChromaSelection, ChromaWhere } from './chroma-client.js';

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
function toChromaRecord(record: CheckedRecord): {
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

/** A collection, and a condition on the documents that are read. */
export interface ChromaSource {
  readonly collection: ChromaCollection;
  readonly whereDocument: ChromaWhere | undefined;
}

/** Limit of Chroma Cloud. */
export const recordsPerRead = 300;

/** Returns the existing records, in any order. */
export async function readRecords(
  { collection, whereDocument }: ChromaSource,
  ids: readonly string[],
  includeVector: boolean,
): Promise<VectorRecord[]> {
  const selection = { include: includedIn(includeVector), ...(whereDocument && { whereDocument }) };
  const records: VectorRecord[] = [];
  for (const part of partsOf(ids, recordsPerRead))
    records.push(...fromChromaRows(await collection.get({ ids: part, ...selection })));
  return records;
}

/** Returns the ids of all records that match a filter, in any order. */
export async function selectIds(source: ChromaSource, filter: Filter | undefined): Promise<string[]> {
  const ids: string[] = [];
  const matches = createFilterTest(filter);
  for await (const page of readPages(source, filter ? ['metadatas'] : [], filter))
    for (const { id, metadata } of page) if (matches(metadata)) ids.push(id);
  return ids;
}

export async function writeRecords(
  collection: ChromaCollection,
  records: readonly CheckedRecord[],
  batchSize: number,
): Promise<void> {
  for (const part of partsOf(records, batchSize)) {
    const rows = part.map(toChromaRecord);
    await collection.upsert({
      ids: rows.map(({ id }) => id),
      embeddings: rows.map(({ embedding }) => embedding),
      metadatas: rows.map(({ metadata }) => metadata),
      documents: rows.map(({ document }) => document),
    });
  }
}

export async function deleteRecords(collection: ChromaCollection, ids: readonly string[]): Promise<void> {
  for (const part of partsOf(ids, recordsPerRead)) await collection.delete({ ids: part });
}

/** Reads all records that match Chroma's part of a filter, in unordered pages. */
export async function* readPages(
  { collection, whereDocument }: ChromaSource,
  include: ChromaSelection['include'],
  filter: Filter | undefined,
): AsyncGenerator<VectorRecord[]> {
  const where = filter && filterToWhere(filter);
  const selection = { include, ...(where && { where }), ...(whereDocument && { whereDocument }) };
  for (let offset = 0; ; offset += recordsPerRead) {
    const rows = await collection.get({ ...selection, limit: recordsPerRead, offset });
    yield fromChromaRows(rows);
    if (rows.ids.length < recordsPerRead) return;
  }
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
  const condition = toServiceCondition(filter, (key, field) => {
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
    return combine('$or', parts);
  });
  if (conditions > maxConditions) return undefined;
  return condition && { $or: [{ [partialKey]: true }, condition] };
}
