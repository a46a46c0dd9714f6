import type { ElicitOptions } from '@quiver/core/tools';
import type { LoggingLevel } from '../../protocol/constants.js';
import type { Params } from '../../protocol/json-rpc.js';
import type { ClientCapabilities, Implementation } from '../../protocol/types.js';
import type { ClientQuestion } from '../client-question.js';
import type { Exchange } from '../exchange.js';
import type { RequestScope } from '../request-scope.js';
import { askLegacyClient } from './ask-legacy-client.js';
import type { LegacyPeer } from './legacy-peer.js';

/** A request of a client with a session: what is known of the client stands in its peer. */
export class LegacyScope implements RequestScope {
  readonly era = 'legacy';
  readonly exchange: Exchange;
  readonly params: Params | undefined;
  readonly #peer: LegacyPeer;

  constructor(peer: LegacyPeer, exchange: Exchange, params: Params | undefined) {
    this.#peer = peer;
    this.exchange = exchange;
    this.params = params;
  }

  get protocolVersion(): string {
    return this.#peer.protocolVersion;
  }

  get clientCapabilities(): ClientCapabilities {
    return this.#peer.clientCapabilities;
  }

  get clientInfo(): Implementation | undefined {
    return this.#peer.clientInfo;
  }

  get logLevel(): LoggingLevel {
    return this.#peer.logLevel;
  }

  ask<Answer>(question: ClientQuestion<Answer>, options: ElicitOptions): Promise<Answer> {
    const { exchange } = this;
    return askLegacyClient({ peer: this.#peer, question, options, link: exchange });
  }
}
