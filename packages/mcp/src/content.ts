import { isToolFailure } from '@quiver/core/tools';
import { toErrorMessage } from '@quiver/core';
import { isObject, type ResultJson } from './protocol/json-rpc.js';

/** Result of a tool call as JSON text; the era adds the last members. */
export interface EncodedResult {
  /** Members without braces: `"content":[…],"structuredContent":{…}`. */
  readonly members: string;
  /** `_meta` of the result. */
  readonly meta?: Record<string, unknown> | undefined;
  /** Whether other callers may receive another result, so that shared caches must not store it. */
  readonly isPrivate?: boolean;
}

/** A result whose end depends on the era, or a whole result. */
export type Answer = EncodedResult | ResultJson;

/**
 * Converts the value that a tool returned to a tool result. A value is written as JSON once.
 *
 * `{ content: […] }` passes through, so images, audio and links survive; a string becomes text; `undefined` becomes no
 * content; other values become JSON text. With an output schema the value is also `structuredContent`. Values without a JSON
 * form (circular references, BigInt) become an error result, never a protocol error.
 *
 * @param hasOutputSchema - whether the tool declares what it returns
 */
export function encodeToolResult(value: unknown, hasOutputSchema: boolean): EncodedResult {
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

function encodeContentResult({ content, structuredContent, isError, _meta }: ContentResult): EncodedResult {
  const failed = isError === true;
  let members = `"content":${JSON.stringify(content)}`;
  if (structuredContent !== undefined) members += `,"structuredContent":${JSON.stringify(structuredContent)}`;
  if (failed) members += errorEnd;
  return { members, ...(isObject(_meta) && { meta: _meta }) };
}

function encodeStructured(value: unknown): EncodedResult {
  const json = toJsonText(value);
  return { members: `"content":[{"type":"text","text":${JSON.stringify(json)}}],"structuredContent":${json}` };
}

function encodePlain(value: unknown): EncodedResult {
  if (value === undefined) return { members: '"content":[]' };
  const text = typeof value === 'string' ? value : toJsonText(value);
  return { members: `"content":[{"type":"text","text":${JSON.stringify(text)}}]` };
}

function toJsonText(value: unknown): string {
  const json = JSON.stringify(value) as string | undefined;
  if (json === undefined) throw new TypeError(`${typeof value} has no JSON form`);
  return json;
}

/** Returns an error result with a text for the model. */
export function encodeErrorText(text: string): EncodedResult {
  return { members: `"content":[{"type":"text","text":${JSON.stringify(text)}}]${errorEnd}` };
}

/** Returns the error result of a failure. A message that another server marked as an error is marked once. */
export function encodeFailure(message: string): EncodedResult {
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

/** Last member of error results. */
const errorEnd = ',"isError":true';

/** Returns whether a result is an error result. */
export function isErrorResult({ members }: EncodedResult): boolean {
  return members.endsWith(errorEnd);
}
