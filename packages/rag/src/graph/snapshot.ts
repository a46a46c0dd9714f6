import { EdgeList, type EdgeColumns } from './edge-list.js';
import type { ResolvedEdgeOptions } from './edge-options.js';
import { graphInvalid } from './graph-error.js';
import { createNeighborLists, type NeighborLists } from './neighbor-lists.js';

/** Contents of a graph. Nodes are numbers, positions in `ids`. */
export interface GraphData {
  readonly ids: readonly string[];
  readonly titles: readonly (string | undefined)[];
  readonly options: ResolvedEdgeOptions;
  /** Fingerprint of each node's vector. */
  readonly fingerprints: BigUint64Array;
  /** Source of the edges of the kind `similarity`. */
  readonly neighbors: NeighborLists | undefined;
  readonly otherEdges: EdgeList;
}

/** `QGR` and the version. Raise it with the format, and when equal passages get other edges, because snapshots are kept. */
const magic = [0x51, 0x47, 0x52, 2];
/** Magic number, checksum of all that follows, length of the header. */
const prefixLength = 12;

/** The JSON part. */
interface SnapshotHeader {
  /** Numbers are stored in the byte order of the machine. */
  isLittleEndian: boolean;
  ids: readonly string[];
  /** `null` stands for no title. */
  titles: readonly (string | null)[];
  options: ResolvedEdgeOptions;
  neighbors: { limit: number; total: number } | null;
  kindNames: readonly string[];
  reasonTexts: readonly string[];
  edges: number;
}

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/**
 * Converts a graph to bytes: magic number, checksum, length of the header, header as JSON, columns of numbers. Columns of wide
 * numbers come first, so all of them are aligned.
 */
export function writeSnapshot({ ids, titles, options, fingerprints, neighbors, otherEdges }: GraphData): Uint8Array {
  const { from, to, weights, kinds, reasons, kindNames, reasonTexts } = otherEdges.columns();
  const total = neighbors ? neighbors.counts.reduce((sum, count) => sum + count, 0) : 0;
  const rows = new Uint32Array(total);
  const similarities = new Float32Array(total);
  if (neighbors) {
    forEachList(neighbors, (start, length, at) => {
      rows.set(neighbors.rows.subarray(start, start + length), at);
      similarities.set(neighbors.similarities.subarray(start, start + length), at);
    });
  }
  const header: SnapshotHeader = {
    isLittleEndian,
    ids,
    titles: titles.map((title) => title ?? null),
    options,
    neighbors: neighbors ? { limit: neighbors.limit, total } : null,
    kindNames,
    reasonTexts,
    edges: from.length,
  };
  const text = new TextEncoder().encode(JSON.stringify(header));
  const counts = neighbors?.counts ?? new Uint32Array(0);
  const columns = [fingerprints, weights, counts, rows, similarities, from, to, kinds, reasons];
  const bytes = new Uint8Array(columns.reduce((sum, { byteLength }) => sum + byteLength, prefixLength + text.length));
  bytes.set(text, prefixLength);
  let at = prefixLength + text.length;
  for (const { buffer, byteOffset, byteLength } of columns) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), at);
    at += byteLength;
  }
  const view = new DataView(bytes.buffer);
  view.setUint32(8, text.length, true);
  view.setUint32(4, checksum(bytes.subarray(8)), true);
  bytes.set(magic);
  return bytes;
}

/** @throws `GRAPH_INVALID` */
export function readSnapshot(bytes: Uint8Array): GraphData {
  const isSnapshot = bytes instanceof Uint8Array && magic.slice(0, 3).every((byte, place) => bytes[place] === byte);
  if (!isSnapshot) throw graphInvalid('The bytes are not a snapshot of a graph. Build the graph again.');
  if (bytes[3] !== magic[3]) {
    throw graphInvalid(`Unsupported version of the snapshot of a graph: ${bytes[3]}. Build the graph again.`);
  }
  try {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (checksum(bytes.subarray(8)) !== view.getUint32(4, true)) throw new RangeError('The checksum differs.');
    const columnsStart = prefixLength + view.getUint32(8, true);
    const text = new TextDecoder().decode(bytes.subarray(prefixLength, columnsStart));
    return readColumns(JSON.parse(text) as SnapshotHeader, Uint8Array.from(bytes.subarray(columnsStart)).buffer);
  } catch (cause) {
    throw graphInvalid('The snapshot of a graph is damaged or incomplete. Build the graph again.', cause);
  }
}

function readColumns(header: SnapshotHeader, buffer: ArrayBuffer): GraphData {
  if (header.isLittleEndian !== isLittleEndian) throw new RangeError('The byte order is that of another machine.');
  const { ids, titles, options, neighbors, edges } = header;
  let at = 0;
  const column = <Column>(type: ColumnType<Column>, length: number): Column => {
    const start = at;
    at += length * type.BYTES_PER_ELEMENT;
    return new type(buffer, start, length);
  };
  const fingerprints = column(BigUint64Array, ids.length);
  const weights = column(Float64Array, edges);
  const lists = neighbors && createNeighborLists(ids.length, neighbors.limit);
  if (lists && neighbors) {
    lists.counts.set(below(column(Uint32Array, ids.length), neighbors.limit + 1));
    const rows = below(column(Uint32Array, neighbors.total), ids.length);
    const similarities = column(Float32Array, neighbors.total);
    forEachList(lists, (start, length, place) => {
      lists.rows.set(rows.subarray(place, place + length), start);
      lists.similarities.set(similarities.subarray(place, place + length), start);
    });
  }
  const columns: EdgeColumns = {
    weights,
    from: below(column(Uint32Array, edges), ids.length),
    to: below(column(Uint32Array, edges), ids.length),
    kinds: below(column(Uint32Array, edges), header.kindNames.length),
    reasons: below(column(Uint32Array, edges), header.reasonTexts.length),
    kindNames: header.kindNames,
    reasonTexts: header.reasonTexts,
  };
  if (at !== buffer.byteLength) throw new RangeError('There are more bytes than expected.');
  if (!weights.every((weight) => weight > 0 && weight < Infinity)) throw new RangeError('A weight is not positive.');
  return {
    ids,
    titles: titles.map((title) => title ?? undefined),
    options: { ...options, similarity: options.similarity ?? undefined, phrases: options.phrases ?? undefined },
    fingerprints,
    neighbors: lists ?? undefined,
    otherEdges: EdgeList.fromColumns(columns),
  };
}

interface ColumnType<Column> {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBuffer, start: number, length: number): Column;
}

/** Calls back with the start and length of each list, and its start in the compact column. */
function forEachList(
  { limit, counts }: NeighborLists,
  visit: (start: number, length: number, at: number) => void,
): void {
  let at = 0;
  for (const [row, length] of counts.entries()) {
    visit(row * limit, length, at);
    at += length;
  }
}

function below(numbers: Uint32Array, end: number): Uint32Array {
  if (!numbers.every((number) => number < end)) throw new RangeError(`A number is not below ${end}.`);
  return numbers;
}

/** FNV-1a, 32 bit: a change of one byte is always detected. */
function checksum(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < bytes.length; at += 1) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  return hash >>> 0;
}
