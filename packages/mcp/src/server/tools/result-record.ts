import { QuiverError } from '@quiver/core';
import { isObject } from '../../protocol/json-rpc.js';
import { countWithin } from '../../result-limit/cut-json.js';
import { findCut } from '../../result-limit/cut-text.js';
import type { Extent } from '../../result-limit/cut-texts.js';
import type { FileBlock } from '../../result-limit/fit-files.js';
import type { SizeLimit } from '../../result-limit/size-limit.js';

/** Content of a record of a result. */
export interface StoredResult extends Pick<Extent, 'unit' | 'total'> {
  /** Digest of the principal of the caller. */
  readonly owner: string;
  /** Name of the tool, whose limit applies to every part. */
  readonly tool: string;
  /** Present for a file, which has one part. */
  readonly mimeType?: string;
  /** The text as JSON, the JSON of an element per line, or the file in base64: a part takes no time for the others. */
  readonly body: string;
}

/** Elements of an array, a text, or a file. */
export type WholeValue = readonly unknown[] | string | FileBlock;

/** Returns the record of a result: a line of JSON, and the body. */
export function encodeRecord(about: Pick<StoredResult, 'owner' | 'tool'>, whole: WholeValue): string {
  return [JSON.stringify({ ...about, ...describeWhole(whole) }), ...linesOf(whole)].join('\n');
}

/**
 * Parses a record of the store, which other programs may have written too. Its body is parsed when a part of it is read.
 *
 * @throws `RESULT_RECORD_INVALID`
 */
export function parseRecord(text: string): StoredResult {
  const end = text.indexOf('\n');
  const head = parseJson(text.slice(0, Math.max(end, 0)));
  const { owner, tool, unit, total, mimeType } = isObject(head) ? head : {};
  const isValid =
    typeof owner === 'string' &&
    typeof tool === 'string' &&
    (unit === 'elements' || unit === 'characters') &&
    Number.isSafeInteger(total) &&
    (mimeType === undefined || typeof mimeType === 'string');
  if (!isValid) throw recordInvalid();
  const file = mimeType === undefined ? {} : { mimeType };
  return { owner, tool, unit, total: total as number, ...file, body: text.slice(end + 1) };
}

/** @throws `RESULT_RECORD_INVALID` */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw recordInvalid();
  }
}

function recordInvalid(): QuiverError {
  return new QuiverError(
    'RESULT_RECORD_INVALID',
    'The shared store has a result that MCPServer did not write. It cannot be read; call the tool again.',
  );
}

function describeWhole(whole: WholeValue): Omit<StoredResult, 'owner' | 'tool' | 'body'> {
  if (typeof whole === 'string') return { unit: 'characters', total: whole.length };
  if ('data' in whole) return { unit: 'characters', total: whole.data.length, mimeType: whole.mimeType };
  return { unit: 'elements', total: whole.length };
}

function linesOf(whole: WholeValue): string[] {
  if (typeof whole === 'string') return [JSON.stringify(whole)];
  return 'data' in whole ? [whole.data] : whole.map((element) => JSON.stringify(element));
}

/**
 * Returns a part of a result that is not a file, within a limit.
 *
 * @throws `RESULT_RECORD_INVALID`
 */
export function readPart(stored: StoredResult, offset: number, limit: SizeLimit): Part {
  return (stored.unit === 'characters' ? textPart : elementsPart)(stored, offset, limit);
}

/** Text of a part, and the number of the first character or element behind it. */
export interface Part {
  readonly text: string;
  readonly next: number;
}

function textPart({ body }: StoredResult, offset: number, limit: SizeLimit): Part {
  const whole = parseJson(body);
  if (typeof whole !== 'string') throw recordInvalid();
  const next = findCut(whole, offset + limit.lengthWithin(whole.slice(offset)), offset);
  return { text: whole.slice(offset, next), next };
}

function elementsPart({ body, total }: StoredResult, offset: number, limit: SizeLimit): Part {
  let start = 0;
  for (let passed = 0; passed < offset; passed += 1) start = body.indexOf('\n', start) + 1;
  const rest = body.slice(start);
  const end = rest.indexOf('\n', limit.lengthWithin(rest));
  const elements = (end === -1 ? rest : rest.slice(0, end)).split('\n');
  const wrap = (items: readonly string[], next: number): string =>
    `{"items":[${items.join(',')}],"truncated":${next < total},"total":${total},"next":${next < total ? next : null}}`;
  // Progress is certain, because every element alone is within the limit.
  const count = Math.max(1, countWithin(wrap([], offset), elements, limit));
  const text = wrap(elements.slice(0, count), offset + count);
  parseJson(text);
  return { text, next: offset + count };
}
