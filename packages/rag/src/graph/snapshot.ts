import type { Edge } from './adjacency.js';
import type { ResolvedEdgeOptions } from './graph-options.js';
import { graphInvalid } from './graph-error.js';

/** Contents of a graph. Nodes are numbers, positions in `ids`. */
export interface GraphData {
  readonly ids: readonly string[];
  readonly titles: readonly (string | undefined)[];
  readonly options: ResolvedEdgeOptions;
  /** Fingerprint of each node's vector. */
  readonly fingerprints: BigUint64Array;
  /** Edges with reasons, then those of the kind `similarity`. */
  readonly edges: readonly Edge[];
}

/** `QGR` and the version. Raise it with the format, and when equal passages get other edges, because snapshots are kept. */
const magic = [0x51, 0x47, 0x52, 3];
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
  /** Kind and reason of edges, which contain the positions in this list. */
  labels: readonly (readonly [kind: string, reason: string])[];
  /** Number of edges with a label, and of those of the kind `similarity`. */
  labeled: number;
  similar: number;
}

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/**
 * Converts a graph to bytes: magic number, checksum, length of the header, header as JSON, columns of numbers. Columns of wide
 * numbers come first, so all of them are aligned. Cosines are 32-bit numbers, other weights 64-bit ones.
 */
export function writeSnapshot({ ids, titles, options, fingerprints, edges }: GraphData): Uint8Array {
  const labeled = edges.findLastIndex(({ reason }) => reason !== undefined) + 1;
  const similar = edges.length - labeled;
  const labels = new Map<string, { number: number; label: [string, string] }>();
  const weights = new Float64Array(labeled);
  const cosines = new Float32Array(similar);
  const [starts, ends, labelOf] = [
    new Uint32Array(edges.length),
    new Uint32Array(edges.length),
    new Uint32Array(labeled),
  ];
  edges.forEach(({ from, to, weight, kind, reason }, edge) => {
    starts[edge] = from;
    ends[edge] = to;
    if (reason === undefined) {
      cosines[edge - labeled] = weight;
      return;
    }
    weights[edge] = weight;
    const key = `${kind} ${reason}`;
    let known = labels.get(key);
    if (!known) labels.set(key, (known = { number: labels.size, label: [kind, reason] }));
    labelOf[edge] = known.number;
  });
  const header: SnapshotHeader = {
    isLittleEndian,
    ids,
    titles: titles.map((title) => title ?? null),
    options,
    labels: Array.from(labels.values(), ({ label }) => label),
    labeled,
    similar,
  };
  const columns = [fingerprints, weights, cosines, starts, ends, labelOf];
  const text = new TextEncoder().encode(JSON.stringify(header));
  const bytes = new Uint8Array(columns.reduce((sum, { byteLength }) => sum + byteLength, prefixLength + text.length));
  bytes.set(text, prefixLength);
  let at = prefixLength + text.length;
  for (const { buffer, byteLength } of columns) {
    bytes.set(new Uint8Array(buffer), at);
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
  const { ids, titles, options, labels, labeled, similar } = header;
  let at = 0;
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
  const fingerprints = column(BigUint64Array, ids.length);
  const weights = [...column(Float64Array, labeled), ...column(Float32Array, similar)];
  if (!weights.every((weight) => weight > 0 && weight < Infinity)) throw new RangeError('A weight is not positive.');
  const from = numbersBelow(ids.length, labeled + similar);
  const to = numbersBelow(ids.length, labeled + similar);
  const labelOf = numbersBelow(labels.length, labeled);
  if (at !== buffer.byteLength) throw new RangeError('There are more bytes than expected.');
  return {
    ids,
    titles: titles.map((title) => title ?? undefined),
    options: { ...options, similarity: options.similarity ?? undefined, phrases: options.phrases ?? undefined },
    fingerprints,
    edges: weights.map((weight, edge): Edge => {
      const [kind, reason] = labels[labelOf[edge] ?? -1] ?? ['similarity', undefined];
      return { from: from[edge] as number, to: to[edge] as number, weight, kind, reason };
    }),
  };
}

interface ColumnType<Column> {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBuffer, start: number, length: number): Column;
}

/** FNV-1a, 32 bit: a change of one byte is always detected. */
function checksum(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < bytes.length; at += 1) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  return hash >>> 0;
}
