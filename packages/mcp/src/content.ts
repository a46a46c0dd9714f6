import { isToolFailure } from '@quiver/core/tools';
import { toErrorMessage } from '@quiver/core';
import { isObject } from './protocol/json-rpc.js';

/** The result of a tool call as JSON text, ready to be closed by the era that answers. */
export interface EncodedResult {
  /** The members without braces: `"content":[…],"structuredContent":{…}`. */
  readonly members: string;
  /** `_meta` of a result that brought its own. */
  readonly meta?: Record<string, unknown> | undefined;
}

/**
 * Turns what a tool returned into a tool result. A value is written as JSON once.
 *
 * `{ content: […] }` passes through, so images, audio and links survive; a string becomes text; `undefined` becomes no
 * content; everything else becomes JSON text. With an output schema the value is also `structuredContent`. What cannot be
 * written as JSON (circular references, BigInt) becomes an error result that says so: never a protocol error.
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

/** A result in the protocol's own form. */
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
  if (structuredContent !== undefined && !failed)
    members += `,"structuredContent":${JSON.stringify(structuredContent)}`;
  if (failed) members += ',"isError":true';
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

/** A failed call, with a text that a model can read. */
export function encodeErrorText(text: string): EncodedResult {
  return { members: `"content":[{"type":"text","text":${JSON.stringify(text)}}],"isError":true` };
}
