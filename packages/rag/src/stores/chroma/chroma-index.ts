import { QuiverError } from '@quiver/core';
import { createFilterTest, type Filter } from '../../filter/index.js';
import { partsOf } from '../../requests/parts-of.js';
import type { CheckedRecord, IndexShape } from '../../store/checks.js';
import { combine } from '../../store/conditions.js';
import { nearestMatching } from '../../store/paging.js';
import { inOrder, type NearestSearch, type OpenIndex, type TermSearch } from '../../store/record-store.js';
import { keywordText } from '../../store/record-text.js';
import { RemoteIndex, type WantedIndex } from '../remote-store.js';
import { findIfPresent } from '../store-call.js';
import type { FoundRecord } from '../../store/search.js';
import type { IndexParams, VectorMetric, VectorRecord } from '../../store/vector-store.js';
import { englishAnalysis, termsOf } from '../../words/analysis.js';
import { Bm25Index } from '../../words/bm25-index.js';
import { english } from '../../words/languages.js';
import { queryTermsIn } from '../../words/query-terms.js';
import type { ChromaCollection, ChromaLikeClient, ChromaSelection, ChromaWhere } from './chroma-client.js';
import { filterToWhere, fromChromaRows, includedIn, maxConditions, toChromaRecord } from './chroma-record.js';

/** A collection that this store created. */
export interface ChromaShape extends IndexShape {
  readonly collection: ChromaCollection;
}

const spaces: Readonly<Record<VectorMetric, string>> = { cosine: 'cosine', euclidean: 'l2', dotproduct: 'ip' };

export function createCollection(client: ChromaLikeClient, { name, dimension, metric }: WantedIndex): Promise<unknown> {
  return client.createCollection({
    name,
    configuration: { hnsw: { space: spaces[metric] } },
    metadata: { quiver_dimension: dimension, quiver_metric: metric },
    embeddingFunction: null,
  });
}

/** Returns a collection as the server describes it now; `undefined` if this store did not create it. */
export async function findCollection(client: ChromaLikeClient, indexName: string): Promise<ChromaShape | undefined> {
  const collection: ChromaCollection | undefined = await findIfPresent(
    () => client.getCollection({ name: indexName, embeddingFunction: null }),
    (error) => (error as { name?: unknown } | null)?.name === 'ChromaNotFoundError',
  );
  const shape = readShape(collection?.metadata);
  return collection && shape && { collection, ...shape };
}

function readShape(metadata: unknown): IndexShape | undefined {
  const { quiver_dimension: dimension, quiver_metric: metric } = (metadata ?? {}) as Record<string, unknown>;
  return typeof dimension === 'number' && typeof metric === 'string'
    ? { dimension, metric: metric as VectorMetric }
    : undefined;
}

export async function listIndexNames(client: ChromaLikeClient): Promise<string[]> {
  const names: string[] = [];
  for (let offset = 0; ; offset += recordsPerRead) {
    const page = await client.listCollections({ limit: recordsPerRead, offset });
    names.push(...page.filter(({ metadata }) => readShape(metadata)).map(({ name }) => name));
    if (page.length < recordsPerRead) return names.toSorted();
  }
}

/** Limit of Chroma Cloud. */
const recordsPerRead = 300;
const maxTexts = 10_000;

/** A collection, open for one call. */
export class ChromaIndex extends RemoteIndex<ChromaLikeClient, ChromaShape> implements OpenIndex {
  readonly #collection: ChromaCollection;
  readonly #whereDocument: ChromaWhere | undefined;

  /** @param whereDocument - condition on the documents that are read */
  constructor(
    client: ChromaLikeClient,
    index: ChromaShape,
    params: IndexParams,
    whereDocument: ChromaWhere | undefined,
  ) {
    super(client, index, params);
    this.#collection = index.collection;
    this.#whereDocument = whereDocument;
  }

  count(): Promise<number> {
    return this.#collection.count();
  }

  async read(ids: readonly string[], includeVector: boolean): Promise<VectorRecord[]> {
    const selection = this.#selectionOf(includedIn(includeVector), undefined);
    const records: VectorRecord[] = [];
    for (const part of partsOf(ids, recordsPerRead))
      records.push(...fromChromaRows(await this.#collection.get({ ids: part, ...selection })));
    return records;
  }

  async select(filter: Filter | undefined): Promise<string[]> {
    const ids: string[] = [];
    const matches = createFilterTest(filter);
    for await (const page of this.#readPages(filter ? ['metadatas'] : [], filter, this.#whereDocument))
      for (const { id, metadata } of page) if (matches(metadata)) ids.push(id);
    return ids;
  }

  #selectionOf(
    include: ChromaSelection['include'],
    filter: Filter | undefined,
    whereDocument: ChromaWhere | undefined = this.#whereDocument,
  ): ChromaSelection {
    const where = filter && filterToWhere(filter);
    return { include, ...(where && { where }), ...(whereDocument && { whereDocument }) };
  }

  /** Reads all records that match Chroma's part of a filter, in unordered pages. */
  async *#readPages(
    include: ChromaSelection['include'],
    filter: Filter | undefined,
    whereDocument: ChromaWhere | undefined,
  ): AsyncGenerator<VectorRecord[]> {
    const selection = this.#selectionOf(include, filter, whereDocument);
    for (let offset = 0; ; offset += recordsPerRead) {
      const rows = await this.#collection.get({ ...selection, limit: recordsPerRead, offset });
      yield fromChromaRows(rows);
      if (rows.ids.length < recordsPerRead) return;
    }
  }

  nearest({ vector, limit, includeVector, filter }: NearestSearch): Promise<FoundRecord[]> {
    const selection = this.#selectionOf(['distances', ...includedIn(includeVector)], filter);
    const find = async (nResults: number): Promise<FoundRecord[]> => {
      const found = await this.#collection.query({ queryEmbeddings: [[...vector]], nResults, ...selection });
      const [ids = [], metadatas, documents] = [found.ids[0], found.metadatas?.[0], found.documents?.[0]];
      const records = fromChromaRows({ ids, metadatas, documents, embeddings: found.embeddings?.[0] });
      return records.map((record, row) => ({
        similarity: toSimilarity(this.metric, found.distances[0]?.[row] ?? Number.NaN),
        record,
      }));
    };
    return nearestMatching({ wanted: limit, filter, find });
  }

  /**
   * Returns records that share a term with the query. Chroma has no keyword search: it selects the documents that contain a prefix of a
   * term, and BM25 ranks them here, among themselves.
   *
   * @throws `VECTOR_QUERY_UNSUPPORTED` when they are more than 10,000
   */
  async byTerms({ queryText, limit, includeVector, filter }: TermSearch): Promise<FoundRecord[]> {
    const terms = queryTermsIn(queryText, [english]);
    if (terms.length === 0) return [];
    const conditions = [withAnyOf(terms.flatMap(({ forms }) => forms)), this.#whereDocument];
    const whereDocument = combine(
      'and',
      conditions.filter((part) => part !== undefined),
    );
    const records: VectorRecord[] = [];
    for await (const page of this.#readPages(includedIn(false), filter, whereDocument)) {
      records.push(...page);
      if (records.length > maxTexts) throw tooManyTexts();
    }
    const index = new Bm25Index();
    records.forEach((record, row) => index.set(row, termsOf(keywordText(record), englishAnalysis())));
    const recordOf = (row: number): VectorRecord => records[row] as VectorRecord;
    const matches = createFilterTest(filter);
    const best = index.search(terms, {
      limit,
      accept: filter && ((row) => matches(recordOf(row).metadata)),
      idOf: (row) => recordOf(row).id,
    });
    const scores = new Map(best.map(({ doc, score }) => [recordOf(doc).id, score]));
    const ids = [...scores.keys()];
    const found = inOrder(ids, includeVector ? await this.read(ids, true) : records);
    return found.map((record) => ({ record, similarity: scores.get(record.id) ?? 0 }));
  }

  async write(records: readonly CheckedRecord[]): Promise<void> {
    for (const part of partsOf(records, await this.client.getMaxBatchSize())) {
      const rows = part.map(toChromaRecord);
      await this.#collection.upsert({
        ids: rows.map(({ id }) => id),
        embeddings: rows.map(({ embedding }) => embedding),
        metadatas: rows.map(({ metadata }) => metadata),
        documents: rows.map(({ document }) => document),
      });
    }
  }

  async remove(ids: readonly string[]): Promise<void> {
    for (const part of partsOf(ids, recordsPerRead)) await this.#collection.delete({ ids: part });
  }

  async clear(): Promise<void> {
    await this.remove(await this.select(undefined));
  }

  drop(): Promise<unknown> {
    return this.client.deleteCollection({ name: this.name });
  }
}

function tooManyTexts(): QuiverError {
  return new QuiverError(
    'VECTOR_QUERY_UNSUPPORTED',
    `More than ${maxTexts} texts share a term with the query, too many to rank outside of Chroma. Use rarer terms, narrow the search by a filter, or use a store with a keyword index.`,
    { details: { maxTexts } },
  );
}

/**
 * Matches all texts that contain one of the terms, and others. Beyond ASCII, Chroma's case folding and accents differ from ours, so
 * all such texts match.
 *
 * @returns `undefined` for more terms than Chroma can take
 */
function withAnyOf(terms: readonly string[]): ChromaWhere | undefined {
  const beginnings = new Set(terms.filter((term) => /^[!-~]+$/.test(term)).map(beginningOf));
  if (beginnings.size > maxConditions) return undefined;
  const patterns = [...beginnings].map((beginning) => ({
    $regex: `(?i)${beginning.replaceAll(/[^a-z0-9]/g, '\\$&')}`,
  }));
  return combine('or', [...patterns, { $regex: '[^\\x00-\\x7F]' }]);
}

/**
 * Returns the prefix of all words with this term. The stemmer also changes letters at the end, as in `library`, `librari`, and
 * `sensibility`, `sensibl`.
 */
export function beginningOf(term: string): string {
  return term.replace(/^~/, '').replace(/(?<=...)(?:[eiy]|(?<=b)l)$/, '');
}

/** Chroma gives squared distances, and 1 minus the product. A vector of zeros is similar to nothing. */
function toSimilarity(metric: VectorMetric, distance: number): number {
  if (metric === 'euclidean') return -distance;
  return Number.isFinite(distance) ? 1 - distance : 0;
}
