import { expect, test } from 'vitest';
import { MCPClient } from '@quiver/mcp/client';
import type { MessageTransport } from '@quiver/mcp';

/** A modern server that answers while the message is being sent. */
function answerDuringSend(): MessageTransport {
  const deliver = (message: object): void => (transport.onmessage as (message: object) => void)(message);
  const transport: MessageTransport = {
    async start() {},
    async close() {},
    async send(message) {
      const { id, method, params } = message as { id?: number; method: string; params: Record<string, unknown> };
      const { _meta: meta, notifications } = params as { _meta: Record<string, string>; notifications: object };
      if (method === 'server/discover') {
        const supportedVersions = [meta['io.modelcontextprotocol/protocolVersion']];
        const result = { resultType: 'complete', supportedVersions, capabilities: { resources: { subscribe: true } } };
        deliver({ jsonrpc: '2.0', id, result });
      } else if (method === 'subscriptions/listen') {
        const acknowledged = { _meta: { 'io.modelcontextprotocol/subscriptionId': id }, notifications };
        const notification = { method: 'notifications/subscriptions/acknowledged', params: acknowledged };
        deliver({ jsonrpc: '2.0', ...notification });
      }
    },
  };
  return transport;
}

test('subscribes over a transport that delivers the acknowledgment during the send', async () => {
  await using mcp = new MCPClient({ servers: { notes: { server: answerDuringSend(), protocol: 'modern' } } });
  await mcp.resources.subscribe('notes', 'note://1');
  expect(mcp.status()['notes']?.state).toBe('ready');
});
