import { generateText, stepCountIs, type ToolSet } from 'ai-v7';
import { MockLanguageModelV4 } from 'ai-v7/test';

/** Lets a model of AI SDK 7 call a tool. Returns the output of the tool, and the result that the model receives. */
export async function callByModel(
  tools: ToolSet,
  toolName: string,
  input: object = {},
): Promise<{ output: unknown; shown: { type: string; value: never } }> {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const answer = (unified: string, part: object): object => ({
    content: [part],
    finishReason: { unified, raw: unified },
    usage,
    warnings: [],
  });
  const call = { type: 'tool-call', toolCallId: 'c1', toolName, input: JSON.stringify(input) };
  const answers = [answer('tool-calls', call), answer('stop', { type: 'text', text: 'done' })];
  const model = new MockLanguageModelV4({ doGenerate: answers as never });
  const { steps } = await generateText({ model, tools, prompt: 'go', stopWhen: stepCountIs(2) });
  const results: unknown = model.doGenerateCalls[1]?.prompt.at(-1)?.content;
  const [received] = results as { output: { type: string; value: never } }[];
  if (!received) throw new Error('the model received no result');
  return { output: steps[0]?.toolResults[0]?.output, shown: received.output };
}
