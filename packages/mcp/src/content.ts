import { isToolFailure } from '@quiver/core/tools';
import { toErrorMessage } from '@quiver/core';
import { isObject, wholeText, type ResultJson } from './protocol/json-rpc.js';

/** Members of a {@link Result} that are not its text. */
interface ResultOptions {
  /** `_meta` of the result. */
  readonly meta?: Record<string, unknown> | undefined;
  /** Whether other callers may receive another result, so that shared caches must not store it. Default `false`. */
  readonly isPrivate?: boolean;
  /** Whether it is an error result of a tool. Default `false`. */
  readonly isError?: boolean;
}

/** Name of the protocol for the end of a request that did not fail. */
export type ResultType = 'complete' | 'input_required' | 'task';

/** Result of a request as JSON text, written once. */
export class Result {
  /** Members without braces, `"content":[…],"structuredContent":{…}`: the era adds the last ones. Empty for a whole result. */
  readonly members: string;
  readonly meta: Record<string, unknown> | undefined;
  readonly isPrivate: boolean;
  readonly isError: boolean;
  /** Whole result, to which nothing is added. */
  readonly whole: ResultJson | undefined;
  readonly type: ResultType;

  constructor(
    members: string,
    { meta, isPrivate = false, isError = false }: ResultOptions = {},
    whole?: ResultJson,
    type: ResultType = 'complete',
  ) {
    this.members = members;
    this.meta = meta;
    this.isPrivate = isPrivate;
    this.isError = isError;
    this.whole = whole;
    this.type = type;
  }

  /** Creates a result that is sent unchanged. */
  static whole(json: ResultJson, type: ResultType = 'complete'): Result {
    return new Result('', {}, json, type);
  }

  /** Characters of the result, without the members of its era. */
  get size(): number {
    return this.whole === undefined ? this.members.length + 2 : wholeText(this.whole).length;
  }

  /** Parses the result. */
  parse(): Record<string, unknown> {
    const text = this.whole === undefined ? `{${this.members}}` : wholeText(this.whole);
    // The cast: results are objects.
    const parsed = JSON.parse(text) as Record<string, unknown>;
    return this.meta ? { ...parsed, _meta: this.meta } : parsed;
  }
}

/** Result of a request without a receiver: the client canceled it, or its round ended with an `input_required` result. */
export const canceledResult: Result = new Result('');

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
  let members = `"content":${JSON.stringify(content)}`;
  if (structuredContent !== undefined) members += `,"structuredContent":${JSON.stringify(structuredContent)}`;
  if (failed) members += ',"isError":true';
  return new Result(members, { meta: isObject(_meta) ? _meta : undefined, isError: failed });
}

function encodeStructured(value: unknown): Result {
  const json = toJsonText(value);
  return new Result(`"content":[{"type":"text","text":${JSON.stringify(json)}}],"structuredContent":${json}`);
}

function encodePlain(value: unknown): Result {
  if (value === undefined) return new Result('"content":[]');
  const text = typeof value === 'string' ? value : toJsonText(value);
  return new Result(`"content":[{"type":"text","text":${JSON.stringify(text)}}]`);
}

function toJsonText(value: unknown): string {
  const json = JSON.stringify(value) as string | undefined;
  if (json === undefined) throw new TypeError(`${typeof value} has no JSON form`);
  return json;
}

/** Returns an error result with a text for the model. */
export function encodeErrorText(text: string): Result {
  return new Result(`"content":[{"type":"text","text":${JSON.stringify(text)}}],"isError":true`, { isError: true });
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
