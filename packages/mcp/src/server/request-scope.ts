import type { LoggingLevel } from '../protocol/constants.js';
import type { Era } from '../protocol/era-verdict.js';
import { isObject, type Params } from '../protocol/json-rpc.js';
import type { ClientCapabilities, Implementation } from '../protocol/types.js';
import type { AskClient } from './client-question.js';
import type { Exchange } from './exchange.js';

/** One request as the code that answers it sees it: the same in both eras. */
export interface RequestScope {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly exchange: Exchange;
  readonly params: Params | undefined;
  readonly clientCapabilities: ClientCapabilities;
  readonly clientInfo: Implementation | undefined;
  /** The least severe level the client wants to hear of; `undefined` for no log messages at all. */
  readonly logLevel: LoggingLevel | undefined;
  readonly ask: AskClient;
}

/** Sent by a client that wants to see progress. */
export function progressTokenOf(params: Params | undefined): string | number | undefined {
  const meta = params?.['_meta'];
  const token = isObject(meta) ? meta['progressToken'] : undefined;
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}
