import process from 'node:process';
import type { ClientCapabilities, ProtocolClient, StreamableHTTPClientTransport } from '../../protocol/client-types.js';
import type { OpenConnection } from '../open-connection.js';
import { clientInfo } from '../client-info.js';
import type { HttpServerDefinition, ServerTarget } from '../server-definition.js';
import { StdioTransport } from '../transports/stdio-transport.js';
import { createDirectChannel, createEnvelope, type DirectChannel, type DirectSender } from './direct-channel.js';
import { createStdioSender } from './stdio-sender.js';

/**
 * The way past the SDK, for servers behind a pipe or plain HTTP.
 *
 * @returns `undefined` where requests have to go through the SDK or the application: another transport, an own `fetch`, a sign-in
 *   of the SDK's kind, unusual settings
 */
export async function openDirectChannel(
  { client, transport, kind }: Pick<OpenConnection, 'client' | 'transport' | 'kind'>,
  target: ServerTarget,
  capabilities: ClientCapabilities,
): Promise<DirectChannel | undefined> {
  const isModern = client.getProtocolEra() === 'modern';
  let sender: DirectSender | undefined;
  if (transport instanceof StdioTransport) sender = createStdioSender(transport);
  else if (kind === 'http' && target.kind === 'http')
    sender = await openHttpSender(transport as StreamableHTTPClientTransport, target.definition, target.url, isModern);
  if (!sender) return undefined;
  const { SdkError, SdkErrorCode } = await import('../../protocol/sdk-client.js');
  const version = client.getNegotiatedProtocolVersion();
  return createDirectChannel({
    sender,
    envelope: isModern && version !== undefined ? createEnvelope(version, clientInfo, capabilities) : undefined,
    cancel: (requestId, reason) => cancelRequest(client, requestId, reason),
    timedOut: (reason) => new SdkError(SdkErrorCode.RequestTimeout, reason),
    closed: () => new SdkError(SdkErrorCode.ConnectionClosed, 'Connection closed'),
  });
}

async function openHttpSender(
  transport: StreamableHTTPClientTransport,
  { fetch, authProvider, requestInit = {}, headers }: HttpServerDefinition,
  url: URL,
  isModern: boolean,
): Promise<DirectSender | undefined> {
  if (typeof process === 'undefined' || process.versions?.node === undefined) return undefined;
  const { headers: init, ...otherInit } = requestInit;
  const requestHeaders = new Headers(init);
  if (fetch || authProvider || Object.keys(otherInit).length > 0) return undefined;
  if (requestHeaders.has('accept') || url.username !== '' || url.password !== '') return undefined;
  const { createHttpSender } = await import('./http-sender.js');
  return createHttpSender({
    url,
    headers,
    requestHeaders,
    session: () => transport,
    isModern,
    // The SDK checks its shape.
    onMessage: (message) => transport.onmessage?.(message as never),
    onError: (error) => transport.onerror?.(error),
  });
}

async function cancelRequest(client: ProtocolClient, requestId: string | number, reason: string): Promise<void> {
  try {
    await client.notification({ method: 'notifications/cancelled', params: { requestId, reason } });
  } catch {
    // The connection is gone, and the request with it.
  }
}
