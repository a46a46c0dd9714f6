import { setTimeout as delay } from 'node:timers/promises';
import { createTool } from '@quiver/core/tools';
import type { ToolsInput } from '@quiver/mcp/server';
import { png, wav } from './samples.ts';
import jsonSchema2020 from './json-schema-2020-12.json' with { type: 'json' };

const pause = 50;

/** Tools that return content, fail, log and report progress. */
export const contentTools: ToolsInput = {
  test_simple_text: createTool({
    id: 'test_simple_text',
    description: 'Returns text',
    execute: async () => 'This is a simple text response for testing.',
  }),
  test_image_content: createTool({
    id: 'test_image_content',
    description: 'Returns an image',
    execute: async () => ({ content: [{ type: 'image', data: png, mimeType: 'image/png' }] }),
  }),
  test_audio_content: createTool({
    id: 'test_audio_content',
    description: 'Returns a sound',
    execute: async () => ({ content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }] }),
  }),
  test_embedded_resource: createTool({
    id: 'test_embedded_resource',
    description: 'Returns a resource',
    execute: async () => ({
      content: [
        {
          type: 'resource',
          resource: {
            uri: 'test://embedded-resource',
            mimeType: 'text/plain',
            text: 'This is an embedded resource content.',
          },
        },
      ],
    }),
  }),
  test_multiple_content_types: createTool({
    id: 'test_multiple_content_types',
    description: 'Returns text, an image and a resource',
    execute: async () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        { type: 'image', data: png, mimeType: 'image/png' },
        {
          type: 'resource',
          resource: {
            uri: 'test://mixed-content-resource',
            mimeType: 'application/json',
            text: JSON.stringify({ test: 'data', value: 123 }),
          },
        },
      ],
    }),
  }),
  test_error_handling: createTool({
    id: 'test_error_handling',
    description: 'Fails',
    execute: async () => {
      throw new Error('This tool intentionally returns an error for testing');
    },
  }),
  test_tool_with_logging: createTool({
    id: 'test_tool_with_logging',
    description: 'Logs three times',
    execute: async (_input, { mcp }) => {
      await mcp.log('info', 'Tool execution started');
      await delay(pause);
      await mcp.log('info', 'Tool processing data');
      await delay(pause);
      await mcp.log('info', 'Tool execution completed');
      return 'Logged three times.';
    },
  }),
  test_logging_tool: createTool({
    id: 'test_logging_tool',
    description: 'Logs once',
    execute: async (_input, { mcp }) => {
      await mcp.log('info', 'Log message of the tool');
      return 'Logged once.';
    },
  }),
  test_tool_with_progress: createTool({
    id: 'test_tool_with_progress',
    description: 'Reports progress',
    execute: async (_input, { mcp }) => {
      for (const progress of [0, 50, 100]) {
        await mcp.progress({ progress, total: 100 });
        await delay(pause);
      }
      return 'Done.';
    },
  }),
  test_reconnection: createTool({
    id: 'test_reconnection',
    description: 'Closes its stream and answers later',
    execute: async (_input, { mcp }) => {
      mcp.extra?.closeSSEStream?.();
      await delay(2 * pause);
      return 'Answered after the stream was closed.';
    },
  }),
  test_x_mcp_header: createTool({
    id: 'test_x_mcp_header',
    description: 'Has an argument that clients repeat in a header',
    inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
    execute: async ({ region }) => `Region: ${region ?? 'none'}`,
  }),
  json_schema_2020_12_tool: createTool({
    id: 'json_schema_2020_12_tool',
    description: 'Has an input schema with keywords of JSON Schema 2020-12',
    inputSchema: jsonSchema2020,
    execute: async (input) => `Received: ${JSON.stringify(input)}`,
  }),
};
