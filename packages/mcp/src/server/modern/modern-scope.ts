import { QuiverError } from '@quiver/core';
import type { ElicitOptions } from '@quiver/core/tools';
import { isLoggingLevel, metaKeys, MODERN_VERSION, type LoggingLevel } from '../../protocol/constants.js';
import { isObject, type Params } from '../../protocol/json-rpc.js';
import type { ClientCapabilities, Implementation } from '../../protocol/types.js';
import type { AskClient, ClientQuestion } from '../client-question.js';
import type { Exchange } from '../exchange.js';
import type { RequestScope } from '../request-scope.js';
import { modernCapabilitiesOf } from './modern-capabilities.js';

/** A request of the stateless revision: all there is to know of the client stands in its `_meta`. */
export class ModernScope implements RequestScope {
  readonly era = 'modern';
  readonly protocolVersion: string = MODERN_VERSION;
  readonly exchange: Exchange;
  readonly params: Params | undefined;
  readonly #ask: AskClient | undefined;

  /** @param ask - called when something is asked; without it nothing can be */
  constructor(exchange: Exchange, params: Params | undefined, ask?: AskClient) {
    this.exchange = exchange;
    this.params = params;
    this.#ask = ask;
  }

  get clientCapabilities(): ClientCapabilities {
    return modernCapabilitiesOf(this.params);
  }

  get clientInfo(): Implementation | undefined {
    const meta = this.params?.['_meta'];
    const clientInfo = isObject(meta) ? meta[metaKeys.clientInfo] : undefined;
    // The shape was checked when the request was classified.
    return isObject(clientInfo) ? (clientInfo as unknown as Implementation) : undefined;
  }

  /** A modern client asks for log messages request by request; without a level it wants none. */
  get logLevel(): LoggingLevel | undefined {
    const meta = this.params?.['_meta'];
    const level = isObject(meta) ? meta[metaKeys.logLevel] : undefined;
    return isLoggingLevel(level) ? level : undefined;
  }

  async ask<Answer>(question: ClientQuestion<Answer>, options: ElicitOptions): Promise<Answer> {
    if (this.#ask) return this.#ask(question, options);
    throw new QuiverError(
      `${question.subject}_NOT_SUPPORTED`,
      'A client of this revision can be asked only while a tool is called, a prompt is fetched or a resource is read.',
    );
  }
}
