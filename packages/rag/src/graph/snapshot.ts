import type { Edge } from './adjacency.js';
import type { ResolvedEdgeOptions } from './graph-options.js';
import { QuiverError } from '@quiver/core';

/** Contents of a graph. Nodes are numbers, positions in `ids`. */
export interface GraphData {
  readonly ids: readonly string[];
  readonly titles: readonly (string | undefined)[];
  /** Nodes whose titles are rare names, which queries may use. */
  readonly titled: Uint32Array;
  readonly options: ResolvedEdgeOptions;
  /** Fingerprint of each node's vector. */
  readonly fingerprints: BigUint64Array;
  /** Edges with reasons, then those of the kind `similarity`. */
  readonly edges: readonly Edge[];
}

/** `QGR` and the version. Raise it with the format, and when equal passages get other edges, because snapshots are kept. */
const magic = [0x51, 0x47, 0x52, 6];
/** Magic number, checksum of all that follows, length of the header. */
const prefixLength = 12;

/** The JSON part, with spaces up to a multiple of 8 bytes. */
interface SnapshotHeader {
  ids: readonly string[];
  /** `null` stands for no title. */
  titles: readonly (string | null)[];
  options: ResolvedEdgeOptions;
  /** Kinds and reasons of edges, which contain the positions in this list. */
  labels: readonly string[];
  /** Number of edges with labels, of those of the kind `similarity`, and of titled nodes. */
  labeled: number;
  similar: number;
  titled: number;
}

/**
 * Converts a graph to bytes: magic number, checksum, length of the header, header as JSON, columns of numbers in the byte order of the
 * machine; a machine of another order finds another checksum. Columns of wide numbers come first, so all of them are aligned.
 * Cosines are 32-bit numbers, other weights 64-bit ones.
 */
export function writeSnapshot({ ids, titles, titled, options, fingerprints, edges }: GraphData): Uint8Array {
  const labeled = edges.findLastIndex(({ reason }) => reason !== undefined) + 1;
  const similar = edges.length - labeled;
  const labels = new Map<string, number>();
  const numberOf = (label: string): number => {
    const known = labels.get(label);
    if (known === undefined) labels.set(label, labels.size);
    return known ?? labels.size - 1;
  };
  const weights = new Float64Array(labeled);
  const cosines = new Float32Array(similar);
  const [starts, ends] = [new Uint32Array(edges.length), new Uint32Array(edges.length)];
  const [kinds, reasons] = [new Uint32Array(labeled), new Uint32Array(labeled)];
  edges.forEach(({ from, to, weight, kind, reason }, edge) => {
    starts[edge] = from;
    ends[edge] = to;
    if (reason === undefined) {
      cosines[edge - labeled] = weight;
      return;
    }
    weights[edge] = weight;
    kinds[edge] = numberOf(kind);
    reasons[edge] = numberOf(reason);
  });
  const header: SnapshotHeader = {
    ids,
    titles: titles.map((title) => title ?? null),
    options,
    labels: [...labels.keys()],
    labeled,
    similar,
    titled: titled.length,
  };
  const columns = [fingerprints, weights, cosines, starts, ends, kinds, reasons, titled];
  const text = new TextEncoder().encode(JSON.stringify(header));
  const columnsStart = Math.ceil((prefixLength + text.length) / 8) * 8;
  const bytes = new Uint8Array(columns.reduce((sum, { byteLength }) => sum + byteLength, columnsStart));
  bytes.fill(0x20, prefixLength, columnsStart).set(text, prefixLength);
  let at = columnsStart;
  for (const { buffer, byteLength } of columns) {
    bytes.set(new Uint8Array(buffer), at);
    at += byteLength;
  }
  const words = new Uint32Array(bytes.buffer);
  words[2] = columnsStart - prefixLength;
  words[1] = checksum(words);
  bytes.set(magic);
  return bytes;
}

function graphInvalid(problem: string, cause?: unknown): QuiverError {
  return new QuiverError('GRAPH_INVALID', `${problem} Build the graph again.`, { cause });
}

/** @throws `GRAPH_INVALID` */
export function readSnapshot(bytes: Uint8Array): GraphData {
  const isSnapshot = bytes instanceof Uint8Array && magic.slice(0, 3).every((byte, place) => bytes[place] === byte);
  if (!isSnapshot) throw graphInvalid('The bytes are not a snapshot of a graph.');
  if (bytes[3] !== magic[3]) {
    throw graphInvalid(`Unsupported version of the snapshot of a graph: ${bytes[3]}.`);
  }
  try {
    // An aligned copy.
    const { buffer } = new Uint8Array(bytes);
    const words = new Uint32Array(buffer);
    if (checksum(words) !== words[1]) throw new RangeError('The checksum differs.');
    const text = new Uint8Array(buffer, prefixLength, words[2]);
    const header = JSON.parse(new TextDecoder().decode(text)) as SnapshotHeader;
    return readColumns(header, buffer, prefixLength + text.length);
  } catch (cause) {
    throw graphInvalid('The snapshot of a graph is damaged or incomplete.', cause);
  }
}

function readColumns(header: SnapshotHeader, buffer: ArrayBuffer, columnsStart: number): GraphData {
  const { ids, titles, options, labels, labeled, similar } = header;
  let at = columnsStart;
  const column = <Column>(type: ColumnType<Column>, length: number): Column => {
    const start = at;
    at += length * type.BYTES_PER_ELEMENT;
    return new type(buffer, start, length);
  };
  const numbersBelow = (end: number, length: number): Uint32Array => {
    const numbers = column(Uint32Array, length);
    if (!numbers.every((number) => number < end)) throw new RangeError(`A number is not below ${end}.`);
    return numbers;
  };
  // A copy: a view would keep all bytes in memory.
  const fingerprints = column(BigUint64Array, ids.length).slice();
  const weights = [...column(Float64Array, labeled), ...column(Float32Array, similar)];
  if (!weights.every((weight) => weight > 0 && weight < Infinity)) throw new RangeError('A weight is not positive.');
  const from = numbersBelow(ids.length, labeled + similar);
  const to = numbersBelow(ids.length, labeled + similar);
  const kinds = numbersBelow(labels.length, labeled);
  const reasons = numbersBelow(labels.length, labeled);
  const titled = numbersBelow(ids.length, header.titled).slice();
  if (at !== buffer.byteLength) throw new RangeError('There are more bytes than expected.');
  return {
    ids,
    titles: titles.map((title) => title ?? undefined),
    titled,
    options: { ...options, similarity: options.similarity ?? undefined, phrases: options.phrases ?? undefined },
    fingerprints,
    edges: weights.map((weight, edge): Edge => {
      // Edges without labels are behind the end of both columns.
      const [kind = 'similarity', reason] = [labels[kinds[edge] ?? -1], labels[reasons[edge] ?? -1]];
      return { from: from[edge] as number, to: to[edge] as number, weight, kind, reason };
    }),
  };
}

interface ColumnType<Column> {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBuffer, start: number, length: number): Column;
}

/** FNV-1a over the words from the header's length on: a change of one word is always detected. */
function checksum(words: Uint32Array): number {
  let hash = 0x811c9dc5;
  for (let at = 2; at < words.length; at += 1) hash = Math.imul(hash ^ (words[at] as number), 0x01000193);
  return hash >>> 0;
}
