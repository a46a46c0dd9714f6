import * as ai5 from 'ai-v5';
import { MockLanguageModelV2 } from 'ai-v5/test';
import * as ai6 from 'ai-v6';
import { MockLanguageModelV3 } from 'ai-v6/test';
import * as ai7 from 'ai-v7';
import { MockLanguageModelV4 } from 'ai-v7/test';

/** One step of a scripted model: a tool call or text. */
export type ScriptedStep = { call: string; input: unknown; toolCallId?: string } | { say: string };

/** A part of a prompt or of a result, as far as the tests look at it. */
export interface Part {
  type: string;
  toolCallId?: string;
  toolName?: string;
  input?: unknown;
  output?: { type: string; value: unknown };
  approvalId?: string;
  approved?: boolean;
  preliminary?: boolean;
}

export interface Message {
  role: string;
  content: string | Part[];
}

/** The prompts a scripted model has received, oldest first, and the tools it was offered. */
export interface ModelCall {
  prompt: Message[];
  tools?: { name: string; description?: string; inputSchema: unknown }[];
}

export interface RunResult {
  text: string;
  messages: Message[];
  /** All parts of all steps. */
  content: Part[];
}

/** One major of the AI SDK behind one face: the same script runs in all of them. */
export interface Major {
  version: 5 | 6 | 7;
  sdk: object;
  createModel(steps: ScriptedStep[]): { model: unknown; calls: () => ModelCall[] };
  generate(options: Record<string, unknown>): Promise<RunResult>;
  stream(options: Record<string, unknown>): Promise<RunResult>;
  /** Runs the agent class of this major. */
  agent(settings: Record<string, unknown>, call: Record<string, unknown>): Promise<RunResult>;
}

interface MockModel {
  doGenerateCalls: unknown[];
  doStreamCalls: unknown[];
}

type MockClass = new (options: { doGenerate: () => Promise<never>; doStream: () => Promise<never> }) => MockModel;

const flat = {
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  finishReason: (reason: string): unknown => reason,
};
const structured = {
  usage: {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  },
  finishReason: (unified: string): unknown => ({ unified, raw: unified }),
};

function createModelFactory(Mock: MockClass, { usage, finishReason }: typeof flat | typeof structured) {
  return (steps: ScriptedStep[]) => {
    let next = 0;
    const takeStep = (): { step: ScriptedStep; toolCallId: string } => {
      const step = steps[next];
      if (!step) throw new Error('the script of the model has ended');
      next += 1;
      return { step, toolCallId: ('toolCallId' in step && step.toolCallId) || `call-${next}` };
    };
    const model = new Mock({
      doGenerate: async () => {
        const { step, toolCallId } = takeStep();
        const content =
          'say' in step
            ? { type: 'text', text: step.say }
            : { type: 'tool-call', toolCallId, toolName: step.call, input: JSON.stringify(step.input) };
        const reason = finishReason('say' in step ? 'stop' : 'tool-calls');
        // The shape is that of this major's specification, which differs from one to the next.
        return { content: [content], finishReason: reason, usage, warnings: [] } as never;
      },
      doStream: async () => {
        const { step, toolCallId: id } = takeStep();
        const parts: object[] = [{ type: 'stream-start', warnings: [] }];
        if ('say' in step) {
          parts.push({ type: 'text-start', id }, { type: 'text-delta', id, delta: step.say }, { type: 'text-end', id });
        } else {
          const input = JSON.stringify(step.input);
          const half = Math.ceil(input.length / 2);
          parts.push(
            { type: 'tool-input-start', id, toolName: step.call },
            { type: 'tool-input-delta', id, delta: input.slice(0, half) },
            { type: 'tool-input-delta', id, delta: input.slice(half) },
            { type: 'tool-input-end', id },
            { type: 'tool-call', toolCallId: id, toolName: step.call, input },
          );
        }
        parts.push({ type: 'finish', finishReason: finishReason('say' in step ? 'stop' : 'tool-calls'), usage });
        const stream = new ReadableStream({
          start(controller) {
            for (const part of parts) controller.enqueue(part);
            controller.close();
          },
        });
        return { stream } as never;
      },
    });
    return { model, calls: () => [...model.doGenerateCalls, ...model.doStreamCalls] as ModelCall[] };
  };
}

interface SdkResult {
  text: PromiseLike<string> | string;
  steps: PromiseLike<SdkStep[]> | SdkStep[];
  response: PromiseLike<{ messages: Message[] }> | { messages: Message[] };
  fullStream?: AsyncIterable<Part>;
}

interface SdkStep {
  content: Part[];
}

async function collect(pending: unknown): Promise<RunResult> {
  const result = (await pending) as SdkResult;
  const streamed: Part[] = [];
  if (result.fullStream) for await (const part of result.fullStream) streamed.push(part);
  const failure = streamed.find((part) => part.type === 'error') as { error?: Error } | undefined;
  if (failure?.error) throw failure.error;
  const steps = await result.steps;
  return {
    text: await result.text,
    messages: (await result.response).messages,
    content: streamed.length > 0 ? streamed : steps.flatMap((step) => step.content),
  };
}

type Run = (options: never) => unknown;
type AgentClass = new (settings: never) => { generate: (call: never) => unknown };

function createMajor(
  version: Major['version'],
  sdk: { generateText: Run; streamText: Run },
  Agent: AgentClass,
  createModel: Major['createModel'],
): Major {
  const stopWhen = ({ steps }: { steps: unknown[] }): boolean => steps.length >= 5;
  return {
    version,
    sdk,
    createModel,
    generate: (options) => collect(sdk.generateText({ stopWhen, ...options } as never)),
    stream: (options) => collect(sdk.streamText({ stopWhen, onError: () => {}, ...options } as never)),
    agent: (settings, call) => collect(new Agent({ stopWhen, ...settings } as never).generate(call as never)),
  };
}

/** The three majors side by side. */
export const majors: Major[] = [
  createMajor(5, ai5, ai5.Experimental_Agent, createModelFactory(MockLanguageModelV2 as unknown as MockClass, flat)),
  createMajor(6, ai6, ai6.ToolLoopAgent, createModelFactory(MockLanguageModelV3 as unknown as MockClass, structured)),
  createMajor(7, ai7, ai7.ToolLoopAgent, createModelFactory(MockLanguageModelV4 as unknown as MockClass, structured)),
];

/** Returns the tool results in the last request to the model. */
export function toolResultsSeenBy(calls: ModelCall[]): { type: string; value: unknown }[] {
  const last = calls.at(-1)?.prompt ?? [];
  return last
    .filter((message) => message.role === 'tool')
    .flatMap((message) => message.content as Part[])
    .flatMap((part) => (part.type === 'tool-result' && part.output ? [part.output] : []));
}

/** Each way to run tools in each version. */
export const drives = majors.flatMap((major) => [
  { name: `AI SDK ${major.version}, generateText`, major, mode: 'generate' as const },
  { name: `AI SDK ${major.version}, streamText`, major, mode: 'stream' as const },
]);
