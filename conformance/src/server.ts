import { createTool } from '@quiver/core/tools';
import { MCPServer } from '@quiver/mcp/server';
import { askingTools } from './asking-tools.ts';
import { contentTools } from './content-tools.ts';
import { inputRequiredTools } from './input-required-tools.ts';
import { prompts } from './prompts.ts';
import { resources } from './resources.ts';
import { taskTools } from './task-tools.ts';

/** Returns the server that the official conformance suites test: their fixtures, built with the public API only. */
export function createConformanceServer(): MCPServer {
  const server = new MCPServer({
    id: 'conformance',
    name: 'Quiver conformance server',
    version: '1.0.0',
    title: 'Conformance',
    description: 'The fixtures of the official conformance suites',
    icons: [{ src: 'https://example.com/icon.svg', mimeType: 'image/svg+xml', sizes: ['any'] }],
    websiteUrl: 'https://example.com',
    instructions: 'Call the tool that a scenario names.',
    tools: { ...contentTools, ...askingTools, ...inputRequiredTools, ...taskTools },
    resources,
    prompts,
  });
  void server.toolActions.add({
    test_trigger_tool_change: createTool({
      id: 'test_trigger_tool_change',
      description: 'Announces that the tools changed',
      execute: async () => {
        await server.toolActions.notifyListChanged();
        return 'Announced.';
      },
    }),
    test_trigger_prompt_change: createTool({
      id: 'test_trigger_prompt_change',
      description: 'Announces that the prompts changed',
      execute: async () => {
        await server.prompts.notifyListChanged();
        return 'Announced.';
      },
    }),
  });
  return server;
}
