import { setTimeout } from 'node:timers/promises';
import { createTool } from '@quiver/core/tools';
import type { ToolsInput } from '@quiver/mcp/server';
import { formOf } from './input-required-tools.ts';

/** Tools for the scenarios of the tasks extension. */
export const taskTools: ToolsInput = {
  greet: createTool({
    id: 'greet',
    description: 'Greets somebody',
    inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    execute: async ({ name }) => `Hello, ${name}!`,
  }),
  slow_compute: createTool({
    id: 'slow_compute',
    description: 'Computes for some seconds',
    inputSchema: {
      type: 'object',
      properties: { seconds: { type: 'number' }, label: { type: 'string' } },
      required: ['seconds'],
    },
    mcp: { task: 'optional' },
    execute: async ({ seconds, label }, { abortSignal, mcp }) => {
      await mcp.progress({ progress: 0, message: `computing ${label}` });
      await setTimeout(seconds * 1000, undefined, { ...(abortSignal && { signal: abortSignal }) });
      return `Computed ${label} for ${seconds} s.`;
    },
  }),
  failing_job: createTool({
    id: 'failing_job',
    description: 'Fails after a second',
    mcp: { task: 'required' },
    execute: async () => {
      await setTimeout(1000);
      throw new Error('The job failed.');
    },
  }),
  protocol_error_job: createTool({
    id: 'protocol_error_job',
    description: 'Returns a result that is longer than the server stores',
    mcp: { task: 'required' },
    execute: async () => {
      await setTimeout(100);
      return 'x'.repeat(5_000_000);
    },
  }),
  confirm_delete: createTool({
    id: 'confirm_delete',
    description: 'Deletes a file that the user confirms',
    inputSchema: { type: 'object', properties: { filename: { type: 'string' } }, required: ['filename'] },
    mcp: { task: 'optional' },
    execute: async ({ filename }, { mcp }) => {
      const { action, content } = await mcp.elicitation.sendRequest({
        message: `Delete ${filename}?`,
        requestedSchema: formOf('confirm', 'boolean'),
      });
      return action === 'accept' && content.confirm ? `Deleted ${filename}.` : `Kept ${filename}.`;
    },
  }),
  multi_input: createTool({
    id: 'multi_input',
    description: 'Asks two questions at once',
    mcp: { task: 'optional' },
    execute: async (_input, { mcp }) => {
      const [name, confirm] = await Promise.all([
        mcp.elicitation.sendRequest({ message: 'What is your name?', requestedSchema: formOf('name') }),
        mcp.elicitation.sendRequest({ message: 'Go on?', requestedSchema: formOf('confirm', 'boolean') }),
      ]);
      return JSON.stringify([name.content, confirm.content]);
    },
  }),
  test_tool_with_task: createTool({
    id: 'test_tool_with_task',
    description: 'Asks for a name, then works for a while',
    mcp: { task: { mode: 'required', after: 500 } },
    execute: async (_input, { mcp }) => {
      const { content } = await mcp.elicitation.sendRequest(
        { message: 'What is your name?', requestedSchema: formOf('name') },
        { key: 'user_name' },
      );
      await setTimeout(1000);
      return `Hello, ${content?.name}!`;
    },
  }),
};
