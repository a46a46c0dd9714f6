// The client side of the official suites: connects to the URL it is given, lists the tools and calls them.
import { MCPClient } from '@quiver/mcp/client';
import { createSignIn } from './client-sign-in.ts';
import { sampleArguments } from './sample-arguments.ts';

/** What a scenario tells its client. */
export interface ScenarioContext {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Record<string, unknown> }[];
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly private_key_pem?: string;
  readonly signing_algorithm?: string;
  readonly valid_jwt?: string;
  readonly idp_client_id?: string;
  readonly idp_id_token?: string;
  readonly idp_token_endpoint?: string;
}

const url = process.argv.at(-1) ?? '';
const {
  MCP_CONFORMANCE_CONTEXT = '{}',
  MCP_CONFORMANCE_PROTOCOL_VERSION: version,
  MCP_CONFORMANCE_SCENARIO: scenario,
} = process.env;
const context = JSON.parse(MCP_CONFORMANCE_CONTEXT) as ScenarioContext;
const signIn = createSignIn(url, scenario, context);

await using mcp = new MCPClient({
  servers: {
    it: {
      url,
      protocol: version === '2026-07-28' ? 'modern' : 'legacy',
      connectTimeout: 10_000,
      authProvider: signIn.provider,
    },
  },
  timeout: 20_000,
});
await mcp.elicitation.onRequest('it', async () => ({ action: 'accept', content: {} }));

const { it: tools = [] } = await signIn.signedIn(() => mcp.listToolDefinitions());
const calls = context.toolCalls ?? tools.map((tool) => ({ name: tool.name, arguments: sampleArguments(tool, tools) }));
for (const { name, arguments: args } of calls) {
  // Some of the suite's tools fail on purpose: what counts is what was sent.
  await signIn
    .signedIn(() => mcp.callTool({ serverName: 'it', name, args }))
    .catch((error: Error) => process.stderr.write(`${error.message}\n`));
}
