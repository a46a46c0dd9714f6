import { QuiverError } from '@quiver/core';
import { evaluateFilter, type Filter } from '../../filter/index.js';
import { Bm25Index } from '../../retrieval/bm25-index.js';
import { lexicalTerms } from '../../retrieval/lexical-terms.js';
import { recordText, toVector } from '../../store/check-arguments.js';
import {
  type KeywordSearch,
  nearestMatching,
  type NearestMatchingOptions,
  type VectorSearch,
} from '../../store/search.js';
import type { VectorMatch, VectorMetric, VectorRecord } from '../../store/vector-store.js';
import type { ChromaCollection, ChromaWhere } from './chroma-client.js';
import { type OpenCollection, readByIds, recordsPerRead } from './chroma-collection.js';
import { filterToWhere, fromChromaRecord } from './chroma-record.js';

/** They are all read and ordered here. */
const mostTexts = 10_000;

/** Context of a query. */
export interface QueryPlace {
  readonly open: OpenCollection;
  readonly filter: Filter | undefined;
  readonly whereDocument: ChromaWhere | undefined;
}

/** Returns the best records of a search, best first. */
export async function findRecords(place: QueryPlace, search: VectorSearch | KeywordSearch): Promise<VectorMatch[]> {
  if (search.mode === 'keyword') return findByWords(place, search);
  return nearestMatching(findNearest(place, search));
}

/**
 * Returns records that share a term with the query. Chroma has no keyword search: it selects the documents that contain a prefix of a
 * term, and BM25 ranks them here, among themselves.
 *
 * @throws `VECTOR_QUERY_UNSUPPORTED` when they are more than 10,000
 */
async function findByWords(
  { open: { collection }, filter, whereDocument }: QueryPlace,
  { queryText, limit, includeVector }: KeywordSearch,
): Promise<VectorMatch[]> {
  const terms = lexicalTerms(queryText);
  if (terms.length === 0) return [];
  const records = await readTexts(collection, bothOf(withAnyOf(terms), whereDocument), filter);
  const words = new Bm25Index();
  records.forEach((record, row) => words.set(row, recordText(record)));
  const recordOf = (row: number): VectorRecord => records[row] as VectorRecord;
  const best = words.search(queryText, {
    limit,
    accept: filter && ((row) => evaluateFilter(filter, recordOf(row).metadata)),
    idOf: (row) => recordOf(row).id,
  });
  const matches = best.map(({ doc, score }) => ({ ...recordOf(doc), score }));
  if (!includeVector) return matches;
  const withVectors = await readByIds(
    collection,
    matches.map(({ id }) => id),
    true,
  );
  const vectors = new Map(withVectors.map(({ id, vector }) => [id, vector]));
  return matches.map((match) => {
    const vector = vectors.get(match.id);
    return vector ? { ...match, vector } : match;
  });
}

async function readTexts(
  collection: ChromaCollection,
  whereDocument: ChromaWhere,
  filter: Filter | undefined,
): Promise<VectorRecord[]> {
  const where = filter && filterToWhere(filter);
  const records: VectorRecord[] = [];
  for (let offset = 0; ; offset += recordsPerRead) {
    const page = await collection.get({
      limit: recordsPerRead,
      offset,
      include: ['metadatas', 'documents'],
      whereDocument,
      ...(where && { where }),
    });
    page.ids.forEach((id, row) => records.push(fromChromaRecord(id, page.metadatas[row], page.documents[row])));
    if (page.ids.length < recordsPerRead) return records;
    if (records.length < mostTexts) continue;
    throw new QuiverError(
      'VECTOR_QUERY_UNSUPPORTED',
      `More than ${mostTexts} texts share a word with the question, too many to order outside of Chroma. Ask with rarer words, narrow the search by a filter, or use a store with a keyword index.`,
      { details: { mostTexts } },
    );
  }
}

/** Lets all texts through that have one of the terms, and others. Beyond ASCII upper and lower case and accents differ from ours, so such texts all come. */
function withAnyOf(terms: readonly string[]): ChromaWhere {
  const beginnings = new Set(terms.filter((term) => /^[a-z0-9]+$/.test(term)).map(beginningOf));
  const patterns = [...beginnings].map((beginning) => ({ $regex: `(?i)${beginning}` }));
  return anyOf([...patterns, { $regex: '[^\\x00-\\x7F]' }]);
}

function anyOf(conditions: ChromaWhere[]): ChromaWhere {
  return conditions.length > 1 ? { $or: conditions } : (conditions[0] as ChromaWhere);
}

function bothOf(words: ChromaWhere, whereDocument: ChromaWhere | undefined): ChromaWhere {
  return whereDocument ? { $and: [words, whereDocument] } : words;
}

/**
 * What every word begins with that becomes this term: the stemmer also changes letters at the end, as in `library`, `librari`, and
 * `sensibility`, `sensibl`.
 */
export function beginningOf(term: string): string {
  return term.replace(/(?:[eiy]|(?<=b)l)$/, '');
}

/** Describes the request for the nearest records. */
function findNearest(
  { open: { collection, dimension, metric }, filter, whereDocument }: QueryPlace,
  { queryVector, limit, includeVector }: VectorSearch,
): NearestMatchingOptions {
  const vector = toVector(queryVector, dimension, 'The query vector');
  const where = filter && filterToWhere(filter);
  return {
    wanted: limit,
    filter,
    metric,
    find: async (nResults) => {
      const answer = await collection.query({
        queryEmbeddings: [[...vector]],
        nResults,
        include: ['metadatas', 'documents', 'distances', ...(includeVector ? (['embeddings'] as const) : [])],
        ...(where && { where }),
        ...(whereDocument && { whereDocument }),
      });
      const [metadatas, documents, vectors] = [answer.metadatas[0], answer.documents[0], answer.embeddings?.[0]];
      return (answer.ids[0] ?? []).map((id, row) => ({
        similarity: toSimilarity(metric, answer.distances[0]?.[row] ?? Number.NaN),
        record: fromChromaRecord(id, metadatas?.[row], documents?.[row], vectors?.[row]),
      }));
    },
  };
}

/** Chroma gives squared distances, and 1 minus the product. A vector of zeros is similar to nothing. */
function toSimilarity(metric: VectorMetric, distance: number): number {
  if (metric === 'euclidean') return -distance;
  return Number.isFinite(distance) ? 1 - distance : 0;
}
