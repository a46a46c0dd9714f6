import { onTestFinished } from 'vitest';
import { MCPClient, type MCPClientOptions } from '../../src/client/mcp-client.js';
import type { RemoteTool } from '../../src/client/tools/remote-tool.js';

/** Returns a client that is disconnected when the test is over. */
export function clientOf(servers: MCPClientOptions['servers'], options: Partial<MCPClientOptions> = {}): MCPClient {
  const mcp = new MCPClient({ id: crypto.randomUUID(), servers, ...options });
  onTestFinished(() => mcp.disconnect());
  return mcp;
}

/** Returns a tool that must be there. */
export function pick(tools: Record<string, RemoteTool>, name: string): RemoteTool {
  const tool = tools[name];
  if (!tool) throw new Error(`no tool ${name} among ${Object.keys(tools).join(', ')}`);
  return tool;
}
