import type { ChunkGraphData } from '../chunk-graph-data.js';
import { EdgeList } from '../edge-list.js';
import type { ResolvedEdgeOptions } from '../edges/edge-kinds.js';
import { graphInvalid } from '../graph-error.js';
import { createNeighbourLists } from '../similarity/neighbour-lists.js';

/** `QGR` and the version: raised with the format, and when equal passages get other edges, for graphs are kept for years. */
const magic = [0x51, 0x47, 0x52, 1];
/** The magic number and the checksum. */
const prefixLength = 8;

/** The part that is text, as JSON. */
interface SnapshotHeader {
  ids: string[];
  /** `null` stands for none. */
  titles: (string | null)[];
  options: ResolvedEdgeOptions;
  neighbours: { limit: number; recall: number } | null;
  kinds: string[];
  reasons: string[];
  edges: number;
}

/**
 * A graph as bytes: the magic number, a checksum of all that follows, the length of the header, the header as JSON, then columns
 * of little-endian numbers: fingerprints, neighbours (how many of each row, their rows, their similarities), edges (from, to, weight, kind, reason).
 */
export function writeSnapshot({
  ids,
  titles,
  options,
  fingerprints,
  neighbours,
  otherEdges,
}: ChunkGraphData): Uint8Array {
  const reasons = new Map<string, number>();
  const reasonOf = (edge: number): number => {
    const reason = otherEdges.reason(edge);
    const number = reasons.get(reason) ?? reasons.size;
    reasons.set(reason, number);
    return number;
  };
  const edges = Array.from({ length: otherEdges.count }, (_, edge) => edge);
  const columns = new ByteWriter();
  for (const print of fingerprints) columns.uint64(print);
  if (neighbours) {
    const { limit, counts, rows, similarities } = neighbours.lists;
    counts.forEach((count) => columns.uint32(count));
    counts.forEach((count, row) => rows.subarray(row * limit, row * limit + count).forEach((to) => columns.uint32(to)));
    counts.forEach((count, row) =>
      similarities.subarray(row * limit, row * limit + count).forEach((similarity) => columns.float32(similarity)),
    );
  }
  for (const edge of edges) columns.uint32(otherEdges.from(edge));
  for (const edge of edges) columns.uint32(otherEdges.to(edge));
  for (const edge of edges) columns.float64(otherEdges.weight(edge));
  for (const edge of edges) columns.uint32(otherEdges.kindNumber(edge));
  for (const edge of edges) columns.uint32(reasonOf(edge));
  const header: SnapshotHeader = {
    ids: [...ids],
    titles: titles.map((title) => title ?? null),
    options,
    neighbours: neighbours ? { limit: neighbours.lists.limit, recall: neighbours.recall } : null,
    kinds: [...otherEdges.kindNames],
    reasons: [...reasons.keys()],
    edges: edges.length,
  };
  const text = new TextEncoder().encode(JSON.stringify(header));
  const content = new ByteWriter();
  content.uint32(text.length);
  content.bytes(text);
  content.bytes(columns.toBytes());
  const contentBytes = content.toBytes();
  const all = new ByteWriter();
  magic.forEach((byte) => all.uint8(byte));
  all.uint32(checksumOf(contentBytes));
  all.bytes(contentBytes);
  return all.toBytes();
}

/** @throws `GRAPH_INVALID` */
export function readSnapshot(bytes: Uint8Array): ChunkGraphData {
  if (
    !(bytes instanceof Uint8Array) ||
    bytes.length < prefixLength ||
    magic.slice(0, 3).some((byte, place) => bytes[place] !== byte)
  ) {
    throw graphInvalid('These bytes are not the snapshot of a graph. Build the graph again.');
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes[3] !== magic[3]) {
    throw graphInvalid(`Unsupported version of the snapshot of a graph: ${bytes[3]}. Build the graph again.`);
  }
  try {
    if (checksumOf(bytes.subarray(prefixLength)) !== view.getUint32(4, true))
      throw new RangeError('Bytes have changed.');
    const headerStart = prefixLength + 4;
    const columnsStart = headerStart + view.getUint32(prefixLength, true);
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(headerStart, columnsStart))) as SnapshotHeader;
    return readColumns(header, new ByteReader(view, columnsStart));
  } catch (cause) {
    throw graphInvalid('The snapshot of a graph is damaged or incomplete. Build the graph again.', cause);
  }
}

/** FNV-1a, 32 bit: one byte that changed never goes unnoticed. */
function checksumOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < bytes.length; at += 1) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  return hash >>> 0;
}

function readColumns(header: SnapshotHeader, columns: ByteReader): ChunkGraphData {
  const { ids, titles, options, neighbours, kinds, reasons } = header;
  const fingerprints = BigUint64Array.from(ids, () => columns.uint64());
  const lists = neighbours && createNeighbourLists(ids.length, neighbours.limit);
  if (lists) {
    for (let row = 0; row < ids.length; row += 1) lists.counts[row] = columns.uint32(lists.limit + 1);
    for (const [column, read] of [
      [lists.rows, () => columns.uint32(ids.length)],
      [lists.similarities, () => columns.float32()],
    ] as const) {
      for (let row = 0; row < ids.length; row += 1) {
        for (let place = 0; place < (lists.counts[row] as number); place += 1)
          column[row * lists.limit + place] = read();
      }
    }
  }
  const column = (read: () => number): number[] => Array.from({ length: header.edges }, read);
  const from = column(() => columns.uint32(ids.length));
  const to = column(() => columns.uint32(ids.length));
  const weights = column(() => columns.float64());
  const kindOf = column(() => columns.uint32(kinds.length));
  const reasonOf = column(() => columns.uint32(reasons.length));
  columns.requireEnd();
  const otherEdges = new EdgeList();
  for (let edge = 0; edge < header.edges; edge += 1) {
    const [kind, reason] = [kinds[kindOf[edge] as number] as string, reasons[reasonOf[edge] as number] as string];
    otherEdges.add(from[edge] as number, to[edge] as number, weights[edge] as number, kind, reason);
  }
  return {
    ids,
    titles: titles.map((title) => title ?? undefined),
    options: {
      ...options,
      similarity: options.similarity ?? undefined,
      phrases: options.phrases ?? undefined,
    },
    fingerprints,
    neighbours: neighbours && lists ? { lists, recall: neighbours.recall } : undefined,
    otherEdges,
  };
}

class ByteWriter {
  #view = new DataView(new ArrayBuffer(1024));
  #length = 0;

  uint8(value: number): void {
    const at = this.#reserve(1);
    this.#view.setUint8(at, value);
  }

  uint32(value: number): void {
    const at = this.#reserve(4);
    this.#view.setUint32(at, value, true);
  }

  float32(value: number): void {
    const at = this.#reserve(4);
    this.#view.setFloat32(at, value, true);
  }

  float64(value: number): void {
    const at = this.#reserve(8);
    this.#view.setFloat64(at, value, true);
  }

  uint64(value: bigint): void {
    const at = this.#reserve(8);
    this.#view.setBigUint64(at, value, true);
  }

  bytes(bytes: Uint8Array): void {
    const start = this.#reserve(bytes.length);
    new Uint8Array(this.#view.buffer).set(bytes, start);
  }

  toBytes(): Uint8Array {
    return new Uint8Array(this.#view.buffer.slice(0, this.#length));
  }

  /** @returns where the next bytes go */
  #reserve(length: number): number {
    const start = this.#length;
    this.#length += length;
    if (this.#length > this.#view.byteLength) {
      const larger = new Uint8Array(Math.max(this.#length, this.#view.byteLength * 2));
      larger.set(new Uint8Array(this.#view.buffer));
      this.#view = new DataView(larger.buffer);
    }
    return start;
  }
}

class ByteReader {
  readonly #view: DataView;
  #at: number;

  constructor(view: DataView, start: number) {
    this.#view = view;
    this.#at = start;
  }

  /** @param end - numbers must be smaller */
  uint32(end: number): number {
    const value = this.#view.getUint32(this.#next(4), true);
    if (value >= end) throw new RangeError(`${value} is not below ${end}.`);
    return value;
  }

  float32(): number {
    return requirePositive(this.#view.getFloat32(this.#next(4), true));
  }

  float64(): number {
    return requirePositive(this.#view.getFloat64(this.#next(8), true));
  }

  uint64(): bigint {
    return this.#view.getBigUint64(this.#next(8), true);
  }

  requireEnd(): void {
    if (this.#at !== this.#view.byteLength) throw new RangeError('There is more than expected.');
  }

  #next(length: number): number {
    const start = this.#at;
    this.#at += length;
    return start;
  }
}

function requirePositive(value: number): number {
  if (!(value > 0 && value < Infinity)) throw new RangeError(`${value} is not positive.`);
  return value;
}
