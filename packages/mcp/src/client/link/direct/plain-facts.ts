import type { ServerCapabilities } from '../../../protocol/client-types.js';
import { errorCodes, LEGACY_VERSIONS, metaKeys, MODERN_VERSION } from '../../../protocol/constants.js';
import { isObject, type Params } from '../../../protocol/json-rpc.js';
import { isPlainIdentity } from '../../../protocol/plain-identity.js';
import type { ServerFacts } from '../server-facts.js';
import type { Answer } from './answer.js';
import { isCacheable, withoutResultType } from './plain-result.js';

/**
 * What a server said to `initialize`.
 *
 * @returns `undefined` for what the SDK has to judge
 */
export function toLegacyFacts(answer: Answer): ServerFacts | undefined {
  const result = answer.kind === 'message' && answer.message['result'];
  if (!isObject(result)) return undefined;
  const { protocolVersion, capabilities, serverInfo, instructions } = result;
  if (!legacyVersions.has(protocolVersion) || !isPlainIdentity(serverInfo) || !isPlainCapabilities(capabilities))
    return undefined;
  if (instructions !== undefined && typeof instructions !== 'string') return undefined;
  if (!withoutResultType(result, 'legacy')) return undefined;
  return {
    era: 'legacy',
    protocolVersion: protocolVersion as string,
    capabilities,
    info: serverInfo as unknown as ServerFacts['info'],
    instructions,
  };
}

const legacyVersions: ReadonlySet<unknown> = new Set(LEGACY_VERSIONS);

/**
 * What a server said to `server/discover`.
 *
 * @returns `undefined` for what the SDK has to judge
 */
export function toModernFacts(answer: Answer): ServerFacts | undefined {
  const result = answer.kind === 'message' && answer.message['result'];
  if (!isObject(result) || !isCacheable(result) || !withoutResultType(result, 'modern')) return undefined;
  const { supportedVersions, capabilities, instructions, _meta: meta = {} } = result;
  const isOffered = Array.isArray(supportedVersions) && supportedVersions.includes(MODERN_VERSION);
  if (!isOffered || !supportedVersions.every((version) => typeof version === 'string')) return undefined;
  if (!isPlainCapabilities(capabilities) || !isObject(meta)) return undefined;
  if (instructions !== undefined && typeof instructions !== 'string') return undefined;
  // Whatever else is there is no plain answer.
  const info = meta[metaKeys.serverInfo] as ServerFacts['info'];
  return { era: 'modern', protocolVersion: MODERN_VERSION, capabilities, info, instructions };
}

/** Tells whether the answer to `server/discover` can only be that of a server that does not know it. */
export function meansLegacy(answer: Answer): boolean {
  if (answer.kind === 'message') {
    const { error } = answer.message;
    return isObject(error) && error['code'] !== errorCodes.unsupportedVersion;
  }
  const { status, text } = answer;
  if (status === undefined || status < 400 || status >= 500 || status === 401 || status === 403) return false;
  return !text?.includes(String(errorCodes.unsupportedVersion));
}

/** The members of each capability that the protocol knows; where none are given, objects of any kind. */
const capabilityMembers: Readonly<Record<string, readonly string[] | 'any' | 'objects'>> = {
  tools: ['listChanged'],
  prompts: ['listChanged'],
  resources: ['listChanged', 'subscribe'],
  logging: 'any',
  completions: 'any',
  experimental: 'objects',
  extensions: 'objects',
};

/** Others are dropped by the SDK. */
function isPlainCapabilities(capabilities: unknown): capabilities is ServerCapabilities & Params {
  if (!isObject(capabilities)) return false;
  for (const name in capabilities) {
    const members = Object.hasOwn(capabilityMembers, name) && capabilityMembers[name];
    const capability = capabilities[name];
    if (!members || !isObject(capability)) return false;
    if (members === 'any') continue;
    for (const member in capability) {
      const value = capability[member];
      if (members === 'objects' ? !isObject(value) : !members.includes(member) || typeof value !== 'boolean')
        return false;
    }
  }
  return true;
}
