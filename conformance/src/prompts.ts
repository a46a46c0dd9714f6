import type { MCPServerPrompts, PromptMessage } from '@quiver/mcp/server';
import { formOf } from './input-required-tools.ts';
import { png } from './samples.ts';

const fromUser = (content: PromptMessage['content']): PromptMessage => ({ role: 'user', content });
const text = (words: string): PromptMessage => fromUser({ type: 'text', text: words });

/** Prompts with every kind of content, and one that requests input first. */
export const prompts: MCPServerPrompts = {
  listPrompts: async () => [
    { name: 'test_simple_prompt', description: 'A prompt without arguments' },
    {
      name: 'test_prompt_with_arguments',
      description: 'A prompt with two arguments',
      arguments: [
        { name: 'arg1', description: 'The first', required: true },
        { name: 'arg2', description: 'The second', required: true },
      ],
    },
    {
      name: 'test_prompt_with_embedded_resource',
      description: 'A prompt with a resource',
      arguments: [{ name: 'resourceUri', description: 'The resource', required: true }],
    },
    { name: 'test_prompt_with_image', description: 'A prompt with an image' },
    { name: 'test_input_required_result_prompt', description: 'A prompt that asks for its context' },
  ],
  getPromptMessages: async ({ name, args, mcp }) => {
    switch (name) {
      case 'test_simple_prompt':
        return [text('This is a simple prompt for testing.')];
      case 'test_prompt_with_arguments':
        return [text(`Prompt with arguments: arg1='${args.arg1}', arg2='${args.arg2}'`)];
      case 'test_prompt_with_embedded_resource':
        return [
          fromUser({
            type: 'resource',
            resource: {
              uri: args.resourceUri,
              mimeType: 'text/plain',
              text: 'Embedded resource content for testing.',
            },
          }),
          text('Please process the embedded resource above.'),
        ];
      case 'test_prompt_with_image':
        return [fromUser({ type: 'image', data: png, mimeType: 'image/png' }), text('Please analyze the image above.')];
      default: {
        const { content } = await mcp.elicitation.sendRequest(
          { message: 'What context should the prompt use?', requestedSchema: formOf('context') },
          { key: 'user_context' },
        );
        return [text(`Use this context: ${content?.context}`)];
      }
    }
  },
  completeArgument: async ({ value }) => ['paris', 'park', 'party'].filter((word) => word.startsWith(value)),
};
