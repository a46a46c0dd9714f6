import type { ClientCapabilities, JsonSchemaValidator, ProtocolClient } from '../../protocol/client-types.js';
import { clientInfo } from '../client-info.js';
import type { LinkEvents } from './server-link.js';

/** How the revision of the protocol is found: `auto` asks for the stateless one first. */
export type NegotiationMode = 'auto' | 'legacy' | { readonly pin: string };

export interface SdkClientOptions extends LinkEvents {
  readonly capabilities: ClientCapabilities;
  readonly maxInputRounds: number | undefined;
  /** Registers handlers on a client before it connects. */
  readonly prepare: (client: ProtocolClient) => void;
}

/** Makes a client of the SDK, which is loaded now if it was not before. */
export async function createSdkClient(options: SdkClientOptions, mode: NegotiationMode): Promise<ProtocolClient> {
  const { capabilities, maxInputRounds, prepare, onError, onClosed } = options;
  const { Client } = await import('../../protocol/sdk-client.js');
  const client = new Client(clientInfo, {
    capabilities,
    versionNegotiation: { mode },
    jsonSchemaValidator: acceptEverything,
    ...(maxInputRounds !== undefined && { inputRequired: { maxRounds: maxInputRounds } }),
  });
  Object.assign(client, { onerror: onError, onclose: onClosed });
  prepare(client);
  return client;
}

/** Results are checked on the one path of all tools, in core; compiling every schema a second time costs more than the calls. */
const acceptEverything: JsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};
