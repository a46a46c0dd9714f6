import { errorCodes } from './constants.js';
import type { JsonRpcRequest, Params } from './json-rpc.js';
import { ProtocolError } from './protocol-error.js';

/** Headers that repeat members of a modern request. */
export interface StandardHeaders {
  readonly protocolVersion: string | undefined;
  readonly method: string | undefined;
  readonly name: string | undefined;
}

/** Member of the params that the `Mcp-Name` header repeats, by method. */
const nameSources: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
]);

/** Returns the value that `Mcp-Name` must repeat; `undefined` when the method or the params have none. */
export function expectedName(method: string, params: Params | undefined): string | undefined {
  const source = nameSources.get(method);
  const value = source === undefined ? undefined : params?.[source];
  return typeof value === 'string' ? value : undefined;
}

/**
 * Refuses a modern request whose standard headers are missing or differ from the body.
 *
 * @throws ProtocolError -32020 with HTTP status 400
 * @see [SEP-2243, standard request headers](https://modelcontextprotocol.io/seps/2243-http-standardization)
 */
export function requireStandardHeaders({ method, params }: JsonRpcRequest, headers: StandardHeaders): void {
  if (headers.protocolVersion === undefined)
    throw headerMismatch('(missing)', 'the required MCP-Protocol-Version header is absent');
  if (headers.method === undefined) {
    throw headerMismatch('(missing)', `the body names method ${method} but the required Mcp-Method header is absent`);
  }
  if (!nameSources.has(method)) return;
  const expected = expectedName(method, params);
  if (headers.name === undefined) {
    if (expected === undefined) return;
    throw headerMismatch('(missing)', `the body names "${expected}" but the required Mcp-Name header is absent`);
  }
  const decoded = decodeHeaderValue(headers.name.trim());
  if (decoded === undefined) throw headerMismatch(headers.name, 'the Mcp-Name header carries an invalid Base64 value');
  if (expected !== undefined && decoded !== expected) {
    throw headerMismatch(headers.name, `the body names "${expected}" but the Mcp-Name header names "${decoded}"`);
  }
}

export function headerMismatch(header: string, body: string): ProtocolError {
  return new ProtocolError(errorCodes.headerMismatch, `Bad Request: the request headers and body disagree: ${body}`, {
    httpStatus: 400,
    data: { mismatch: { header, body } },
  });
}

const encoded = /^=\?base64\?((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\?=$/;

/** Returns plain text unchanged and `=?base64?…?=` decoded; `undefined` for invalid Base64. */
export function decodeHeaderValue(value: string): string | undefined {
  if (!value.startsWith('=?base64?') || !value.endsWith('?=')) return value;
  const base64 = encoded.exec(value)?.[1];
  if (base64 === undefined) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(
      Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)),
    );
  } catch {
    return undefined;
  }
}
