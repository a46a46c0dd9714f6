import { QuiverError, toErrorMessage } from '@quiver/core';
import { Result } from '../../content.js';
import { monotonicNow } from '../../monotonic-now.js';
import { isObject } from '../../protocol/json-rpc.js';
import { invalidParams } from '../../protocol/protocol-error.js';
import { countWithin } from '../../result-limit/cut-json.js';
import { findCut } from '../../result-limit/cut-text.js';
import type { Extent } from '../../result-limit/cut-texts.js';
import type { FileBlock } from '../../result-limit/fit-files.js';
import type { SizeLimit } from '../../result-limit/size-limit.js';
import type { Instance } from '../../shared-store/instance.js';
import { digestOf } from '../digest.js';
import { MAX_STORED_RESULT, MAX_STORED_RESULTS, RESULT_LIFETIME } from '../limits.js';

/** Key of the extent of a cut result in `_meta`. */
export const truncatedKey = 'quiver/truncated';

/** A whole result whose beginning a caller received. */
export interface WholeResult {
  /** Principal of the caller; empty without authentication. */
  readonly principal: string;
  /** Name of the tool, whose limit applies to every part. */
  readonly tool: string;
  /** Elements of an array, a text, or a file. */
  readonly whole: readonly unknown[] | string | FileBlock;
}

/** A result in the store. */
interface StoredResult extends Pick<Extent, 'unit' | 'total'> {
  readonly tool: string;
  /** Present for a file, which has one part. */
  readonly mimeType?: string;
  /** The text as JSON, the JSON of an element per line, or the file in base64: a part takes no time for the others. */
  readonly body: string;
}

const uriPattern = /^quiver-result:\/\/([0-9a-f]{32})(?:\?offset=(\d{1,12}))?$/;

/**
 * Results that were cut, as resources that their caller can read in parts for ten minutes: `quiver-result://<id>?offset=<n>`. Ids are
 * random. This process keeps a limited number of characters; the oldest results are deleted first.
 */
export class ResultStore {
  readonly #instance: Instance;
  readonly #now: () => number;
  /** Results that this process wrote, oldest first. Bound: {@link MAX_STORED_RESULTS}. */
  readonly #written = new Map<string, { readonly size: number; readonly end: number }>();
  #size = 0;

  /** @param now - time in milliseconds */
  constructor(instance: Instance, now: () => number = monotonicNow) {
    this.#instance = instance;
    this.#now = now;
  }

  /** Returns whether a URI has the form of these resources. */
  static isResultUri(uri: string): boolean {
    return uriPattern.test(uri);
  }

  /** @returns the URI of the result; `undefined` when it is too large, or the store is unavailable, which is logged */
  async keep({ principal, tool, whole }: WholeResult): Promise<string | undefined> {
    const id = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0'));
    const uri = `quiver-result://${id.join('')}`;
    // The principal may contain a token.
    const head = { owner: await digestOf(principal), tool, ...describeWhole(whole) };
    const value = [JSON.stringify(head), ...linesOf(whole)].join('\n');
    if (value.length > MAX_STORED_RESULT) return undefined;
    try {
      const key = this.#keyOf(id.join(''));
      await this.#instance.store.put(key, value, { version: 0, ttlMs: RESULT_LIFETIME });
      this.#written.set(key, { size: value.length, end: this.#now() + RESULT_LIFETIME });
      this.#size += value.length;
      await this.#evict();
      return uri;
    } catch (error) {
      this.#instance.logger.error(
        `The rest of a result of tool '${tool}' cannot be stored: ${toErrorMessage(error)}`,
        error,
      );
      return undefined;
    }
  }

  async #evict(): Promise<void> {
    for (const [key, { size, end }] of this.#written) {
      if (this.#size <= MAX_STORED_RESULTS && end > this.#now()) return;
      this.#written.delete(key);
      this.#size -= size;
      await this.#instance.store.delete(key);
    }
  }

  /** Returns the result of a URI if it belongs to the caller. For other callers it does not exist. @throws `RESULT_RECORD_INVALID` */
  async find(uri: string, principal: string): Promise<StoredResult | undefined> {
    const record = await this.#instance.store.get(this.#keyOf(uriPattern.exec(uri)?.[1] ?? ''));
    if (!record) return undefined;
    const { owner, ...stored } = parseRecord(record.value);
    return owner === (await digestOf(principal)) ? stored : undefined;
  }

  #keyOf(id: string): string {
    return this.#instance.nameOf('result', id);
  }
}

/**
 * Parses a record of the store, which other programs may have written too. Its body is parsed when a part of it is read.
 *
 * @throws `RESULT_RECORD_INVALID`
 */
function parseRecord(text: string): StoredResult & { readonly owner: string } {
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

function describeWhole(whole: WholeResult['whole']): Omit<StoredResult, 'tool' | 'body'> {
  if (typeof whole === 'string') return { unit: 'characters', total: whole.length };
  if ('data' in whole) return { unit: 'characters', total: whole.data.length, mimeType: whole.mimeType };
  return { unit: 'elements', total: whole.length };
}

function linesOf(whole: WholeResult['whole']): string[] {
  if (typeof whole === 'string') return [JSON.stringify(whole)];
  return 'data' in whole ? [whole.data] : whole.map((element) => JSON.stringify(element));
}

/**
 * Returns the part of a result that a URI names, within a limit; a file as a whole.
 *
 * @throws ProtocolError -32602 for an offset behind the end
 */
export function encodePart(uri: string, stored: StoredResult, limit: SizeLimit): Result {
  const [, id, digits = '0'] = uriPattern.exec(uri) ?? [];
  const offset = Number(digits);
  const { unit, total, mimeType: fileType, body } = stored;
  if (fileType !== undefined) {
    const contents = [{ uri, mimeType: fileType, blob: body }];
    return new Result(`"contents":${JSON.stringify(contents)}`, { isPrivate: true });
  }
  if (offset >= total) throw invalidParams(`The offset ${offset} is behind the end of the result, ${total}.`);
  const isText = unit === 'characters';
  const part = (isText ? textPart : elementsPart)(stored, offset, limit);
  const { next } = part;
  const following = `quiver-result://${id}?offset=${next}`;
  const extent: Extent & { uri?: string } = {
    unit,
    total,
    next,
    ...(next < total && { uri: following }),
  };
  const mimeType = isText ? 'text/plain' : 'application/json';
  const note = {
    uri: following,
    mimeType: 'text/plain',
    text: `${offset} to ${next} of ${total} ${unit}. The next part is ${following}`,
  };
  const contents = [
    { uri, mimeType, text: part.text, _meta: { [truncatedKey]: extent } },
    ...(next < total ? [note] : []),
  ];
  return new Result(`"contents":${JSON.stringify(contents)}`, { isPrivate: true });
}

/** Text of a part, and the number of the first character or element behind it. */
interface Part {
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
