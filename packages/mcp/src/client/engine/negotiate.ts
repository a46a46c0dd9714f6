import { setRecent } from '../../set-recent.js';
import type { ClientCapabilities, ServerCapabilities } from '../../protocol/types.js';
import { errorCodes, LEGACY_VERSIONS, metaKeys, MODERN_VERSION, type Era } from '../../protocol/constants.js';
import { isObject, type Params } from '../../protocol/json-rpc.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import { HttpError } from '../transports/channel.js';
import { createEnvelope, RequestTimeoutError, type ClientDescription } from './call.js';
import type { Engine } from './engine.js';
import type { ServerFacts } from './traced-connection.js';

/** `auto` tries the modern era first. */
export type NegotiationMode = 'auto' | Era;

export interface NegotiateOptions extends ClientDescription {
  readonly mode: NegotiationMode;
  /** Capabilities that the handshake of a legacy connection declares. Default: the same. */
  readonly handshakeCapabilities?: ClientCapabilities | undefined;
  /** URL of a server over HTTP, whose era is cached. */
  readonly url?: URL | undefined;
}

/** Milliseconds after which, in mode `auto`, a local server without a response to `server/discover` counts as legacy. */
const localProbeTimeout = 5000;

/** Milliseconds. A server may be updated while this process runs. */
const eraLifetime = 10 * 60_000;
const maxEras = 1000;

/** Eras of HTTP servers, by URL: trying the modern era costs a rejected request. At most 1,000; the oldest is evicted. */
const eras = new Map<string, { readonly era: Era; readonly at: number }>();

/**
 * Negotiates the era and the protocol version, and describes the server to the engine.
 *
 * @throws as `Engine.request`; `Error` when client and server have no version in common
 */
export async function negotiate(engine: Engine, options: NegotiateOptions): Promise<void> {
  const { mode, url } = options;
  const known = mode === 'auto' && url ? eras.get(url.href) : undefined;
  const isKnownLegacy = known?.era === 'legacy' && performance.now() - known.at < eraLifetime;
  const isLegacy = mode === 'legacy' || isKnownLegacy;
  const modern = isLegacy ? undefined : await discover(engine, options);
  if (!modern && mode === 'modern')
    throw new Error(`the server does not offer protocol version ${MODERN_VERSION}; set \`protocol\` to 'auto'`);
  const facts = modern ?? (await initialize(engine, options));
  const { capabilities, handshakeCapabilities = capabilities } = options;
  engine.channel.negotiated?.(facts.protocolVersion as string, isPassive(facts.capabilities, handshakeCapabilities));
  if (!modern) await engine.notify('notifications/initialized');
  engine.server = facts;
  if (url) setRecent(eras, url.href, { era: modern ? 'modern' : 'legacy', at: performance.now() }, maxEras);
}

/** @returns `undefined` for a legacy server */
async function discover(engine: Engine, options: NegotiateOptions): Promise<ServerFacts | undefined> {
  const { mode, url } = options;
  const timeout = url || mode === 'modern' ? 0 : localProbeTimeout;
  const _meta = createEnvelope(options, MODERN_VERSION);
  for (let attempt = 1; ; attempt += 1) {
    try {
      const result = await engine.request('server/discover', { _meta }, { timeout });
      return toModernFacts(result);
    } catch (error) {
      // A legacy server does not know the method; what an application throws is the reason.
      if (mode === 'modern' && error instanceof ProtocolError && error.code === errorCodes.internal) throw error;
      if (isLegacyReaction(error)) return undefined;
      // The server lists the version that it has just rejected: once more, and no more.
      if (attempt > 1 || !offeredVersions(error)?.includes(MODERN_VERSION)) throw error;
    }
  }
}

/** Returns whether an error is how a legacy server reacts to an unknown method. */
function isLegacyReaction(error: unknown): boolean {
  if (error instanceof RequestTimeoutError) return true;
  if (error instanceof HttpError) return error.status >= 400 && error.status < 500 && !isDenial(error.status);
  if (!(error instanceof ProtocolError) || isDenial(error.httpStatus) || error.httpStatus >= 500) return false;
  // Versions are dates, so they sort as text.
  return !offeredVersions(error)?.some((version) => version >= MODERN_VERSION);
}

function isDenial(status: number): boolean {
  return status === 401 || status === 403;
}

function offeredVersions(error: unknown): string[] | undefined {
  if (!(error instanceof ProtocolError) || error.code !== errorCodes.unsupportedVersion) return undefined;
  const supported = isObject(error.data) ? error.data['supported'] : undefined;
  return Array.isArray(supported) ? supported.map(String) : undefined;
}

function toModernFacts(result: Params): ServerFacts | undefined {
  const { supportedVersions, capabilities, _meta: meta } = result;
  const isOffered = Array.isArray(supportedVersions) && supportedVersions.includes(MODERN_VERSION);
  if (!isOffered || !isObject(capabilities)) return undefined;
  return toFacts('modern', MODERN_VERSION, result, isObject(meta) ? meta[metaKeys.serverInfo] : undefined);
}

function toFacts(era: Era, protocolVersion: string, described: Params, info: unknown): ServerFacts {
  const { capabilities, instructions } = described;
  return {
    era,
    protocolVersion,
    capabilities: capabilities as ServerCapabilities,
    info: isIdentity(info) ? info : undefined,
    instructions: typeof instructions === 'string' ? instructions : undefined,
  };
}

const legacyVersions: ReadonlySet<unknown> = new Set(LEGACY_VERSIONS);

async function initialize(engine: Engine, options: NegotiateOptions): Promise<ServerFacts> {
  const { clientInfo, handshakeCapabilities: capabilities = options.capabilities } = options;
  const params = { protocolVersion: LEGACY_VERSIONS[0], capabilities, clientInfo };
  const result = await engine.request('initialize', params, { timeout: 0 });
  const { protocolVersion, serverInfo } = result;
  if (!legacyVersions.has(protocolVersion))
    throw new Error(`the server chose protocol version ${JSON.stringify(protocolVersion)}, which is not supported`);
  if (!isObject(result['capabilities']) || !isIdentity(serverInfo))
    throw new TypeError('the result of initialize lacks capabilities, or the name and version of the server');
  return toFacts('legacy', protocolVersion as string, result, serverInfo);
}

/** Returns whether a server has no capability for messages without a request in progress: logs, changes, requests that the client declares. */
function isPassive(server: ServerCapabilities = {}, client: ClientCapabilities): boolean {
  const features = Object.values(server).flatMap((capability) => Object.values(capability ?? {}));
  return !('logging' in server) && !features.some(Boolean) && Object.keys(client).length === 0;
}

function isIdentity(value: unknown): value is NonNullable<ServerFacts['info']> {
  return isObject(value) && typeof value['name'] === 'string' && typeof value['version'] === 'string';
}
