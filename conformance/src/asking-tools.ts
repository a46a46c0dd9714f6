import { createTool, type ElicitRequest } from '@quiver/core/tools';
import type { ToolsInput } from '@quiver/mcp/server';

const options = ['option1', 'option2', 'option3'];
const titled = (...titles: string[]): object[] => titles.map((title, index) => ({ const: `value${index + 1}`, title }));

const defaultsForm: ElicitRequest['requestedSchema'] = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
};

const enumsForm: ElicitRequest['requestedSchema'] = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: options },
    titledSingle: { type: 'string', oneOf: titled('First Option', 'Second Option', 'Third Option') },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
    titledMulti: { type: 'array', items: { anyOf: titled('First Choice', 'Second Choice', 'Third Choice') } },
  },
};

const showForm = (id: string, requestedSchema: ElicitRequest['requestedSchema']): ToolsInput[string] =>
  createTool({
    id,
    description: 'Shows a form',
    execute: async (_input, { mcp }) => {
      const { action, content } = await mcp.elicitation.sendRequest({ message: 'Please fill in', requestedSchema });
      return `Elicitation completed: action=${action}, content=${JSON.stringify(content)}`;
    },
  });

/** Tools that send requests to the client, for the scenarios of clients with a session. */
export const askingTools: ToolsInput = {
  test_sampling: createTool({
    id: 'test_sampling',
    description: "Asks the client's model",
    inputSchema: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
    execute: async ({ prompt }, { mcp }) => {
      const messages = [{ role: 'user' as const, content: { type: 'text', text: String(prompt) } }];
      const { text } = await mcp.sample({ messages, maxTokens: 100 });
      return `LLM response: ${text}`;
    },
  }),
  test_elicitation: createTool({
    id: 'test_elicitation',
    description: 'Asks the user',
    inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    execute: async ({ message }, { mcp }) => {
      const answer = await mcp.elicitation.sendRequest({
        message: String(message),
        requestedSchema: {
          type: 'object',
          properties: { username: { type: 'string' }, email: { type: 'string' } },
          required: ['username', 'email'],
        },
      });
      return `User response: ${JSON.stringify(answer)}`;
    },
  }),
  test_elicitation_sep1034_defaults: showForm('test_elicitation_sep1034_defaults', defaultsForm),
  test_elicitation_sep1330_enums: showForm('test_elicitation_sep1330_enums', enumsForm),
};
