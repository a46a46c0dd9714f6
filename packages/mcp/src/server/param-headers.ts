import type { JsonSchema } from '@quiver/core/schema';
import { isObject } from '../protocol/json-rpc.js';
import { decodeHeaderValue, headerMismatch } from '../protocol/standard-headers.js';

/** An argument that clients repeat in a header, for routing by proxies. */
export interface ParamHeader {
  /** In lower case: `mcp-param-region`. */
  readonly header: string;
  readonly path: readonly string[];
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const permittedTypes: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);

/**
 * Finds the properties of an input schema that are marked with `x-mcp-header`.
 *
 * @throws TypeError when a mark breaks the rules; clients leave such a tool out
 * @see [SEP-2243, custom headers](https://modelcontextprotocol.io/seps/2243-http-standardization)
 */
export function findParamHeaders(schema: JsonSchema): ParamHeader[] {
  const found: ParamHeader[] = [];
  const visit = (node: unknown, path: readonly string[]): void => {
    if (!isObject(node)) return;
    const name = node['x-mcp-header'];
    if (name !== undefined) {
      const at = path.join('.') || 'root';
      if (typeof name !== 'string' || !token.test(name))
        throw new TypeError(`x-mcp-header of ${at} is not a header name`);
      if (!permittedTypes.has(node['type']))
        throw new TypeError(`x-mcp-header of ${at} needs the type string, integer or boolean`);
      const header = `mcp-param-${name.toLowerCase()}`;
      if (found.some((other) => other.header === header))
        throw new TypeError(`x-mcp-header '${name}' of ${at} is used twice`);
      found.push({ header, path });
    }
    const { properties } = node;
    if (isObject(properties)) for (const [key, child] of Object.entries(properties)) visit(child, [...path, key]);
  };
  visit(schema, []);
  return found;
}

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
