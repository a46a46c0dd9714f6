import { errorCodes, isLoggingLevel, metaKeys, MODERN_VERSION, type Era } from './constants.js';
import { isObject, isRequestId, type JsonRpcNotification, type JsonRpcRequest, type Params } from './json-rpc.js';
import { invalidRequest, ProtocolError } from './protocol-error.js';
import { findMethod } from './methods.js';
import { decodeHeaderValue, headerMismatch } from './param-headers.js';

/** Versions are dates, so they sort as text. */
function isModernVersion(version: string | undefined): boolean {
  return version !== undefined && version >= MODERN_VERSION;
}

/** Returns `_meta` when it claims a protocol version. */
function envelopeOf(params: Params | undefined): Params | undefined {
  const meta = params?.['_meta'];
  return isObject(meta) && metaKeys.protocolVersion in meta ? meta : undefined;
}

/**
 * Returns the era of a request or notification. Codes of refusals are those of the official SDK.
 *
 * @param headers - headers that repeat the body; leave out over stdio
 * @throws ProtocolError with HTTP status 400: -32602 for an invalid envelope, -32020 when headers and body disagree, -32022 for another
 *   version of the modern era
 * @see [MCP 2026-07-28, versioning](https://modelcontextprotocol.io/specification/2026-07-28/basic/lifecycle)
 */
export function classifyEra(message: JsonRpcRequest | JsonRpcNotification, headers?: StandardHeaders): Era {
  const { method, params } = message;
  const isRequest = 'id' in message;
  const envelope = envelopeOf(params);
  const header = headers?.protocolVersion;
  if (isRequest && method === 'initialize' && !isValidClaim(envelope)) {
    if (isModernVersion(header)) throw headerMismatch(String(header), 'an initialize request names a modern version');
    return 'legacy';
  }
  if (!envelope && !isModernVersion(header)) return 'legacy';
  if (!envelope && isRequest) throw missingEnvelope(params, String(header));
  const version = envelope ? requireEnvelope(envelope, isRequest) : String(header);
  if (header !== undefined && header !== version) {
    throw headerMismatch(header, `the body names protocol version ${version} but the header names ${header}`);
  }
  const checksMethod = isRequest || isModernVersion(version);
  if (checksMethod && headers?.method !== undefined && headers.method !== method) {
    throw headerMismatch(headers.method, `the body names method ${method} but Mcp-Method names ${headers.method}`);
  }
  if (version !== MODERN_VERSION) {
    throw new ProtocolError(errorCodes.unsupportedVersion, `Unsupported protocol version: ${version}`, {
      httpStatus: 400,
      data: { supported: [MODERN_VERSION], requested: version },
    });
  }
  if (headers && isRequest) requireStandardHeaders(message, headers);
  return 'modern';
}

/** @throws ProtocolError -32600 with HTTP status 400 for a batch with a modern message: that era has no batches */
export function requireLegacyBatch(messages: readonly unknown[]): void {
  const isModern = messages.some(
    (message) => isObject(message) && isObject(message['params']) && envelopeOf(message['params']),
  );
  if (isModern)
    throw invalidRequest(`a batch must not contain requests of protocol version ${MODERN_VERSION} or later`);
}

function isValidClaim(envelope: Params | undefined): boolean {
  const version = envelope?.[metaKeys.protocolVersion];
  return envelope !== undefined && typeof version === 'string' && isModernVersion(version) && !problemOf(envelope);
}

/** Returns the claimed version. A notification needs no other member. */
function requireEnvelope(envelope: Params, isRequest: boolean): string {
  const problem = isRequest ? problemOf(envelope) : versionProblemOf(envelope);
  if (problem) throw invalidEnvelope(`Invalid _meta envelope: ${problem.key}: ${problem.problem}`, problem);
  return envelope[metaKeys.protocolVersion] as string;
}

function missingEnvelope(params: Params | undefined, version: string): ProtocolError {
  const missing = isObject(params?.['_meta']) ? [metaKeys.protocolVersion] : ['_meta'];
  return invalidEnvelope(
    `Invalid params: the header names protocol version ${version}, but the request lacks ${missing.join(', ')}`,
    { missing },
  );
}

function invalidEnvelope(message: string, envelope: object): ProtocolError {
  return new ProtocolError(errorCodes.invalidParams, message, { httpStatus: 400, data: { envelope } });
}

interface EnvelopeProblem {
  readonly key: string;
  readonly problem: string;
}

function problemOf(envelope: Params): EnvelopeProblem | undefined {
  const { clientCapabilities, clientInfo, logLevel } = metaKeys;
  const { progressToken, [clientInfo]: client, [logLevel]: level } = envelope;
  if (!(clientCapabilities in envelope)) return { key: clientCapabilities, problem: 'missing' };
  const invalid = invalidCapability(envelope[clientCapabilities]);
  if (invalid !== undefined) return { key: clientCapabilities + invalid, problem: 'expected an object' };
  if (client !== undefined && !isImplementation(client))
    return { key: clientInfo, problem: 'expected an object with name and version' };
  if (level !== undefined && !isLoggingLevel(level)) return { key: logLevel, problem: 'expected a log level' };
  if (progressToken !== undefined && !isRequestId(progressToken))
    return { key: 'progressToken', problem: 'expected a string or an integer' };
  return versionProblemOf(envelope);
}

function versionProblemOf(envelope: Params): EnvelopeProblem | undefined {
  if (typeof envelope[metaKeys.protocolVersion] === 'string') return undefined;
  return { key: metaKeys.protocolVersion, problem: 'expected a protocol version string' };
}

/** Members of capabilities that are objects; `true` where every member is one. */
const capabilityMembers: ReadonlyMap<string, true | readonly string[]> = new Map<string, true | readonly string[]>([
  ['experimental', true],
  ['extensions', true],
  ['sampling', ['context', 'tools']],
  ['elicitation', ['form', 'url']],
  ['roots', []],
]);

/** Returns the path to an invalid capability, empty for the capabilities themselves; `undefined` when all are valid. */
function invalidCapability(capabilities: unknown): string | undefined {
  if (!isObject(capabilities)) return '';
  for (const name in capabilities) {
    const members = capabilityMembers.get(name);
    const value = capabilities[name];
    if (members === undefined || value === undefined) continue;
    if (!isObject(value)) return `.${name}`;
    if (name === 'roots' && !['undefined', 'boolean'].includes(typeof value['listChanged']))
      return '.roots.listChanged';
    for (const member of members === true ? Object.keys(value) : members)
      if (value[member] !== undefined && !isObject(value[member])) return `.${name}.${member}`;
  }
  return undefined;
}

function isImplementation(value: unknown): boolean {
  if (!isObject(value) || typeof value['name'] !== 'string' || typeof value['version'] !== 'string') return false;
  if (value['icons'] !== undefined && !Array.isArray(value['icons'])) return false;
  return isOptionalText(value['title']) && isOptionalText(value['description']) && isOptionalText(value['websiteUrl']);
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

/** Headers that repeat members of a modern request. */
export interface StandardHeaders {
  readonly protocolVersion: string | undefined;
  readonly method: string | undefined;
  readonly name: string | undefined;
}

/**
 * Refuses a modern request whose standard headers are missing or differ from the body.
 *
 * @throws ProtocolError -32020 with HTTP status 400
 * @see [SEP-2243, standard request headers](https://modelcontextprotocol.io/seps/2243-http-standardization)
 */
function requireStandardHeaders({ method, params }: JsonRpcRequest, headers: StandardHeaders): void {
  if (headers.protocolVersion === undefined)
    throw headerMismatch('(missing)', 'the required MCP-Protocol-Version header is absent');
  if (headers.method === undefined) {
    throw headerMismatch('(missing)', `the body names method ${method} but the required Mcp-Method header is absent`);
  }
  const source = findMethod(method)?.nameSource;
  if (source === undefined) return;
  const expected = params?.[source];
  if (headers.name === undefined) {
    if (typeof expected !== 'string') return;
    throw headerMismatch('(missing)', `the body names "${expected}" but the required Mcp-Name header is absent`);
  }
  if (headers.name === expected) return;
  const decoded = decodeHeaderValue(headers.name.trim());
  if (decoded === undefined) throw headerMismatch(headers.name, 'the Mcp-Name header carries an invalid Base64 value');
  if (typeof expected === 'string' && decoded !== expected) {
    throw headerMismatch(headers.name, `the body names "${expected}" but the Mcp-Name header names "${decoded}"`);
  }
}
