import { isLoggingLevel, MODERN_VERSION, metaKeys } from './constants.js';
import { isObject, isRequestId, type JsonRpcRequest, type Params } from './json-rpc.js';
import { isPlainIdentity } from './plain-identity.js';
import { ProtocolError } from './protocol-error.js';
import { expectedName, requireStandardHeaders, type StandardHeaders } from './standard-headers.js';

export type Era = 'legacy' | 'modern';

/** Tells whether a message, or its headers, claim the modern revision or a later one. */
export function claimsModern(params: Params | undefined, protocolVersionHeader?: string): boolean {
  // Revisions are dates, so they sort as text.
  if (protocolVersionHeader !== undefined && protocolVersionHeader >= MODERN_VERSION) return true;
  const meta = params?.['_meta'];
  return isObject(meta) && metaKeys.protocolVersion in meta;
}

/**
 * Refuses a batch that claims the modern revision, in the official SDK's words.
 *
 * @throws ProtocolError with the SDK's own code, text and HTTP status
 */
export async function requireLegacyBatch(messages: readonly unknown[], headers?: StandardHeaders): Promise<void> {
  const claims = messages.some(
    (message) => isObject(message) && isObject(message['params']) && claimsModern(message['params']),
  );
  if (claims || claimsModern(undefined, headers?.protocolVersion)) await judgeEra(messages, headers);
}

/**
 * Tells whether a request is modern beyond doubt: complete envelope, headers that agree with it. Everything less than perfect
 * goes to {@link judgeEra}, which knows every rule and costs ten times as much.
 *
 * @param headers - leave out over stdio, where there are none
 */
export function isPerfectModernRequest({ method, params }: JsonRpcRequest, headers?: StandardHeaders): boolean {
  const meta = params?.['_meta'];
  if (!isObject(meta) || meta[metaKeys.protocolVersion] !== MODERN_VERSION) return false;
  const { progressToken, [metaKeys.logLevel]: logLevel, [metaKeys.clientInfo]: clientInfo } = meta;
  if (!isPlainCapabilities(meta[metaKeys.clientCapabilities])) return false;
  if (clientInfo !== undefined && !isPlainIdentity(clientInfo)) return false;
  if (progressToken !== undefined && !isRequestId(progressToken)) return false;
  if (logLevel !== undefined && !isLoggingLevel(logLevel)) return false;
  if (!headers) return true;
  const { protocolVersion, method: named, name } = headers;
  if (protocolVersion !== MODERN_VERSION || named !== method || name !== expectedName(method, params)) return false;
  // What looks encoded means something else than it says.
  return name === undefined || !name.startsWith('=?');
}

function isPlainCapabilities(value: unknown): boolean {
  if (!isObject(value)) return false;
  for (const name in value) if (!isPlainCapability(name, value[name])) return false;
  return true;
}

/** As clients declare them: `{ form: {}, url: {} }`. The SDK knows what else there may be inside. */
function isPlainCapability(name: string, value: unknown): boolean {
  if (!isObject(value)) return false;
  for (const key in value) {
    const member = value[key];
    if (name === 'roots' && key === 'listChanged' && typeof member === 'boolean') continue;
    if (!isObject(member) || (!openCapabilities.has(name) && Object.keys(member).length > 0)) return false;
  }
  return true;
}

/** Their members may hold anything. */
const openCapabilities: ReadonlySet<string> = new Set(['experimental', 'extensions']);

/**
 * The official SDK's verdict on a message that is not a perfect request of either era.
 *
 * @throws ProtocolError with the SDK's own code, text and HTTP status when the message has to be refused
 */
export async function judgeEra(body: unknown, headers?: StandardHeaders): Promise<Era> {
  const { classifyInboundRequest, UnsupportedProtocolVersionError } = await import('./sdk-server.js');
  const outcome = classifyInboundRequest({
    httpMethod: 'POST',
    body,
    ...(headers?.protocolVersion !== undefined && { protocolVersionHeader: headers.protocolVersion }),
    ...(headers?.method !== undefined && { mcpMethodHeader: headers.method }),
    ...(headers?.name !== undefined && { mcpNameHeader: headers.name }),
  });
  if (outcome.kind === 'reject') {
    throw new ProtocolError(outcome.code, outcome.message, { httpStatus: outcome.httpStatus, data: outcome.data });
  }
  if (outcome.kind === 'legacy') return 'legacy';
  const { revision } = outcome.classification;
  if (revision !== MODERN_VERSION) {
    const refusal = new UnsupportedProtocolVersionError({
      supported: [MODERN_VERSION],
      requested: revision ?? 'unknown',
    });
    throw new ProtocolError(refusal.code, refusal.message, { httpStatus: 400, data: refusal.data });
  }
  if (headers && outcome.messageKind === 'request') requireStandardHeaders(outcome.message as JsonRpcRequest, headers);
  return 'modern';
}
