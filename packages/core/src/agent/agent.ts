import { QuiverError, toErrorMessage } from '../errors.js';
import { explainModelError } from '../llm/model-provider.js';
import { resolveLanguageModel, type LanguageModel } from '../llm/index.js';
import {
  anyValue,
  unchecked,
  checkOptions,
  ignoredOptions,
  valueThat,
  type OptionChecks,
  invalidOptions,
} from '../options.js';
import { RequestContext } from '../request-context/index.js';
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

/** The system prompt: a text, or texts that are joined by blank lines. */
export type AgentInstructions = string | readonly string[];

/** Options of {@link Agent}. */
export interface AgentOptions {
  /** Default: the name. */
  id?: string;
  /** Default: the id. */
  name?: string;
  /** Purpose of the agent. `MCPServer` requires it to offer the agent as a tool. */
  description?: string;
  /** The system prompt, or a function that returns it for each call. `requestContext` is empty when the caller passed none. */
  instructions?:
    | AgentInstructions
    | ((context: { requestContext: AnyRequestContext }) => AgentInstructions | PromiseLike<AgentInstructions>);
  /** A model string such as `openai/gpt-5.1`, or any model of the AI SDK. */
  model?: string | LanguageModel;
  /** Tools by name. Default none. */
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
  /** Aborts the run, and the tool call in flight. */
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

// `NaN` would let a model run without end.
const maxSteps = valueThat((value) => typeof value === 'number' && value >= 1, 'a number of at least 1');

function isInstructions(value: unknown): boolean {
  return typeof value === 'string' || (Array.isArray(value) && value.every((text) => typeof text === 'string'));
}

const resolvedInstructions = valueThat(isInstructions, 'a text or a list of texts');

const noMemory = 'agents have no memory. Pass the conversation as messages.';
const noProcessors = 'agents have no processors. Check the prompt before the call and the text after it.';
const noTeams =
  'an agent runs tools only. Offer another agent or a workflow as a tool, with askAgent() or runWorkflow().';
const callOptions = 'pass these options with each call of generate() or stream().';
const perCall = 'the AI SDK takes it with each call of generate() or stream().';

const checks: OptionChecks<AgentOptions> = {
  ...unchecked<AgentOptions>()('id', 'name', 'description'),
  instructions: valueThat(
    (value) => typeof value === 'function' || isInstructions(value),
    'a text, a list of texts, or a function that returns one of these',
  ),
  ...unchecked<AgentOptions>()('model', 'tools'),
  maxSteps,
  ai: anyValue,
  // Options of Mastra's agents.
  ...ignoredOptions({
    agents: noTeams,
    workflows: noTeams,
    memory: noMemory,
    inputProcessors: noProcessors,
    outputProcessors: noProcessors,
    errorProcessors: noProcessors,
    maxProcessorRetries: noProcessors,
    maxRetries: perCall,
    defaultOptions: callOptions,
    defaultGenerateOptions: callOptions,
    defaultStreamOptions: callOptions,
    defaultVNextStreamOptions: callOptions,
    defaultGenerateOptionsLegacy: callOptions,
    defaultStreamOptionsLegacy: callOptions,
    defaultNetworkOptions: 'agents have no network().',
    requestContextSchema: 'the context of agents is not checked. Tools check it with their requestContextSchema.',
    mastra: 'agents belong to no Mastra instance.',
    scorers: 'agents have no scorers. Score the result of generate().',
    evals: 'agents have no evals. Score the result of generate().',
    voice: 'agents have no voice.',
    metadata: 'agents carry no metadata.',
    rawConfig: 'agents carry no configuration of an editor.',
  }),
};

const callChecks: OptionChecks<AgentCallOptions> = {
  ...unchecked<AgentCallOptions>()('toolsets', 'requestContext', 'runtimeContext', 'abortSignal'),
  maxSteps,
  // Ignored, it would let tools run that the caller wants to approve.
  requireToolApproval: (value, option) =>
    value === false ? undefined : `'${option}' is not supported. Set requireApproval of the tools.`,
  // Options of Mastra's `generate` and `stream` that the AI SDK would ignore.
  ...ignoredOptions({
    memory: noMemory,
    resourceId: noMemory,
    threadId: noMemory,
    context: 'the AI SDK has no such option. Pass a list of messages as the prompt.',
    clientTools: 'pass them under toolsets, as tools without execute.',
    modelSettings: 'pass temperature, maxOutputTokens and so on directly.',
    structuredOutput: 'the AI SDK names it output (6, 7) or experimental_output (5).',
    inputProcessors: noProcessors,
    outputProcessors: noProcessors,
    scorers: 'agents have no scorers. Score the result of generate().',
    savePerStep: noMemory,
  }),
};

/**
 * A model with instructions and tools. `generate` and `stream` call `generateText` and `streamText` of the AI SDK, which run the
 * tool loop.
 *
 * @throws `OPTIONS_INVALID` without `id` and `name`, and for an unknown or invalid option
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
    checkOptions('Agent', options, checks);
    const { id, name } = options;
    if (!id && !name) throw invalidOptions('An agent needs an id or a name.');
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
   * @throws `OPTIONS_INVALID`, also when the function `instructions` returns neither a text nor a list of texts; `AGENT_MODEL_MISSING`,
   *   `AGENT_SDK_MISSING`, `AGENT_TOOLS_COLLIDE`, the errors of that function, of `resolveLanguageModel`, and of the AI SDK
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
    checkOptions('agent.generate', options, callChecks, { isOpen: true });
    const { toolsets, requestContext, runtimeContext, maxSteps: limit = this.#options.maxSteps, ...rest } = options;
    const { model, tools = {}, ai } = this.#options;
    if (!model) {
      throw new QuiverError(
        'AGENT_MODEL_MISSING',
        `The agent '${this.id}' has no model. Give it one: model: 'openai/gpt-5.1'.`,
      );
    }
    const context = requestContext ?? runtimeContext;
    const allTools = mergeTools(tools, toolsets);
    const sdk = ai ?? (await loadAiSdk());
    const system = await this.#resolveInstructions(context);
    const settings = {
      model: await resolveLanguageModel(model),
      ...(system !== undefined && { system }),
      ...(typeof prompt === 'string' ? { prompt } : { messages: [...prompt] }),
      tools: context ? withRequestContext(allTools, context) : allTools,
      stopWhen: ({ steps }: { steps: readonly unknown[] }) => steps.length >= (limit ?? defaultMaxSteps),
      ...rest,
    };
    return { sdk, settings, model: typeof model === 'string' ? model : `${model.provider}/${model.modelId}` };
  }

  async #resolveInstructions(requestContext: AnyRequestContext = new RequestContext()): Promise<string | undefined> {
    const { instructions } = this.#options;
    if (instructions === undefined) return undefined;
    const given: unknown = typeof instructions === 'function' ? await instructions({ requestContext }) : instructions;
    const problem = resolvedInstructions(given, 'instructions()');
    if (problem !== undefined) throw invalidOptions(`Agent '${this.id}': ${problem}`);
    return typeof given === 'string' ? given : (given as readonly string[]).join('\n\n');
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
