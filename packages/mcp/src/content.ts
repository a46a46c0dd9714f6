import { isToolFailure } from '@quiver/core/tools';
import { toErrorMessage } from '@quiver/core';
import { isObject } from './protocol/json-rpc.js';

/** Name of the protocol for the end of a request that did not fail. */
export type ResultType = 'complete' | 'input_required' | 'task';

/** Facts about a {@link Result} that its text does not contain. */
interface ResultOptions {
  /** `_meta` of the result. */
  readonly meta?: Record<string, unknown> | undefined;
  /** Whether other callers may receive another result, so that shared caches must not store it. Default `false`. */
  readonly isPrivate?: boolean;
  /** Whether it is an error result of a tool. Default `false`. */
  readonly isError?: boolean;
  /** Default `complete`. */
  readonly type?: ResultType;
}

/**
 * Result of a request. Its JSON text is written once, where it is created: a tool that changes its value later does not change the result, and
 * a value without a JSON form fails there. No other file joins JSON text.
 */
export class Result {
  /** The result as a JSON object, without `_meta` and the members of its era. */
  readonly json: string;
  readonly meta: Record<string, unknown> | undefined;
  readonly isPrivate: boolean;
  readonly isError: boolean;
  readonly type: ResultType;
  /** Members that were added for the first response, and the bytes of the next ones. */
  #sent: { readonly added: string; bytes?: Uint8Array } | undefined;

  constructor(json: string, { meta, isPrivate = false, isError = false, type = 'complete' }: ResultOptions = {}) {
    this.json = json;
    this.meta = meta;
    this.isPrivate = isPrivate;
    this.isError = isError;
    this.type = type;
  }

  static of(members: object, options?: ResultOptions): Result {
    return new Result(JSON.stringify(members), options);
  }

  /** Returns the result as an object, with its type unless it is complete. */
  parse(): Record<string, unknown> {
    const { meta, type } = this;
    // The cast: results are objects.
    const members = JSON.parse(this.json) as Record<string, unknown>;
    return { ...(type !== 'complete' && { resultType: type }), ...members, ...(meta && { _meta: meta }) };
  }

  /** Returns the JSON text with the members that the era adds. */
  toText(members: object): string {
    return this.#with(JSON.stringify(members));
  }

  /** As {@link Result.toText}, and as bytes for all but the first of several responses with the same members. */
  toBody(members: object): string | Uint8Array {
    const added = JSON.stringify(members);
    if (this.#sent?.added === added) return (this.#sent.bytes ??= new TextEncoder().encode(this.#with(added)));
    this.#sent = { added };
    return this.#with(added);
  }

  #with(added: string): string {
    if (added === '{}') return this.json;
    return this.json === '{}' ? added : `${this.json.slice(0, -1)},${added.slice(1)}`;
  }
}

/** Result of a request without a receiver: the client canceled it, or its round ended with an `input_required` result. */
export const canceledResult: Result = Result.of({});

/**
 * Converts the value that a tool returned to a tool result. A value is written as JSON once.
 *
 * `{ content: […] }` passes through, so images, audio and links survive; a string becomes text; `undefined` becomes no
 * content; other values become JSON text. With an output schema the value is also `structuredContent`. Values without a JSON
 * form (circular references, BigInt) become an error result, never a protocol error.
 *
 * @param hasOutputSchema - whether the tool declares what it returns
 */
export function encodeToolResult(value: unknown, hasOutputSchema: boolean): Result {
  if (isToolFailure(value)) return encodeErrorText(value.message);
  try {
    if (isContentResult(value)) return encodeContentResult(value);
    return hasOutputSchema ? encodeStructured(value) : encodePlain(value);
  } catch (error) {
    return encodeErrorText(`Error: the tool returned a value that cannot be sent as JSON: ${toErrorMessage(error)}`);
  }
}

export interface ContentResult {
  readonly content: readonly { readonly type: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: unknown;
  readonly _meta?: unknown;
}

/** Returns whether a value is a tool result of the protocol. */
export function isContentResult(value: unknown): value is ContentResult {
  return (
    isObject(value) &&
    Array.isArray(value['content']) &&
    value['content'].every((part) => isObject(part) && typeof part['type'] === 'string')
  );
}

function encodeContentResult({ content, structuredContent, isError, _meta }: ContentResult): Result {
  const failed = isError === true;
  const members = { content, structuredContent, ...(failed && { isError: true }) };
  return Result.of(members, { meta: isObject(_meta) ? _meta : undefined, isError: failed });
}

/** A large value is written as JSON once, for both members. */
function encodeStructured(value: unknown): Result {
  const json = toJsonText(value);
  return new Result(`{"content":${JSON.stringify([{ type: 'text', text: json }])},"structuredContent":${json}}`);
}

function encodePlain(value: unknown): Result {
  if (value === undefined) return Result.of({ content: [] });
  const text = typeof value === 'string' ? value : toJsonText(value);
  return Result.of({ content: [{ type: 'text', text }] });
}

function toJsonText(value: unknown): string {
  const json = JSON.stringify(value) as string | undefined;
  if (json === undefined) throw new TypeError(`${typeof value} has no JSON form`);
  return json;
}

/** Returns an error result with a text for the model. */
export function encodeErrorText(text: string): Result {
  return Result.of({ content: [{ type: 'text', text }], isError: true }, { isError: true });
}

/** Returns the error result of a failure. A message that another server marked as an error is marked once. */
export function encodeFailure(message: string): Result {
  return encodeErrorText(message.startsWith('Error: ') ? message : `Error: ${message}`);
}

/** Returns the texts of an error result, and its structured content unless one of them is the same data. */
export function toErrorText({ content, structuredContent }: ContentResult): string {
  const texts = content.flatMap((block) => ('text' in block && typeof block.text === 'string' ? [block.text] : []));
  const json = JSON.stringify(structuredContent) as string | undefined;
  const isShown = json === undefined || texts.some((text) => normalizeJson(text) === json);
  return [...texts, ...(isShown ? [] : [json])].join('\n');
}

function normalizeJson(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return undefined;
  }
}
