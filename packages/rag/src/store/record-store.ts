import {
  anyValue,
  unchecked,
  booleanValue,
  checkOptions,
  invalidOptions,
  objectOf,
  type OptionCheck,
  type OptionChecks,
  signalValue,
  valueThat,
  wholeNumber,
} from '@quiver/core/internal';
import { createFilterTest, type Filter, toFilter } from '../filter/index.js';
import {
  type CheckedRecord,
  checkUpdate,
  checkUpsert,
  type IndexShape,
  requireIds,
  toSelection,
  toVector,
} from './checks.js';
import { fusionValue, mmrValue, modeValue, searchModes, topKValue } from './options.js';
import {
  type FoundRecord,
  type KeywordSearch,
  parseSearch,
  runSearch,
  selectDiverse,
  type VectorSearch,
} from './search.js';
import type {
  Cancellable,
  CreateIndexParams,
  DeleteVectorsParams,
  GetParams,
  IndexDescription,
  IndexParams,
  ListVectorsParams,
  QueryParams,
  UpdateVectorParams,
  UpsertParams,
  VectorFilter,
  VectorMatch,
  VectorMetric,
  VectorPage,
  VectorRecord,
  VectorStore,
  VectorStoreCapabilities,
  VersionParams,
} from './vector-store.js';

type Awaitable<Value> = Value | Promise<Value>;

/** Capabilities of a store whose database ranks texts by their terms. */
export const nativeKeywordSearch: VectorStoreCapabilities = {
  modes: searchModes,
  keywordRanking: 'native',
};

/** A vector search in an index. */
export interface NearestSearch extends Pick<VectorSearch, 'limit' | 'includeVector'> {
  /** Checked: it has the dimension of the index. */
  readonly vector: Float32Array;
  readonly filter: Filter | undefined;
}

/** A keyword search in an index. */
export interface TermSearch extends Omit<KeywordSearch, 'mode'>, Pick<NearestSearch, 'filter'> {}

/** An existing index, open for one call. */
export interface OpenIndex<Query = QueryParams> extends IndexShape {
  count(): Awaitable<number>;
  /** Returns the existing records of different ids, in any order. */
  read(ids: readonly string[], includeVector: boolean): Awaitable<VectorRecord[]>;
  /** Returns the ids of all records that match a filter. A store in memory returns the first `limit` after one, in order. */
  select(filter: Filter | undefined, after?: string, limit?: number): Awaitable<readonly string[]>;
  /** Returns a page of records, ordered by id. Default: the records of the ids that `select` returns. */
  listVectors?(params: ListVectorsParams, filter: Filter | undefined): Promise<VectorPage>;
  /** Returns the records with the most similar vectors, best first. */
  nearest(search: NearestSearch, params: Query): Awaitable<FoundRecord[]>;
  /** Returns the best records that share a term with the query, best first. Absent without the mode `keyword`. */
  byTerms?(search: TermSearch, params: Query): Awaitable<FoundRecord[]>;
  /** Returns a record for the caller. Present where `nearest` and `byTerms` find records of the index itself, most of which are never results. */
  copyFound?(match: VectorMatch): VectorMatch;
  /** Score of a relevance that `byTerms` returns, from 0 to 1. Default: the relevance. */
  toKeywordScore?(relevance: number, best: number): number;
  /** Stores new records and replaces existing ones. */
  write(records: readonly CheckedRecord[]): Promise<unknown>;
  /** Ignores ids that do not exist. */
  remove(ids: readonly string[]): Promise<unknown>;
  clear(): Promise<unknown>;
  /** Deletes the index itself. */
  drop(): Promise<unknown>;
}

/** Parameters that an adapter adds to its methods: a check for each name. */
export interface StoreParameters<Target extends object = object, Query extends object = object> {
  /** Name of the class, for messages. */
  readonly name: string;
  /** Parameters of every method. */
  readonly target?: OptionChecks<Target>;
  /** Parameters of `query`. `get` and `listVectors` accept them too, because query tools read with the same block of `databaseConfig`. */
  readonly query?: OptionChecks<Omit<Query, keyof QueryParams | keyof Target>>;
  /** Parameters of other methods, by method. */
  readonly methods?: Readonly<Record<string, Readonly<Record<string, OptionCheck>>>>;
}

const indexChecks: OptionChecks<IndexParams> = { indexName: anyValue, signal: signalValue };
const readChecks = { ...indexChecks, includeVector: booleanValue };
// `anyValue`: the methods check the values, most of them against the index.
// An empty cursor is none, see `listVectors`.
const anyText = valueThat((value) => typeof value === 'string', 'a string');
const methodChecks = {
  createIndex: { ...indexChecks, dimension: anyValue, metric: anyValue } satisfies OptionChecks<CreateIndexParams>,
  upsert: {
    ...indexChecks,
    ...unchecked<UpsertParams>()('vectors', 'metadata', 'ids', 'documents'),
  } satisfies OptionChecks<UpsertParams>,
  query: {
    ...readChecks,
    mode: modeValue,
    ...unchecked<QueryParams>()('queryVector', 'queryText'),
    fusion: fusionValue,
    mmr: mmrValue,
    topK: topKValue,
    filter: anyValue,
  } satisfies OptionChecks<QueryParams>,
  get: { ...readChecks, ids: anyValue } satisfies OptionChecks<GetParams>,
  updateVector: {
    ...indexChecks,
    ...unchecked<UpdateVectorParams>()('id', 'filter'),
    update: objectOf<UpdateVectorParams['update']>({ vector: anyValue, metadata: anyValue, document: anyValue }),
  } satisfies OptionChecks<UpdateVectorParams>,
  deleteVector: { ...indexChecks, id: anyValue },
  deleteVectors: { ...indexChecks, ids: anyValue, filter: anyValue } satisfies OptionChecks<DeleteVectorsParams>,
  listVectors: {
    ...readChecks,
    cursor: anyText,
    limit: topKValue,
    filter: anyValue,
  } satisfies OptionChecks<ListVectorsParams>,
  version: { ...indexChecks, filter: anyValue, maxRecords: wholeNumber(0) } satisfies OptionChecks<VersionParams>,
  describeIndex: indexChecks,
  truncateIndex: indexChecks,
  deleteIndex: indexChecks,
} as const;

function toMethodChecks({
  target,
  query,
  methods = {},
}: StoreParameters): Readonly<Record<string, Readonly<Record<string, OptionCheck>>>> {
  const names = new Set([...Object.keys(methodChecks), ...Object.keys(methods)]);
  const known: Readonly<Record<string, object>> = methodChecks;
  return {
    ...Object.fromEntries(
      Array.from(names, (method) => [
        method,
        {
          ...(known[method] ?? indexChecks),
          ...target,
          ...(['query', 'get', 'listVectors'].includes(method) && query),
          ...methods[method],
        },
      ]),
    ),
    listIndexes: { signal: signalValue },
  };
}

/**
 * The methods of a store that replaces whole records. An adapter opens its indexes; arguments, defaults and fusion are handled here.
 * `Target` holds the parameters that the adapter adds to every method, `Query` those of `query`.
 */
export abstract class RecordStore<
  Target extends object = object,
  Query extends QueryParams & Target = QueryParams & Target,
> implements VectorStore {
  abstract readonly databaseConfigKey: string;
  abstract readonly capabilities: VectorStoreCapabilities;
  readonly #name: string;
  readonly #checks: ReturnType<typeof toMethodChecks>;

  constructor(parameters: StoreParameters<Target, Query>) {
    this.#name = parameters.name;
    this.#checks = toMethodChecks(parameters);
  }

  /** Rejects unknown and invalid parameters of a method. @throws `OPTIONS_INVALID` */
  protected check(method: string, params: object): void {
    checkOptions(`${this.#name}.${method}`, params, this.#checks[method] as OptionChecks<object>);
  }

  abstract createIndex(params: CreateIndexParams): Promise<void>;
  abstract listIndexes(params?: Cancellable): Promise<string[]>;

  /** Opens an index for a call that reads. @throws `VECTOR_INDEX_NOT_FOUND` */
  protected abstract use<Result>(
    params: IndexParams & Target,
    work: (index: OpenIndex<Query>) => Promise<Result>,
  ): Promise<Result>;

  /** Opens an index for a call that writes. */
  protected change<Result>(
    params: IndexParams & Target,
    work: (index: OpenIndex<Query>) => Promise<Result>,
  ): Promise<Result> {
    return this.use(params, work);
  }

  async upsert(params: UpsertParams & Target): Promise<string[]> {
    this.check('upsert', params);
    return this.change(params, async (index) => {
      const { ids, records } = checkUpsert(params, index);
      if (records.length > 0) await index.write(records);
      return ids;
    });
  }

  async query(params: Query): Promise<VectorMatch[]> {
    this.check('query', params);
    const search = parseSearch(params, {
      name: `The store '${this.databaseConfigKey}'`,
      capabilities: this.capabilities,
    });
    params.signal?.throwIfAborted();
    const filter = toFilter(params.filter);
    const found = await this.use(params, async (index) => {
      const find = async (part: VectorSearch | KeywordSearch): Promise<FoundRecord[]> => {
        if (part.mode === 'keyword') return index.byTerms?.({ ...part, filter }, params) ?? [];
        const vector = toVector(part.queryVector, index.dimension, 'The query vector');
        return index.nearest({ ...part, vector, filter }, params);
      };
      const ofKeywords = index.toKeywordScore ?? ((relevance: number) => Math.min(1, relevance));
      const matches = await runSearch(search, find, (mode, similarity, best) =>
        mode === 'vector' ? toScore(index.metric, similarity) : ofKeywords(similarity, best),
      );
      return index.copyFound ? matches.map(index.copyFound) : matches;
    });
    // Other stores do not declare the parameter, so the check refuses it.
    const { minScore }: QueryParams & { minScore?: number } = params;
    return selectDiverse(search, minScore === undefined ? found : found.filter(({ score }) => score > minScore));
  }

  async get(params: GetParams & Target): Promise<VectorRecord[]> {
    this.check('get', params);
    requireIds('get', params.ids);
    return this.use(params, (index) => readInOrder(index, params.ids, params.includeVector));
  }

  async updateVector(params: UpdateVectorParams & Target): Promise<void> {
    this.check('updateVector', params);
    const { indexName, id, update } = params;
    const filter = toSelection('updateVector', id === undefined ? undefined : [id], params.filter);
    await this.change(params, async (index) => {
      const changes = checkUpdate(update, index, id ?? 'records');
      const records = await index.read(id === undefined ? await index.select(filter) : [id], true);
      if (records.length > 0)
        await index.write(
          records.map((record) => ({ ...record, vector: Float32Array.from(record.vector ?? []), ...changes })),
        );
      else if (id !== undefined) throw invalidOptions(`The index '${indexName}' has no record '${id}' to update.`);
    });
  }

  async deleteVector(params: IndexParams & Target & { id: string }): Promise<void> {
    this.check('deleteVector', params);
    await this.#remove('deleteVector', params, { ids: [params.id], filter: undefined });
  }

  async deleteVectors(params: DeleteVectorsParams & Target): Promise<void> {
    this.check('deleteVectors', params);
    await this.#remove('deleteVectors', params, params);
  }

  async #remove(
    method: string,
    params: IndexParams & Target,
    { ids, filter }: { ids?: readonly string[] | undefined; filter?: VectorFilter },
  ): Promise<void> {
    const parsed = toSelection(method, ids, filter);
    await this.change(params, async (index) => index.remove(ids ?? (await index.select(parsed))));
  }

  async listVectors(given: ListVectorsParams & Target): Promise<VectorPage> {
    this.check('listVectors', given);
    // A model may send an empty cursor for the first page.
    const params = { ...given, cursor: given.cursor || undefined };
    const size = params.limit ?? defaultPageSize;
    const filter = toFilter(params.filter);
    return this.use(params, async (index) => {
      if (index.listVectors) return index.listVectors(params, filter);
      const ids = await this.selectPage(index, filter, { ...params, limit: size + 1 });
      const page = ids.slice(0, size);
      const last = page.at(-1);
      const read = await readInOrder(index, page, params.includeVector);
      // In a service, records may have changed since their ids were selected.
      const matches = createFilterTest(filter);
      const records = read.filter(({ metadata }) => matches(metadata));
      return { records, ...(last !== undefined && size < ids.length && { nextCursor: last }) };
    });
  }

  /** Returns the ids of the records that match, in order, after the cursor. */
  protected selectPage(
    index: OpenIndex<Query>,
    filter: Filter | undefined,
    { cursor, limit }: ListVectorsParams,
  ): Awaitable<readonly string[]> {
    return index.select(filter, cursor, limit);
  }

  async describeIndex(params: IndexParams & Target): Promise<IndexDescription> {
    this.check('describeIndex', params);
    return this.use(params, async (index) => {
      const { dimension, metric } = index;
      return { dimension, metric, count: await index.count() };
    });
  }

  async truncateIndex(params: IndexParams & Target): Promise<void> {
    this.check('truncateIndex', params);
    await this.change(params, (index) => index.clear());
  }

  async deleteIndex(params: IndexParams & Target): Promise<void> {
    this.check('deleteIndex', params);
    await this.change(params, (index) => index.drop());
  }
}

async function readInOrder(
  index: Pick<OpenIndex, 'read'>,
  ids: readonly string[],
  includeVector = false,
): Promise<VectorRecord[]> {
  const different = [...new Set(ids)];
  const found = inOrder(ids, await index.read(different, includeVector));
  // The caller may change each of the records.
  return different.length < ids.length ? found.map((record) => structuredClone(record)) : found;
}

/** Returns the records of the ids that exist, in the order of the ids. */
export function inOrder<Item extends { readonly id: string }>(ids: readonly string[], items: readonly Item[]): Item[] {
  const byId = new Map(items.map((item) => [item.id, item]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** Records of a page of `listVectors`. */
export const defaultPageSize = 1000;

/** Turns a relevance without an upper limit, such as that of BM25, into a score in [0, 1), in proportion to the best one of the query. */
export function unboundedToScore(relevance: number, best: number): number {
  return relevance / (1 + best);
}

/**
 * Turns a raw similarity into a score in [0, 1], larger is better.
 *
 * @param similarity - cosine similarity; the negative squared distance for `euclidean`; the dot product for `dotproduct`
 */
function toScore(metric: VectorMetric, similarity: number): number {
  switch (metric) {
    case 'cosine':
      return Math.min(1, Math.max(0, similarity));
    case 'euclidean':
      return 1 / (1 + Math.sqrt(Math.max(0, -similarity)));
    case 'dotproduct':
      return 1 / (1 + Math.exp(-similarity));
  }
}
