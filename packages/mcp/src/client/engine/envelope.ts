import { metaKeys, type LoggingLevel } from '../../protocol/constants.js';
import type { Params } from '../../protocol/json-rpc.js';
import { findMethod } from '../../protocol/methods.js';
import type { ClientCapabilities } from '../../protocol/types.js';
import type { RelayedHandlers } from './relay.js';

/** Description of the client in modern requests. */
export interface ClientDescription {
  readonly clientInfo: { readonly name: string; readonly version: string };
  /** Capabilities that every request declares. */
  readonly capabilities: ClientCapabilities;
  /** Log level that requests declare whose tool may log. */
  readonly logLevel?: LoggingLevel | undefined;
}

/** Returns the capabilities that follow from handlers. */
export function declareHandlers(onElicitation: unknown, onSampling: unknown): ClientCapabilities {
  return { ...(onElicitation ? { elicitation: { form: {} } } : {}), ...(onSampling ? { sampling: {} } : {}) };
}

/** Returns the `_meta` of a modern request, which describes the client. */
export function createEnvelope(
  { clientInfo, capabilities }: ClientDescription,
  protocolVersion: string | undefined,
): Params {
  return {
    [metaKeys.protocolVersion]: protocolVersion,
    [metaKeys.clientInfo]: clientInfo,
    [metaKeys.clientCapabilities]: capabilities,
  };
}

/** Returns the same as {@link createEnvelope}, with what one request declares. @param extension - extension of the protocol */
export function createRequestEnvelope(
  client: ClientDescription,
  protocolVersion: string | undefined,
  method: string,
  { onElicitation, onSampling, relay, extension }: RelayedHandlers & { readonly extension?: string | undefined },
): Params {
  const { clientInfo } = client;
  const { logLevel } = relay ?? client;
  let { capabilities } = client;
  if (relay) {
    const extensions = { ...relay.capabilities.extensions, ...capabilities.extensions };
    capabilities = { ...relay.capabilities, ...capabilities, extensions };
  }
  if (extension !== undefined)
    capabilities = { ...capabilities, extensions: { ...capabilities.extensions, [extension]: {} } };
  if (onElicitation || onSampling) capabilities = { ...declareHandlers(onElicitation, onSampling), ...capabilities };
  const envelope = createEnvelope({ clientInfo, capabilities }, protocolVersion);
  if (logLevel !== undefined && findMethod(method)?.isInteractive) envelope[metaKeys.logLevel] = logLevel;
  return envelope;
}
