import { isQuiverError, QuiverError } from '@quiver/core';
import {
  abortableItems,
  anyValue,
  checkOptions,
  functionValue,
  type OptionChecks,
  signalValue,
  stringValue,
  wholeNumber,
} from '@quiver/core/internal';
import type { MDocument } from '../document/document.js';
import { addSkipped, type SkippedCounts } from '../document/skipped-text.js';
import { canonicalJson, contentHash } from '../document/content-hash.js';
import { deleteDocuments } from './delete-documents.js';
import { readModel, type ModelOption } from '../embedding/model-option.js';
import { argumentSettings, readStore, storeChecks, type StoreOption } from '../store/options.js';
import { callStore, defaultMaxRetries, requireScope, type StoreAccess } from './ingest-target.js';
import { runChecks, runIngest, type IngestReport, type IngestSettings } from './ingest.js';
import { isInScope, parseScope, toScopeFilter, type IngestScope, type RunScope } from '../store/scope.js';

/** A document, or several of one file, that a plan names. */
export interface PlannedSource {
  /** `metadata.source` of its documents. */
  source: string;
  /** Text that changes with the content, such as a hash, an ETag, or size and time. */
  fingerprint: string;
}

/** Options of `planIngest()`. */
export type PlanIngestOptions = PlanIngestSettings & StoreOption;

interface PlanIngestSettings extends Pick<IngestSettings, 'indexName' | 'scope' | 'maxRetries' | 'signal'> {
  /** All sources of the scope, such as `listFiles('./docs')`. Each is named once. */
  sources: Iterable<PlannedSource> | AsyncIterable<PlannedSource>;
  /** Number of sources per part. Default 100. */
  partSize?: number;
  /** Identifies the plan. Default: a random UUID. Plans with the same id and sources have parts with the same ids. */
  id?: string;
}

const planChecks: OptionChecks<PlanIngestOptions> = {
  sources: anyValue,
  ...storeChecks,
  indexName: anyValue,
  scope: anyValue,
  partSize: anyValue,
  id: stringValue,
  maxRetries: wholeNumber(0),
  signal: signalValue,
};

/** A plan for `finishIngest()`: plain data. */
export interface IngestPlan {
  id: string;
  indexName: string;
  scope?: IngestScope | 'all';
  /** Ids of the parts. */
  parts: string[];
  /** Sources with chunks in the index that the plan does not name. */
  gone: unknown[];
}

/** One job of a plan: plain data. */
export interface IngestPart {
  /** Id for the job: 32 hexadecimal digits of the plan, the sources and their fingerprints. */
  id: string;
  plan: string;
  indexName: string;
  scope?: IngestScope | 'all';
  sources: string[];
}

/** Result of a part: plain data. */
export interface IngestPartReport extends IngestReport {
  /** Id of the part. */
  part: string;
  /** Sources without a document, such as files that could not be read. Their chunks stay. */
  missing: string[];
}

/**
 * Splits the ingestion of many sources into parts for a job queue: {@link ingestPart} runs each in any process, and
 * {@link finishIngest} ends the plan. Changes nothing.
 *
 * Memory holds the names of all sources, and those with chunks in the index.
 *
 * @throws `INGEST_PLAN_INVALID` for a source without a name or a fingerprint, or that is named twice, and for an invalid `partSize`;
 *   `INGEST_SCOPE_MISSING`; `INGEST_SCOPE_MISMATCH`; `INGEST_SCOPE_INVALID`; `VECTOR_ARGUMENT_INVALID` for an unknown option; errors of `sources` and the store; the abort reason
 * @example
 * const { plan, parts } = await planIngest({ sources: listFiles('./docs'), vectorStore, indexName: 'guides' });
 */
export async function planIngest(options: PlanIngestOptions): Promise<{ plan: IngestPlan; parts: IngestPart[] }> {
  checkOptions('planIngest', options, planChecks, argumentSettings);
  const { sources, indexName, maxRetries = defaultMaxRetries, signal } = options;
  const { partSize = 100, id = crypto.randomUUID() } = options;
  const store = readStore('planIngest', options, argumentSettings);
  if (!Number.isSafeInteger(partSize) || partSize < 1)
    throw invalidPlan(`partSize must be an integer of at least 1, not ${String(partSize)}`);
  const scope = parseScope(options.scope);
  const access = { store, indexName, maxRetries, signal };
  await requireScope(access, scope);
  const target = { plan: id, indexName, ...(scope && { scope }) };
  const named = new Set<string>();
  const parts: IngestPart[] = [];
  let group: PlannedSource[] = [];
  const endPart = (): void => {
    if (group.length === 0) return;
    const partId = contentHash(
      'ingest-part',
      canonicalJson(target),
      ...group.flatMap((one) => [one.source, one.fingerprint]),
    );
    parts.push({ id: partId, ...target, sources: group.map(({ source }) => source) });
    group = [];
  };
  for await (const item of abortableItems(sources, signal)) {
    if (typeof item?.source !== 'string' || item.source === '' || typeof item.fingerprint !== 'string')
      throw invalidPlan(
        `each source needs a name and a fingerprint, but one is ${JSON.stringify(item)?.slice(0, 200)}`,
      );
    if (named.has(item.source)) throw invalidPlan(`the source '${item.source}' is named twice`);
    named.add(item.source);
    group.push({ source: item.source, fingerprint: item.fingerprint });
    if (group.length === partSize) endPart();
  }
  endPart();
  const gone = new Map<string, unknown>();
  for await (const source of readSources(access, scope))
    if (typeof source !== 'string' || !named.has(source)) gone.set(canonicalJson(source), source);
  return {
    plan: { id, indexName, ...(scope && { scope }), parts: parts.map((part) => part.id), gone: [...gone.values()] },
    parts,
  };
}

/** The sources of all chunks in the scope that `ingest` stored. */
async function* readSources(access: StoreAccess, scope: RunScope): AsyncGenerator<unknown> {
  const { indexName } = access;
  const filter = toScopeFilter(scope);
  let cursor: string | undefined;
  do {
    const position = { indexName, filter, cursor, limit: 5000 };
    const page = await callStore(access, (store, end) => store.listVectors({ ...position, ...end })).catch(
      (error: unknown) => {
        if (isQuiverError(error, 'VECTOR_INDEX_NOT_FOUND')) return { records: [], nextCursor: undefined };
        throw error;
      },
    );
    for (const { metadata } of page.records) {
      const isOurs = metadata['embedder'] !== undefined && isInScope(metadata, scope);
      if (isOurs && metadata['source'] !== undefined) yield metadata['source'];
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}

/** Options of `ingestPart()`. */
export type IngestPartOptions = IngestPartSettings & StoreOption & ModelOption;

interface IngestPartSettings extends Omit<IngestSettings, 'documents' | 'indexName' | 'scope' | 'cleanup' | 'dryRun'> {
  /** Returns the documents of the named sources, with their name as `metadata.source`. */
  load: (
    sources: readonly string[],
    options: { signal?: AbortSignal | undefined },
  ) => Iterable<MDocument> | AsyncIterable<MDocument> | Promise<Iterable<MDocument>>;
}

const partChecks: OptionChecks<IngestPartOptions> = { load: functionValue, ...runChecks };

/**
 * Ingests one part of a plan: embeds new and changed chunks of its documents, and removes those that the documents no longer contain. It
 * may run again, in another process and at the same time as other parts: the result is the same.
 *
 * @throws `INGEST_PART_INVALID` for data that is not a part, and for documents of other sources; the errors of {@link ingest} and `load`
 * @example
 * worker.process(async (job) => ingestPart(job.data, { load: (paths) => loadDocuments('./docs', { paths }), vectorStore, model }));
 */
export async function ingestPart(part: IngestPart, given: IngestPartOptions): Promise<IngestPartReport> {
  checkOptions('ingestPart', given, partChecks, argumentSettings);
  const { load, ...options } = given;
  const isPart =
    typeof part?.id === 'string' &&
    typeof part.indexName === 'string' &&
    Array.isArray(part.sources) &&
    part.sources.every((source) => typeof source === 'string');
  if (!isPart) throw invalidPart('The data of the job is not a part of planIngest().');
  const { id, indexName, sources, scope } = part;
  const { signal } = options;
  const named = new Set(sources);
  const missing = new Set(sources);
  async function* documents(): AsyncGenerator<MDocument> {
    for await (const document of await load(sources, { signal })) {
      for (const { metadata } of document.sources) {
        const source: unknown = metadata['source'];
        if (typeof source !== 'string' || !named.has(source))
          throw invalidPart(
            `load() returned a document with the source ${JSON.stringify(source)}, which is not in part ${id}.`,
          );
        missing.delete(source);
      }
      yield document;
    }
  }
  const run = {
    ...options,
    store: readStore('ingestPart', given, argumentSettings),
    embedder: readModel('ingestPart', given, argumentSettings),
    indexName,
    ...(scope && { scope }),
    documents: documents(),
    cleanup: 'source',
  } as const;
  const report = await runIngest(run);
  return { part: id, ...report, missing: [...missing] };
}

/** Options of `finishIngest()`. */
export type FinishIngestOptions = Pick<IngestSettings, 'maxRetries' | 'signal'> & StoreOption;

const finishChecks: OptionChecks<FinishIngestOptions> = {
  ...storeChecks,
  maxRetries: wholeNumber(0),
  signal: signalValue,
};

/**
 * Ends a plan after all its parts: removes the documents that no longer existed when the plan was made, and adds up the reports. It may run
 * again, until another plan is made for the scope.
 *
 * @param reports - of all parts, in any order; several of one part count once
 * @returns the sum, and the sources without a document
 * @throws `VECTOR_ARGUMENT_INVALID` for an unknown or invalid option; `INGEST_PLAN_INCOMPLETE` when a part has no report: nothing is removed; `INGEST_PLAN_INVALID`; `INGEST_SCOPE_MISSING` for
 *   documents to remove, when the plan has no scope and documents of its index have one by now; errors of the store; the abort reason
 */
export async function finishIngest(
  plan: IngestPlan,
  reports: Iterable<IngestPartReport>,
  options: FinishIngestOptions,
): Promise<IngestReport & { missing: string[] }> {
  checkOptions('finishIngest', options, finishChecks, argumentSettings);
  const { maxRetries = defaultMaxRetries, signal } = options;
  const vectorStore = readStore('finishIngest', options, argumentSettings);
  if (!Array.isArray(plan?.parts) || !Array.isArray(plan.gone) || typeof plan.indexName !== 'string')
    throw invalidPlan('the value is not a plan of planIngest()');
  const ofPart = new Map(Array.from(reports, (report) => [report?.part, report]));
  const open = plan.parts.filter((id) => !ofPart.has(id));
  if (open.length > 0) {
    throw new QuiverError(
      'INGEST_PLAN_INCOMPLETE',
      `${open.length} of ${plan.parts.length} parts of the plan ${plan.id} have no report, such as ${open[0]}. Run them with ingestPart() first; nothing was removed.`,
      { details: { parts: open } },
    );
  }
  const sum = { documents: 0, added: 0, moved: 0, unchanged: 0, removed: 0, missing: [] as string[] };
  const skippedText: SkippedCounts = {};
  let cut = 0;
  for (const id of plan.parts) {
    const { missing, ...report } = ofPart.get(id) as IngestPartReport;
    for (const key of ['documents', 'added', 'moved', 'unchanged', 'removed'] as const) {
      if (!Number.isSafeInteger(report[key])) throw invalidPlan(`the report of part ${id} has no number '${key}'`);
      sum[key] += report[key];
    }
    addSkipped(skippedText, report.skippedText);
    cut += report.cut ?? 0;
    sum.missing.push(...(missing ?? []));
  }
  if (plan.gone.length > 0) {
    const { indexName, scope, gone } = plan;
    sum.removed += await deleteDocuments({
      vectorStore,
      indexName,
      sources: gone,
      ...(scope && { scope }),
      maxRetries,
      signal,
    });
  }
  return { ...sum, ...(Object.keys(skippedText).length > 0 && { skippedText }), ...(cut > 0 && { cut }) };
}

function invalidPlan(problem: string): QuiverError {
  return new QuiverError('INGEST_PLAN_INVALID', `The plan cannot be used: ${problem}.`);
}

function invalidPart(problem: string): QuiverError {
  return new QuiverError('INGEST_PART_INVALID', problem);
}
