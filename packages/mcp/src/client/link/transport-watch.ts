import type { JSONRPCMessage, ProtocolTool, Transport } from '../../protocol/client-types.js';
import { errorCodes } from '../../protocol/constants.js';
import { isObject } from '../../protocol/json-rpc.js';
import type { DirectChannel } from './direct/direct-channel.js';
import type { Handovers } from './direct/handovers.js';
import { streamEnded } from './request-error.js';

/** Schemas of tools as the server wrote them; the SDK's copies have another order of keys. */
export type RawSchemas = Map<string, Pick<ProtocolTool, 'inputSchema' | 'outputSchema'>>;

export interface TransportWatch {
  readonly schemas: RawSchemas;
  readonly direct: DirectChannel | undefined;
  readonly handovers: Handovers;
}

/**
 * Stands between a transport and the SDK: keeps the schemas of tools as they were written, takes the answers to requests that
 * went past the SDK, hands over those that the SDK has to deal with, and answers a request whose event stream ended without an
 * answer, which would wait for its time-out otherwise.
 */
export function watchTransport(transport: Transport, { schemas, direct, handovers }: TransportWatch): void {
  const waiting = new Set<string | number>();
  const deliver = transport.onmessage;
  const send = transport.send.bind(transport);
  const receive: NonNullable<Transport['onmessage']> = (message, extra) => {
    if (!('method' in message) && message.id !== undefined) waiting.delete(message.id);
    if ('result' in message && Array.isArray(message.result['tools'])) remember(schemas, message.result['tools']);
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

function remember(schemas: RawSchemas, tools: readonly unknown[]): void {
  for (const tool of tools) {
    if (!isObject(tool) || typeof tool['name'] !== 'string') continue;
    // The SDK checks the rest of the shape.
    const { inputSchema, outputSchema } = tool as unknown as ProtocolTool;
    schemas.set(tool['name'], { inputSchema, ...(outputSchema && { outputSchema }) });
  }
}
