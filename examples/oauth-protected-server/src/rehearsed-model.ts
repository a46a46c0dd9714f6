import { MockLanguageModelV4 } from 'ai/test';

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A model that needs no account: it calls the tool that a message names, and repeats the result. */
export const rehearsedModel: MockLanguageModelV4 = new MockLanguageModelV4({
  doGenerate: async ({ prompt }) => {
    const { role, content } = prompt.at(-1) ?? {};
    const [part] = content as { text?: string; output?: { value: unknown } }[];
    if (role === 'tool') {
      const text = JSON.stringify(part?.output?.value);
      return { content: [{ type: 'text', text }], finishReason: { unified: 'stop', raw: 'stop' }, usage, warnings: [] };
    }
    const call = { type: 'tool-call', toolCallId: '1', toolName: part?.text ?? '', input: '{}' } as const;
    return { content: [call], finishReason: { unified: 'tool-calls', raw: 'tool_calls' }, usage, warnings: [] };
  },
});
