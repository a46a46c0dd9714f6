import { expect, test } from 'vitest';
import type { MessageTransport } from '../config/in-process-server.js';
import { clientOf } from '../../../test/clients/client-of.ts';

test('a transport may return from `send` what the stream behind it returns', async () => {
  const results: Record<string, object> = {
    initialize: { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'It', version: '1' } },
    'tools/call': { content: [] },
  };
  const send = ({ id, method = '' }: { id?: number; method?: string }): boolean => {
    const error = { code: -32_601, message: 'Method not found' };
    const result = results[method];
    const response = { jsonrpc: '2.0', id, ...(result ? { result } : { error }) };
    if (id !== undefined) setImmediate(() => (transport.onmessage as (message: object) => void)(response));
    return true;
  };
  // In JavaScript, nothing checks the type.
  const transport = { async start() {}, async close() {}, send } as unknown as MessageTransport;
  const mcp = clientOf({ it: { server: transport } });
  expect(await mcp.callTool({ serverName: 'it', name: 'any' })).toMatchObject({ content: [] });
});
