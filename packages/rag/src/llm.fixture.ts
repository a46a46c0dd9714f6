import { MockLanguageModelV4 } from 'ai/test';

/** A language model that answers with the text that is made of its prompt, as JSON. */
export const modelThatSays = (answer: (prompt: string) => string): MockLanguageModelV4 =>
  new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => ({
      content: [{ type: 'text', text: answer(JSON.stringify(prompt)) }],
      finishReason: { unified: 'stop', raw: 'stop' },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      },
      warnings: [],
    }),
  });
