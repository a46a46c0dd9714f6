// A plan for a job queue: its parts run in any process, in any order, and more than once. Chunk ids are hashes of their content, so a part
// that runs twice, or at the same time as others, leaves the same records.
import { randomUUID } from 'node:crypto';
import { deleteDocuments, ingest, type IngestReport, type VectorStore, type Embedder } from '@quiver/rag';
import { listFiles, loadDocuments } from '@quiver/loaders';

/** The target of every worker. The jobs name only paths. */
export interface Target {
  folder: string;
  vectorStore: VectorStore;
  indexName: string;
  model: Embedder;
}

/** One job: plain data, as are a plan and a report. */
export interface Part {
  /** Id for the job. It is new in each plan: a queue that ignores a second job with the same id never hides a change. */
  id: string;
  sources: string[];
}

export interface Plan {
  parts: string[];
  /** Sources in the index that the folder no longer has. */
  gone: string[];
}

export interface PartReport extends IngestReport {
  part: string;
  /** Files without a document, such as those that could not be read. Their chunks stay. */
  missing: string[];
}

/** Divides a folder into parts. Changes nothing. A folder that cannot be read is an error: otherwise its documents would be gone. */
export async function makePlan(
  { folder, vectorStore, indexName }: Target,
  size = 10,
): Promise<{ plan: Plan; parts: Part[] }> {
  const listed: string[] = [];
  for await (const { source } of listFiles(folder)) listed.push(source);
  const parts: Part[] = [];
  for (let at = 0; at < listed.length; at += size)
    parts.push({ id: randomUUID(), sources: listed.slice(at, at + size) });
  const gone = new Set<string>();
  let cursor: string | undefined;
  const hasIndex = (await vectorStore.listIndexes()).includes(indexName);
  do {
    if (!hasIndex) break;
    const page = await vectorStore.listVectors({ indexName, limit: 1000, ...(cursor !== undefined && { cursor }) });
    for (const { metadata } of page.records) gone.add(String(metadata['source']));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  for (const source of listed) gone.delete(source);
  return { plan: { parts: parts.map(({ id }) => id), gone: [...gone] }, parts };
}

export async function runPart({ id, sources }: Part, { folder, ...target }: Target): Promise<PartReport> {
  const missing = new Set(sources);
  async function* documents() {
    for await (const document of loadDocuments(folder, { paths: sources })) {
      missing.delete(String(document.sources[0]?.metadata['source']));
      yield document;
    }
  }
  return { part: id, ...(await ingest({ ...target, documents: documents() })), missing: [...missing] };
}

/** Removes the documents that are gone, and adds up the reports. It may run again, until the next plan. */
export async function finishPlan({ parts, gone }: Plan, reports: readonly PartReport[], target: Target) {
  const done = new Map(reports.map((report) => [report.part, report]));
  const open = parts.filter((id) => !done.has(id));
  if (open.length > 0) throw new Error(`${open.length} of ${parts.length} parts have no report: nothing is removed.`);
  const { vectorStore, indexName } = target;
  const sum = { documents: 0, added: 0, moved: 0, unchanged: 0, removed: 0, missing: [] as string[] };
  for (const report of done.values()) {
    for (const key of ['documents', 'added', 'moved', 'unchanged', 'removed'] as const) sum[key] += report[key];
    sum.missing.push(...report.missing);
  }
  if (gone.length > 0) sum.removed += await deleteDocuments({ vectorStore, indexName, sources: gone });
  return sum;
}
