import { isObject } from '../protocol/json-rpc.js';
import type { ParamHeader } from '../protocol/param-headers.js';
import { decodeHeaderValue, headerMismatch } from '../protocol/standard-headers.js';

/** A container that is sent as text would be parsed later, for the tool: what it holds cannot be compared. */
function argumentAt(args: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((node, key) => {
    if (isObject(node)) return Object.hasOwn(node, key) ? node[key] : undefined;
    if (node === undefined || node === null) return undefined;
    throw headerMismatch(
      `(any for ${path.join('.')})`,
      `the body carries ${path.join('.')} inside a value that is not an object`,
    );
  }, args);
}

/**
 * Refuses a call whose marked arguments and `Mcp-Param-*` headers differ. An argument that is absent or null has no header.
 *
 * @throws ProtocolError -32020 with HTTP status 400
 */
export function requireParamHeaders(
  declared: readonly ParamHeader[],
  args: unknown,
  headerOf: (name: string) => string | undefined,
): void {
  for (const { header, path } of declared) {
    const value = argumentAt(args, path);
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') continue;
    const given = headerOf(header);
    if (given === undefined)
      throw headerMismatch('(missing)', `the body carries ${path.join('.')} but the ${header} header is absent`);
    const decoded = decodeHeaderValue(given);
    if (decoded === undefined) throw headerMismatch(given, `the ${header} header carries an invalid Base64 value`);
    const isSameNumber = typeof value === 'number' && /^-?\d+(\.\d+)?$/.test(decoded) && Number(decoded) === value;
    if (decoded !== String(value) && !isSameNumber) {
      throw headerMismatch(given, `the ${header} header differs from ${path.join('.')} in the body`);
    }
  }
}
