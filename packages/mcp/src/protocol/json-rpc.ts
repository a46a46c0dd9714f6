import { errorCodes } from './constants.js';
import { ProtocolError } from './protocol-error.js';

export type RequestId = string | number;

export type Params = Record<string, unknown>;

export interface JsonRpcRequest {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly method: string;
  readonly params?: Params;
}

export interface JsonRpcNotification {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly params?: Params;
}

export interface JsonRpcResponse {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly result?: Params;
  readonly error?: { code: number; message: string; data?: unknown };
}

export type IncomingMessage =
  | { readonly kind: 'request'; readonly message: JsonRpcRequest }
  | { readonly kind: 'notification'; readonly message: JsonRpcNotification }
  | { readonly kind: 'response'; readonly message: JsonRpcResponse };

const replacement = '\uFFFD';
const byteOrderMark = '\uFEFF';

/**
 * Parses JSON text; one byte order mark at its beginning is ignored.
 *
 * @param bytes - bytes that the text was decoded from. Decoding puts U+FFFD where bytes are not UTF-8; only then they are checked
 * @throws ProtocolError -32700 with HTTP status 400 for invalid UTF-8 or invalid JSON
 * @see [RFC 8259, section 8.1 – Character Encoding](https://www.rfc-editor.org/rfc/rfc8259.html#section-8.1)
 */
export function parseJsonText(text: string, bytes?: Uint8Array): unknown {
  if (bytes && text.includes(replacement)) requireUtf8(bytes);
  try {
    return JSON.parse(text.startsWith(byteOrderMark) ? text.slice(1) : text);
  } catch {
    throw parseError('Parse error: Invalid JSON');
  }
}

function requireUtf8(bytes: Uint8Array): void {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw parseError('Parse error: the body is not UTF-8');
  }
}

export function parseError(message: string): ProtocolError {
  return new ProtocolError(errorCodes.parse, message, { httpStatus: 400 });
}

/**
 * Classifies a parsed body by its kind. Member names are compared exactly: `Method` is not `method`.
 *
 * @returns `undefined` for what is not one JSON-RPC message; an array is never one
 * @see [JSON-RPC 2.0](https://www.jsonrpc.org/specification)
 */
export function parseMessage(value: unknown): IncomingMessage | undefined {
  if (!isObject(value) || value['jsonrpc'] !== '2.0') return undefined;
  const { id, method, params } = value;
  if (typeof method === 'string') {
    if (params !== undefined && !isObject(params)) return undefined;
    if (id === undefined) return { kind: 'notification', message: value as unknown as JsonRpcNotification };
    return isRequestId(id) ? { kind: 'request', message: value as unknown as JsonRpcRequest } : undefined;
  }
  if (method !== undefined || !isRequestId(id)) return undefined;
  const answered = isObject(value['result']) !== isObject(value['error']);
  return answered ? { kind: 'response', message: value as unknown as JsonRpcResponse } : undefined;
}

/** Returns whether a value is a JSON object: not an array, not `null`. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns `undefined` for a text that is not a JSON object. */
export function parseJsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns parameters with further members in `_meta`. Members that are there take precedence. */
export function withMeta(params: Params = {}, meta: Params | undefined): Params {
  if (!meta) return params;
  const { _meta: own } = params;
  return { ...params, _meta: { ...meta, ...(isObject(own) && own) } };
}

/** Returns whether a value is a request id. JavaScript changes unsafe integers, so a response would carry another id. */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

/**
 * Returns the text of a response.
 *
 * @param id - `null` for a batch, whose result is the whole response
 */
export function resultText(id: RequestId | null, result: string | Uint8Array): string {
  const text = typeof result === 'string' ? result : new TextDecoder().decode(result);
  return id === null ? text : `${beforeResult(id)}${text}}`;
}

/** Returns a response as bytes, in parts: a long result is not copied. */
export function resultParts(id: RequestId, result: Uint8Array): readonly Uint8Array[] {
  const encoder = new TextEncoder();
  return [encoder.encode(beforeResult(id)), result, encoder.encode('}')];
}

function beforeResult(id: RequestId): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`;
}

/** Returns the text of an error response. Errors other than {@link ProtocolError} become -32603 without details. */
export function errorText(id: RequestId | null, error: unknown): string {
  const { code, message, data } = error instanceof ProtocolError ? error : internalError;
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } });
}

const internalError = { code: errorCodes.internal, message: 'Internal error', data: undefined };
