import type { JSONRPCMessage, ProtocolTool, Transport } from '../../protocol/client-types.js';
import { errorCodes } from '../../protocol/constants.js';
import type { DirectChannel } from './direct/direct-channel.js';
import type { Handovers } from './direct/handovers.js';
import { parseToolDefinitions, type MalformedTool } from '../tools/tool-definitions.js';
import { streamEnded } from './request-error.js';
import type { ServerFacts } from './server-facts.js';

/** Schemas of tools as the server wrote them; the SDK's copies have another order of keys. */
export class RawSchemas extends Map<string, Pick<ProtocolTool, 'inputSchema' | 'outputSchema'>> {
  /** Definitions of the current list that the SDK does not see: one of them would make it reject the list. */
  readonly malformed: MalformedTool[] = [];
}

export interface TransportWatch {
  readonly server: ServerFacts;
  readonly schemas: RawSchemas;
  readonly direct: DirectChannel | undefined;
  readonly handovers: Handovers;
}

/**
 * Stands between a transport and the SDK: keeps the schemas of tools as they were written, takes the answers to requests that
 * went past the SDK, hands over those that the SDK has to deal with, and answers a request whose event stream ended without an
 * answer, which would wait for its time-out otherwise.
 */
export function watchTransport(transport: Transport, { server, schemas, direct, handovers }: TransportWatch): void {
  const waiting = new Set<string | number>();
  const deliver = transport.onmessage;
  const send = transport.send.bind(transport);
  const receive: NonNullable<Transport['onmessage']> = (message, extra) => {
    if (!('method' in message) && message.id !== undefined) waiting.delete(message.id);
    if ('result' in message && Array.isArray(message.result['tools'])) {
      const { tools, malformed } = parseToolDefinitions(message.result['tools'], server.era === 'modern');
      message.result['tools'] = tools;
      schemas.malformed.push(...malformed);
      for (const { name, inputSchema, outputSchema } of tools)
        schemas.set(name, { inputSchema, ...(outputSchema && { outputSchema }) });
    }
    deliver?.(message, extra);
  };
  const onmessage: NonNullable<Transport['onmessage']> = (message, extra) => {
    if (direct?.accept(message)) return;
    receive(handovers.incoming(message), extra);
  };
  const watchedSend: Transport['send'] = (message, options) => {
    if (!('method' in message) || !('id' in message) || options?.onRequestStreamEnd)
      return handovers.outgoing(message, options, send, receive);
    const { id } = message;
    waiting.add(id);
    const onRequestStreamEnd = (): void => {
      if (!waiting.delete(id)) return;
      const error = { code: errorCodes.refused, message: 'the stream ended without an answer', data: streamEnded };
      deliver?.({ jsonrpc: '2.0', id, error } as JSONRPCMessage);
    };
    return handovers.outgoing(message, { ...options, onRequestStreamEnd }, send, receive);
  };
  Object.assign(transport, { onmessage, send: watchedSend });
}
