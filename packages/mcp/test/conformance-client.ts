// The client side of the official conformance suites: connects to the URL it is given, lists, and calls every tool.
import type { JsonSchema } from '@quiver/core/schema';
import { MCPClient, type ProtocolTool } from '@quiver/mcp/client';

const url = process.argv.at(-1) ?? '';
const { MCP_CONFORMANCE_CONTEXT: context = '{}', MCP_CONFORMANCE_PROTOCOL_VERSION: version = '' } = process.env;
const { toolCalls } = JSON.parse(context) as { toolCalls?: { name: string; arguments: Record<string, unknown> }[] };

await using mcp = new MCPClient({
  servers: { it: { url, protocol: version === '2026-07-28' ? 'modern' : 'legacy', connectTimeout: 10_000 } },
  timeout: 20_000,
});
await mcp.elicitation.onRequest('it', async () => ({ action: 'accept', content: {} }));

const { it: tools = [] } = await mcp.listToolDefinitions();
const calls = toolCalls ?? tools.map((tool) => ({ name: tool.name, arguments: sampleArguments(tool) }));
for (const { name, arguments: args } of calls) {
  // Some of the suite's tools fail on purpose: what counts is what was sent.
  await mcp
    .callTool({ serverName: 'it', name, args })
    .catch((error: Error) => process.stderr.write(`${error.message}\n`));
}

function sampleArguments({ inputSchema }: ProtocolTool): Record<string, unknown> {
  const properties = (inputSchema.properties ?? {}) as Record<string, JsonSchema>;
  // One tool of the suite wants to see the first one's schema again.
  if ('schema' in properties) return { schema: tools[0]?.inputSchema };
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, sampleOf(schema)]));
}

function sampleOf({ type, default: usual, enum: allowed }: JsonSchema): unknown {
  if (usual !== undefined) return usual;
  if (Array.isArray(allowed)) return allowed[0];
  const samples: Record<string, unknown> = {
    string: 'test',
    number: 1,
    integer: 1,
    boolean: true,
    array: [],
    object: {},
  };
  return samples[String(type)] ?? 'test';
}
