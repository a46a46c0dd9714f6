import {
  anyValue,
  checkOptions,
  oneOf,
  type OptionChecks,
  signalValue,
  stringValue,
  wholeNumber,
  required,
} from '@quiver/core/internal';
import {
  type GraphOptions,
  type EmbedderInput,
  type QueryMode,
  type VectorStore,
  toEmbedder,
  type VectorRecord,
} from '@quiver/rag';
import {
  describePlace,
  type IndexAnswer,
  type IndexQuery,
  mergeCopies,
  otherPlaces,
  parseGraphOptions,
  queryGraph,
  readRecords,
  readTrustedFilter,
  toPassage,
  type TrustedFilterOptions,
  trustedFilterChecks,
} from '@quiver/rag/internal';
import type { GraphView, GraphViewNode } from './graph-view.js';

/** Options of `viewGraph()`. The model embeds the query; it must be the one of the index. */
export interface ViewGraphOptions extends TrustedFilterOptions {
  /** Store of the index. */
  vectorStore: VectorStore;
  /** Embedding model of the query: a model of the AI SDK, a model string, or an `Embedder`. */
  model: EmbedderInput;
  /** Index whose graph is shown. */
  indexName: string;
  /** Query whose walk is shown. */
  queryText: string;
  /** Number of results. Default 10. */
  topK?: number;
  /** Search for the chunks at which the walk begins. */
  seeds?: QueryMode;
  /** Options of the graph, as of `createGraphRAGTool()`. */
  graphOptions?: GraphOptions;
  /** Aborts the run. */
  signal?: AbortSignal | undefined;
}

const optionChecks: OptionChecks<ViewGraphOptions> = {
  vectorStore: required(anyValue, 'a vector store, such as a LocalVector'),
  model: required(anyValue, 'an embedding model, a model string or an embedder'),
  indexName: stringValue,
  queryText: stringValue,
  topK: wholeNumber(1),
  seeds: oneOf('vector', 'keyword', 'hybrid'),
  graphOptions: anyValue,
  ...trustedFilterChecks,
  signal: signalValue,
};

/**
 * Queries the graph of an index, as `createGraphRAGTool` does, and returns the results and their neighborhood as plain data: for
 * `graphToHtml`, or your own drawing.
 *
 * @throws `OPTIONS_INVALID` for an unknown or invalid option; otherwise as the tool does
 * @example
 * const view = await viewGraph({ vectorStore, indexName: 'docs', model, queryText: 'Who maintains the billing service?' });
 */
export async function viewGraph(options: ViewGraphOptions): Promise<GraphView> {
  checkOptions('viewGraph', options, optionChecks);
  const { vectorStore: store, model, indexName, queryText, topK = 10, seeds, graphOptions, signal } = options;
  const read = { indexName, filter: readTrustedFilter(options), signal };
  const query: IndexQuery = {
    store,
    allowed: read,
    read,
    embedder: toEmbedder(model),
    queryText,
    topK,
    seeds,
    settings: parseGraphOptions('viewGraph', graphOptions),
  };
  return toView(query, await queryGraph(query));
}

/** Most passages of a picture, unless there are more results: with more, labels are too small in a window of 1280 pixels. */
const maxNodes = 24;
const neighborsPerPassage = 3;
const titleLength = 60;

/** Collects the results, the paths to them, and a few neighbors. */
async function toView(query: IndexQuery, answer: IndexAnswer): Promise<GraphView> {
  const { graph, found, seeds } = answer;
  const ids = chooseNodes(answer);
  const records = new Map(answer.records);
  const missing = [...ids].filter((id) => !records.has(id));
  for (const [id, record] of await readRecords(query, missing)) records.set(id, record);
  const scores = new Map(seeds.map(({ id, score }) => [id, score]));
  const results = found.map(({ record }) => record);
  const others = [...ids].flatMap((id) => records.get(id) ?? []);
  const texts = new Map(mergeCopies([...results, ...others]).map((record) => [record.id, record]));
  // Steps need both of their ends.
  for (const { path } of found)
    for (const { from, to } of path)
      for (const id of [from, to])
        if (!texts.has(id) && records.has(id)) texts.set(id, records.get(id) as VectorRecord);
  const titles = titlesOf([...texts.values()]);
  const nodes = Array.from(texts.values(), (record) =>
    toNode(record, titles.get(record.id) as string, scores.get(record.id)),
  );
  const shown = new Set(nodes.map(({ id }) => id));
  return {
    query: query.queryText,
    nodes,
    edges: nodes.flatMap(({ id }) => graph.neighbors(id).filter(({ to }) => id < to && shown.has(to))),
    ranking: found.map(({ record: { id }, score, path }) => ({ id, score, path })),
  };
}

/** Chooses the results and the steps to them first, then the seeds, then neighbors. */
function chooseNodes({ graph, found, seeds, isAllowed }: IndexAnswer): Set<string> {
  const ids = new Set<string>();
  for (const { record, path } of found) {
    for (const { from } of path) ids.add(from);
    ids.add(record.id);
  }
  const further = [
    ...seeds.map(({ id }) => id),
    ...found.flatMap(({ record: { id } }) => {
      const heaviest = graph.neighbors(id).toSorted((a, b) => b.weight - a.weight);
      return heaviest.slice(0, neighborsPerPassage).map(({ to }) => to);
    }),
  ];
  for (const id of further) if (ids.size < maxNodes && isAllowed(id)) ids.add(id);
  return ids;
}

function toNode(record: VectorRecord, title: string, seedScore: number | undefined): GraphViewNode {
  const { id, document, source } = toPassage(record);
  const others = otherPlaces(record.metadata).map(describePlace);
  return {
    id,
    title,
    text: document,
    ...(source !== undefined && { source }),
    ...(others.length > 0 && { alsoIn: others }),
    ...(seedScore !== undefined && { seedScore }),
  };
}

/**
 * Returns a label for each passage: its heading, the title of its slide, its title, or its first words. A title that several passages
 * have is that of their file, which tells them apart no more than the title of a file with slides. Equal headings follow the heading above.
 */
function titlesOf(records: readonly VectorRecord[]): Map<string, string> {
  const fileTitles = repeated(records.map((record) => toPassage(record).title));
  const headings = repeated(records.map(({ metadata }) => headingsOf(metadata).at(-1)));
  return new Map(
    records.map((record) => {
      const { title, source, document } = toPassage(record);
      const { slide, slideTitle } = record.metadata;
      const own = headingsOf(record.metadata);
      const [heading, above] = [own.at(-1), own.at(-2)];
      const isOfFile = slide !== undefined || fileTitles.has(title);
      const isAmbiguous = above !== undefined && headings.has(heading);
      const texts = [
        isAmbiguous ? `${above} › ${heading}` : heading,
        slideTitle,
        isOfFile ? '' : title,
        document,
        source,
      ];
      const lines = texts.map((text) => (typeof text === 'string' ? toLine(text) : ''));
      return [record.id, lines.find((line) => line !== '') ?? record.id];
    }),
  );
}

/** Returns the headings above a text. Metadata of applications can have any value in their place. */
function headingsOf({ headings }: VectorRecord['metadata']): string[] {
  return Array.isArray(headings) ? headings.filter((one) => typeof one === 'string' && one.trim() !== '') : [];
}

/** Returns the texts that occur more than once. */
function repeated(texts: readonly (string | undefined)[]): ReadonlySet<string | undefined> {
  return new Set(texts.filter((text, place) => text !== undefined && texts.indexOf(text) !== place));
}

/** Markdown marks: fences, headings, list items, quotes, table cells, emphasis, code; of links and images the text remains. */
const marks = /^[ \t]*(?:```.*|#{1,6}[ \t]|[-*+>][ \t]|\d+[.)][ \t])|\*\*|`|\||!?\[([^\]]*)\]\([^)\s]*\)/gm;

/** A page repeats the title of a passage at each of its edges, so it must be short. */
function toLine(text: string): string {
  const line = text.slice(0, 1000).replaceAll(marks, '$1').trim().replaceAll(/\s+/g, ' ');
  // Cuts between characters.
  return line.length > titleLength ? `${line.slice(0, titleLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…` : line;
}
