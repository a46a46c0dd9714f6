// The client side of the official suites: connects to the URL it is given, lists the tools and calls them.
import { MCPClient } from '@quiver/mcp/client';
import { createSignIn } from './client-sign-in.ts';
import { sampleArguments } from './sample-arguments.ts';
import { readScenario } from './scenario.ts';

const url = process.argv.at(-1) ?? '';
const scenario = readScenario();
const signIn = createSignIn(url, scenario);

await using mcp = new MCPClient({
  servers: {
    it: {
      url,
      protocol: scenario.version === '2026-07-28' ? 'modern' : 'legacy',
      connectTimeout: 60_000,
      authProvider: signIn.provider,
    },
  },
  timeout: 60_000,
});
await mcp.elicitation.onRequest('it', async () => ({ action: 'accept', content: {} }));

const { it: tools = [] } = await signIn.signedIn(() => mcp.listToolDefinitions());
const calls =
  scenario.context.toolCalls ?? tools.map((tool) => ({ name: tool.name, arguments: sampleArguments(tool, tools) }));
for (const { name, arguments: args } of calls) {
  // Some tools of the suite fail on purpose. The suite checks only the requests.
  await signIn
    .signedIn(() => mcp.callTool({ serverName: 'it', name, args }))
    .catch((error: Error) => process.stderr.write(`${error.message}\n`));
}
