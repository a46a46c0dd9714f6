// The built tools in every major of the AI SDK, on the Node that runs npm.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTool } from '@quiver/core/tools';
import * as v5 from 'ai-v5';
import { MockLanguageModelV2 } from 'ai-v5/test';
import * as v6 from 'ai-v6';
import { MockLanguageModelV3 } from 'ai-v6/test';
import * as v7 from 'ai-v7';
import { MockLanguageModelV4 } from 'ai-v7/test';
import { z } from 'zod';

const counts = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const reason = (name) => ({ unified: name, raw: name });
const majors = [
  {
    sdk: v5,
    Model: MockLanguageModelV2,
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    reason: (name) => name,
  },
  { sdk: v6, Model: MockLanguageModelV3, usage: counts, reason },
  { sdk: v7, Model: MockLanguageModelV4, usage: counts, reason },
];

majors.forEach(({ sdk, Model, usage, reason: finish }, index) => {
  test(`generateText of AI SDK ${index + 5} runs a tool once, with its hooks, and reads its output`, async () => {
    const hooks = [];
    const double = createTool({
      id: 'double',
      description: 'Doubles a number',
      inputSchema: z.object({ text: z.string().transform(Number) }),
      outputSchema: z.object({ result: z.number() }),
      onInputAvailable: ({ input }) => void hooks.push(['input', input]),
      onOutput: ({ output }) => void hooks.push(['output', output]),
      execute: async ({ text }) => ({ result: text * 2 }),
    });
    const model = new Model({
      doGenerate: async ({ prompt }) => {
        const last = prompt.at(-1);
        const content =
          last.role === 'tool'
            ? [{ type: 'text', text: JSON.stringify(last.content[0].output) }]
            : [{ type: 'tool-call', toolCallId: '1', toolName: 'double', input: '{"text":"21"}' }];
        return { content, finishReason: finish(last.role === 'tool' ? 'stop' : 'tool-calls'), usage, warnings: [] };
      },
    });
    const { text } = await sdk.generateText({ model, tools: { double }, stopWhen: sdk.stepCountIs(3), prompt: 'go' });
    assert.deepEqual(JSON.parse(text), { type: 'json', value: { result: 42 } });
    assert.deepEqual(hooks, [
      ['input', { text: 21 }],
      ['output', { result: 42 }],
    ]);
  });
});
