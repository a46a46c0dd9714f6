import { MockLanguageModelV4 } from 'ai/test';

type Result = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>;

const usage: Result['usage'] = {
  inputTokens: {
    total: 1,
    noCache: 1,
    cacheRead: undefined,
    cacheWrite: undefined,
  },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

/** Plays a model without a key: it asks for the weather in Oslo, and says what it received. */
export const rehearsedModel: MockLanguageModelV4 = new MockLanguageModelV4({
  doGenerate: async ({ prompt }) => {
    const answer = prompt.findLast(({ role }) => role === 'tool');
    if (!answer) {
      const call = {
        type: 'tool-call',
        toolCallId: '1',
        toolName: 'weather_weather',
        input: '{"city":"Oslo"}',
      } as const;
      return {
        content: [call],
        finishReason: { unified: 'tool-calls', raw: undefined },
        usage,
        warnings: [],
      };
    }
    const text = `The tool answered: ${JSON.stringify(answer.content)}`;
    return {
      content: [{ type: 'text', text }],
      finishReason: { unified: 'stop', raw: undefined },
      usage,
      warnings: [],
    };
  },
});
