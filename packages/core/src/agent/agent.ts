import { QuiverError, toErrorMessage } from '../errors.js';
import { explainModelError } from '../llm/model-provider.js';
import { resolveLanguageModel, type LanguageModel } from '../llm/index.js';
import { withInputSchema, withRequestContext, type AnyRequestContext } from '../tools/index.js';

/** Tools from any library, by the name that the model uses in calls. */
export type AgentTools = Record<string, object>;

/** The part of the `ai` package that an agent uses. Every supported major has it. */
export interface AiSdk {
  // oxlint-disable-next-line typescript/no-explicit-any -- typed differently in each AI SDK major
  generateText(options: any): PromiseLike<any>;
  // oxlint-disable-next-line typescript/no-explicit-any -- typed differently in each AI SDK major
  streamText(options: any): any;
}

/** Options of {@link Agent}. */
export interface AgentOptions {
  /** Default: the name. */
  id?: string;
  /** Default: the id. */
  name?: string;
  /** Purpose of the agent. `MCPServer` requires it to offer the agent as a tool. */
  description?: string;
  /** The system prompt. */
  instructions?: string;
  /** A model string such as `openai/gpt-5.1`, or any model of the AI SDK. */
  model?: string | LanguageModel;
  tools?: AgentTools;
  /** Maximum number of model calls in a run. Default 20. */
  maxSteps?: number;
  /** The AI SDK to run on. Default: the installed `ai`, of version 5, 6 or 7. */
  ai?: AiSdk;
}

/** Options of one call of an {@link Agent}. */
export interface AgentCallOptions {
  /** Additional tools for this call, by source: `await mcp.listToolsets()`. */
  toolsets?: Record<string, AgentTools>;
  /** Request context that every called tool receives. */
  requestContext?: AnyRequestContext | undefined;
  /** Name of `requestContext` in the v0 API. */
  runtimeContext?: AnyRequestContext | undefined;
  abortSignal?: AbortSignal | undefined;
  /** Overrides the value of the agent. */
  maxSteps?: number;
  /** All other settings are passed to `generateText` or `streamText` unchanged: `temperature`, `onStepFinish`, `toolChoice`, … */
  [setting: string]: unknown;
}

/** A prompt, or a conversation as messages of the AI SDK. */
export type AgentPrompt = string | readonly object[];

/** One model call of a run, as far as all AI SDK majors agree. */
export interface AgentStep {
  readonly text: string;
  readonly finishReason: string;
  readonly toolCalls: readonly AgentToolCall[];
  readonly toolResults: readonly AgentToolResult[];
}

/** A tool call that the model made. */
export interface AgentToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

/** A tool call with its output. */
export interface AgentToolResult extends AgentToolCall {
  readonly output: unknown;
}

/** Tokens that the provider counted; `undefined` where it reports none. */
export interface AgentUsage {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly totalTokens: number | undefined;
}

/** Result of `agent.generate`: the members that the results of all AI SDK majors share. */
export interface AgentResult extends AgentStep {
  readonly steps: readonly AgentStep[];
  /** Usage of the last step. */
  readonly usage: AgentUsage;
  /** Usage of all steps. */
  readonly totalUsage: AgentUsage;
  /** The new messages of the conversation. */
  readonly response: { readonly messages: readonly object[] };
}

type Promised<Result> = { readonly [Key in keyof Result]: PromiseLike<Result[Key]> };

/** Result of `agent.stream`: the members that the results of all AI SDK majors share. */
export interface AgentStream extends Promised<AgentResult> {
  readonly textStream: AsyncIterable<string>;
  readonly fullStream: AsyncIterable<{ readonly type: string }>;
}

const defaultMaxSteps = 20;

/**
 * A model with instructions and tools. `generate` and `stream` call `generateText` and `streamText` of the AI SDK, which run the
 * tool loop.
 *
 * @throws `AGENT_OPTIONS_INVALID` without `id` and `name`
 * @example
 * const agent = new Agent({ id: 'helper', instructions: 'Be brief.', model: 'openai/gpt-5.1', tools: { weather } });
 * const { text } = await agent.generate('How warm is Oslo?');
 */
export class Agent {
  readonly id: string;
  readonly name: string;
  readonly description: string | undefined;
  readonly #options: AgentOptions;

  constructor(options: AgentOptions) {
    const { id, name } = options;
    if (!id && !name) throw new QuiverError('AGENT_OPTIONS_INVALID', 'An agent needs an id or a name.');
    this.id = (id || name) as string;
    this.name = (name || id) as string;
    this.description = options.description;
    this.#options = options;
  }

  getDescription(): string {
    return this.description ?? '';
  }

  /**
   * Sends a prompt to the model and runs the tools that the model calls.
   *
   * @throws `AGENT_MODEL_MISSING`, `AGENT_SDK_MISSING`, `AGENT_TOOLS_COLLIDE`, the errors of `resolveLanguageModel`, and the errors of the AI SDK
   */
  async generate(prompt: AgentPrompt, options: AgentCallOptions = {}): Promise<AgentResult> {
    const { sdk, settings, model } = await this.#prepare(prompt, options);
    try {
      return (await sdk.generateText(settings)) as AgentResult;
    } catch (error) {
      throw explainModelError(error, model);
    }
  }

  /**
   * Like {@link Agent.generate}, but streams the result. Errors of the model arrive in the stream, as the AI SDK defines.
   */
  async stream(prompt: AgentPrompt, options: AgentCallOptions = {}): Promise<AgentStream> {
    const { sdk, settings } = await this.#prepare(prompt, options);
    return sdk.streamText(settings) as AgentStream;
  }

  async #prepare(prompt: AgentPrompt, options: AgentCallOptions) {
    const { toolsets, requestContext, runtimeContext, maxSteps = this.#options.maxSteps, ...rest } = options;
    const { model, instructions, tools = {}, ai } = this.#options;
    if (!model) {
      throw new QuiverError(
        'AGENT_MODEL_MISSING',
        `The agent '${this.id}' has no model. Give it one: model: 'openai/gpt-5.1'.`,
      );
    }
    const context = requestContext ?? runtimeContext;
    const allTools = mergeTools(tools, toolsets);
    const sdk = ai ?? (await loadAiSdk());
    const settings = {
      model: await resolveLanguageModel(model),
      ...(instructions !== undefined && { system: instructions }),
      ...(typeof prompt === 'string' ? { prompt } : { messages: [...prompt] }),
      tools: context ? withRequestContext(allTools, context) : allTools,
      stopWhen: ({ steps }: { steps: readonly unknown[] }) => steps.length >= (maxSteps ?? defaultMaxSteps),
      ...rest,
    };
    return { sdk, settings, model: typeof model === 'string' ? model : `${model.provider}/${model.modelId}` };
  }
}

/** Prefixes a duplicate tool name with the name of its toolset, so that no tool replaces another. */
function mergeTools(tools: AgentTools, toolsets: Record<string, AgentTools> = {}): AgentTools {
  const merged = new Map(Object.entries(tools).map(([name, tool]) => [name, withInputSchema(tool)]));
  for (const [source, set] of Object.entries(toolsets)) {
    for (const [name, given] of Object.entries(set)) {
      const tool = withInputSchema(given);
      if (merged.get(name) === tool) continue;
      const freeName = merged.has(name) ? `${source}_${name}` : name;
      if (merged.has(freeName)) {
        throw new QuiverError(
          'AGENT_TOOLS_COLLIDE',
          `The tool '${name}' of the toolset '${source}' cannot be added: '${name}' and '${freeName}' are taken.`,
        );
      }
      merged.set(freeName, tool);
    }
  }
  return Object.fromEntries(merged);
}

async function loadAiSdk(): Promise<AiSdk> {
  try {
    return await import('ai');
  } catch (error) {
    throw new QuiverError(
      'AGENT_SDK_MISSING',
      `Agents run on the AI SDK: npm install ai (version 5, 6 or 7; ${toErrorMessage(error)})`,
      { cause: error },
    );
  }
}
