import { errorCodes } from './constants.js';
import { isObject, type Params } from './json-rpc.js';
import { ProtocolError } from './protocol-error.js';

/** An argument that a call repeats in a header, so that proxies can route by it. */
export interface ParamHeader {
  /** Lower-case name: `mcp-param-region`. */
  readonly header: string;
  /** Property names from the root of the arguments. */
  readonly path: readonly string[];
}

const mark = 'x-mcp-header';
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const permittedTypes: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);
/** Schemas are deeper only to exhaust the stack. */
const maxDepth = 128;

/** Declarations by input schema, which nothing changes. An entry lives as long as its key. */
const known = new WeakMap<object, readonly ParamHeader[]>();

/** Returns the same as {@link findParamHeaders}, found once per schema: for calls. */
export function declaredParamHeaders(inputSchema: object): readonly ParamHeader[] {
  let found = known.get(inputSchema);
  if (!found) known.set(inputSchema, (found = findParamHeaders(inputSchema)));
  return found;
}

/**
 * Finds the properties of an input schema that are marked with `x-mcp-header`.
 *
 * @throws `TypeError` when a mark breaks the rules; clients leave out such a tool
 * @see [SEP-2243, custom headers](https://modelcontextprotocol.io/seps/2243-http-standardization)
 */
export function findParamHeaders(inputSchema: object): readonly ParamHeader[] {
  const found: ParamHeader[] = [];
  /** Property names of the visited node. One array for all: clients visit every schema of every list. */
  const path: string[] = [];
  // Schemas in other places than `properties` describe values that have no fixed path.
  const visit = (node: object, isReachable: boolean, depth: number): void => {
    if (depth > maxDepth) throw new TypeError('the input schema is nested too deeply');
    if (Array.isArray(node)) {
      for (const child of node as unknown[]) if (isNode(child)) visit(child, false, depth + 1);
      return;
    }
    const schema = node as Params;
    if (mark in schema) found.push(toParamHeader(schema, [...path], isReachable, found));
    for (const keyword of Object.keys(schema)) {
      const value = schema[keyword];
      if (!isNode(value) || dataKeywords.has(keyword)) continue;
      if (mapKeywords.has(keyword) && isObject(value)) {
        const leadsToProperties = isReachable && keyword === 'properties';
        for (const name of Object.keys(value)) enter(name, value[name], leadsToProperties, depth + 1);
      } else enter(keyword, value, false, depth + 1);
    }
  };
  const enter = (name: string, child: unknown, isReachable: boolean, depth: number): void => {
    if (!isNode(child)) return;
    path.push(name);
    visit(child, isReachable, depth);
    path.pop();
  };
  visit(inputSchema, true, 0);
  return found;
}

function isNode(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Keywords whose values are data, not schemas. */
const dataKeywords: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'required', mark]);
/** Keywords whose values are schemas by name. */
const mapKeywords: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);

function toParamHeader(
  { [mark]: name, type }: Params,
  path: readonly string[],
  isReachable: boolean,
  found: readonly ParamHeader[],
): ParamHeader {
  const at = path.join('.') || 'the root';
  if (!isReachable || path.length === 0) throw new TypeError(`${mark} at ${at} is not on a property of the arguments`);
  if (typeof name !== 'string' || !token.test(name)) throw new TypeError(`${mark} at ${at} is not a header name`);
  if (!permittedTypes.has(type)) throw new TypeError(`${mark} at ${at} requires the type string, integer or boolean`);
  const header = `mcp-param-${name.toLowerCase()}`;
  if (found.some((other) => other.header === header))
    throw new TypeError(`${mark} '${name}' at ${at} is declared twice`);
  return { header, path };
}

/** Returns the headers that repeat the marked arguments of a call. Absent arguments and `null` have none. */
export function toParamHeaders(
  declared: readonly ParamHeader[],
  args: Readonly<Params>,
): Record<string, string> | undefined {
  if (declared.length === 0) return undefined;
  const headers: Record<string, string> = {};
  for (const { header, path } of declared) {
    const value = path.reduce<unknown>(
      (node, key) => (isObject(node) && Object.hasOwn(node, key) ? node[key] : undefined),
      args,
    );
    if (typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value))
      headers[header] = encodeHeaderValue(String(value));
    else if (typeof value === 'number' && Number.isFinite(value) && !Number.isInteger(value))
      headers[header] = String(value);
  }
  return headers;
}

/** Returns text that a header can carry: plain ASCII unchanged, everything else as `=?base64?…?=`. */
export function encodeHeaderValue(text: string): string {
  const isPlain = /^[\x21-\x7E](?:[\t\x20-\x7E]*[\x21-\x7E])?$/.test(text);
  if (isPlain && !(text.startsWith('=?base64?') && text.endsWith('?='))) return text;
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte));
  return `=?base64?${btoa(bytes.join(''))}?=`;
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

export function headerMismatch(header: string, body: string): ProtocolError {
  return new ProtocolError(errorCodes.headerMismatch, `Bad Request: the request headers and body disagree: ${body}`, {
    httpStatus: 400,
    data: { mismatch: { header, body } },
  });
}
