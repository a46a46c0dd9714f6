import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { expectError } from '../../../../scripts/test-error.ts';
import { majors, toolResultsSeenBy } from '../../test/ai-sdk-majors.js';
import { collectLog, named } from '../../test/tools.js';
import { startOpenAiServer, type OpenAiServer } from '../../test/openai-server.js';
import { resolveLanguageModel, type LanguageModel } from '../llm/index.js';
import { RequestContext } from '../request-context/index.js';
import { createTool } from '../tools/index.js';
import { Agent, type AgentOptions, type AiSdk } from './index.js';

const whoAmI = createTool({
  ...named('who-am-i'),
  inputSchema: z.object({ greeting: z.string() }),
  execute: async ({ greeting }, context) => `${greeting} ${String(context.requestContext.get('user'))}`,
});
const call = { call: 'whoAmI', input: { greeting: 'Hi' } };
const requestContext = new RequestContext([['user', 'Ann']]);

describe.each(majors)('Agent on AI SDK $version', (major) => {
  const ai = major.sdk as AiSdk;
  const createAgent = (steps: Parameters<typeof major.createModel>[0], options: object = {}) => {
    const { model, calls } = major.createModel(steps);
    const agent = new Agent({
      id: 'helper',
      instructions: 'Be brief.',
      model: model as LanguageModel,
      tools: { whoAmI },
      ai,
      ...options,
    });
    return { agent, calls };
  };

  it('generates: instructions, tools with the request context, and the text', async () => {
    const { agent, calls } = createAgent([call, { say: 'You are Ann.' }]);
    const result = await agent.generate('Who am I?', { requestContext });
    expect(result.text).toBe('You are Ann.');
    expect(result.steps).toHaveLength(2);
    expect(result.steps[0]?.toolResults).toMatchObject([{ toolName: 'whoAmI', output: 'Hi Ann' }]);
    expect(toolResultsSeenBy(calls())).toEqual([{ type: 'text', value: 'Hi Ann' }]);
    expect(calls()[0]?.prompt).toMatchObject([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Who am I?' }] },
    ]);
  });

  it.each<[string, AgentOptions['instructions'], string]>([
    ['texts', ['Be brief.', 'Be kind.'], 'Be brief.\n\nBe kind.'],
    ['a function', ({ requestContext: given }) => `Help ${String(given.get('user'))}.`, 'Help Ann.'],
    [
      'an asynchronous function',
      async ({ requestContext: given }) => ['Help', String(given.get('user'))],
      'Help\n\nAnn',
    ],
  ])('sends instructions that are %s as the system prompt', async (_what, instructions, content) => {
    const { agent, calls } = createAgent([{ say: 'ok' }, { say: 'ok' }], { instructions });
    await agent.generate('Hi', { requestContext });
    await (
      await agent.stream('Hi', { runtimeContext: requestContext })
    ).text;
    expect(calls().map(({ prompt }) => prompt[0])).toEqual([
      { role: 'system', content },
      { role: 'system', content },
    ]);
  });

  it('streams', async () => {
    const { agent, calls } = createAgent([call, { say: 'You are Ann.' }]);
    const result = await agent.stream('Who am I?', { runtimeContext: requestContext });
    const pieces: string[] = [];
    for await (const piece of result.textStream) pieces.push(piece);
    expect(pieces.join('')).toBe('You are Ann.');
    expect(await result.text).toBe('You are Ann.');
    expect(toolResultsSeenBy(calls())).toEqual([{ type: 'text', value: 'Hi Ann' }]);
  });

  it('adds toolsets, and renames instead of replacing', async () => {
    const other = createTool({ ...named('other'), execute: async () => 'other' });
    const { agent, calls } = createAgent([{ say: 'ok' }]);
    await agent.generate('Hi', { toolsets: { stocks: { price: other, whoAmI: other }, same: { whoAmI } } });
    expect(calls()[0]?.tools?.map((tool) => tool.name)).toEqual(['whoAmI', 'price', 'stocks_whoAmI']);
  });

  it('validates tools of AI SDK 4 by their parameters', async () => {
    const received: unknown[] = [];
    const older = {
      description: 'x',
      parameters: z.object({ n: z.number() }),
      execute: (n: unknown) => received.push(n),
    };
    const steps = [{ call: 'older', input: { n: 'x' } }, { call: 'older', input: { n: 1 } }, { say: 'ok' }];
    const { agent, calls } = createAgent(steps, { tools: { older } });
    await agent.generate('Hi');
    expect(received).toEqual([{ n: 1 }]);
    expect(calls()[0]?.tools?.[0]).toMatchObject({ inputSchema: { properties: { n: { type: 'number' } } } });
  });

  it('continues a conversation', async () => {
    const { agent, calls } = createAgent([{ say: 'ok' }]);
    await agent.generate([
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Two' },
      { role: 'user', content: 'Three' },
    ]);
    expect(calls()[0]?.prompt.map((message) => message.role)).toEqual(['system', 'user', 'assistant', 'user']);
  });

  it('ends after its steps', async () => {
    const { agent, calls } = createAgent([call, call, call, call], { maxSteps: 2 });
    await agent.generate('Go');
    expect(calls()).toHaveLength(2);
    await agent.generate('Go', { maxSteps: 1 });
    expect(calls()).toHaveLength(3);
  });

  it('passes other settings on', async () => {
    const steps: unknown[] = [];
    const { agent, calls } = createAgent([{ say: 'ok' }]);
    await agent.generate('Go', { temperature: 0.5, onStepFinish: (step: unknown) => steps.push(step) });
    expect(calls()[0]).toMatchObject({ temperature: 0.5 });
    expect(steps).toHaveLength(1);
  });

  it('stops when the signal fires', async () => {
    const { agent } = createAgent([call, { say: 'never' }], {
      tools: { whoAmI: createTool({ ...named('slow'), execute: () => new Promise(() => {}) }) },
    });
    const answer = agent.generate('Go', { abortSignal: AbortSignal.timeout(20), maxRetries: 0 });
    // The AI SDK tells the model about the tool's abort and then, on its next step, gives up itself.
    await expect(answer.then((result) => result.text)).rejects.toThrow(/abort|timeout|script/i);
  });
});

describe('Agent', () => {
  let server: OpenAiServer;
  beforeAll(async () => {
    server = await startOpenAiServer();
  });
  afterAll(() => server.close());

  it('runs on the installed AI SDK, with a real provider', async () => {
    const weather = createTool({
      ...named('weather'),
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => `21 degrees in ${city}`,
    });
    const agent = new Agent({
      id: 'weather-agent',
      model: await resolveLanguageModel('openai/gpt-5.1', { baseURL: server.baseURL, apiKey: 'key' }),
      tools: { weather },
    });
    expect((await agent.generate('How warm is Oslo?')).text).toBe('The tool said 21 degrees in Oslo');
    expect(await (await agent.stream('How warm is Oslo?')).text).toBe('The tool said 21 degrees in Oslo');
  });

  it('takes a model string', async () => {
    vi.stubEnv('OPENAI_API_KEY', undefined);
    const agent = new Agent({ id: 'a', model: 'openai/gpt-5.1' });
    await expectError(agent.generate('Hi'), 'MODEL_KEY_MISSING', /'openai\/gpt-5\.1'.*OPENAI_API_KEY/);
    vi.unstubAllEnvs();
  });

  it('refuses a toolset whose tool has no free name', async () => {
    const other = createTool({ ...named('other'), execute: async () => 1 });
    const agent = new Agent({ id: 'a', model: 'openai/gpt-5.1', tools: { x: whoAmI, s_x: whoAmI } });
    await expectError(agent.generate('Hi', { toolsets: { s: { x: other } } }), 'AGENT_TOOLS_COLLIDE', "'s_x'");
  });

  it('is named by its id or its name', () => {
    expect(new Agent({ id: 'a' })).toMatchObject({ id: 'a', name: 'a' });
    expect(new Agent({ name: 'A', description: 'Does A' })).toMatchObject({
      id: 'A',
      name: 'A',
      description: 'Does A',
    });
    expect(new Agent({ name: 'A', description: 'Does A' }).getDescription()).toBe('Does A');
    expectError(() => new Agent({}), 'OPTIONS_INVALID');
  });

  it.each([
    ['a message', { role: 'system', content: 'x' }, 'not an object'],
    ['a number', 5, 'not 5'],
    ['null', null, 'not null'],
    ['a list with a number', ['x', 5], 'not a list'],
  ])('rejects instructions that are %s', async (_what, instructions, reason) => {
    const expected = { code: 'OPTIONS_INVALID', message: expect.stringContaining(reason) as string };
    expect(() => new Agent({ id: 'a', instructions: instructions as never })).toThrow(
      expect.objectContaining(expected),
    );
    const agent = new Agent({ id: 'a', model: 'openai/gpt-5.1', instructions: () => instructions as never });
    await expect(agent.generate('Hi')).rejects.toMatchObject(expected);
  });

  it('sends nothing to the model when the function for its instructions fails', async () => {
    const { model, calls } = majors[2]!.createModel([]);
    const fails = () => Promise.reject(new Error('no profile'));
    const agent = new Agent({ id: 'a', model: model as LanguageModel, instructions: fails });
    await expect(agent.generate('Hi')).rejects.toThrow('no profile');
    await expect(agent.stream('Hi')).rejects.toThrow('no profile');
    const forgets = new Agent({ id: 'a', model: model as LanguageModel, instructions: (() => {}) as never });
    await expect(forgets.generate('Hi')).rejects.toThrow(
      "Agent 'a': 'instructions()' must be a text or a list of texts, not undefined.",
    );
    expect(calls()).toEqual([]);
  });

  it('passes an empty request context to the function when the caller passes none', async () => {
    const { model } = majors[2]!.createModel([{ say: 'ok' }]);
    const received: unknown[] = [];
    const instructions: AgentOptions['instructions'] = ({ requestContext: given }) => {
      received.push(given.toJSON());
      return '';
    };
    await new Agent({ id: 'a', model: model as LanguageModel, instructions }).generate('Hi');
    expect(received).toEqual([{}]);
  });

  it('says that it needs a model', async () => {
    const agent = new Agent({ id: 'modelless' });
    const expected = { code: 'AGENT_MODEL_MISSING', message: expect.stringContaining("'modelless'") as string };
    await expect(agent.generate('Hi')).rejects.toMatchObject(expected);
    await expect(agent.stream('Hi')).rejects.toMatchObject(expected);
  });
});

describe('the options of an Agent', () => {
  const [major] = majors as [(typeof majors)[number]];
  const { model } = major.createModel([{ say: 'Hi' }, { say: 'Hi' }]);
  const ai = major.sdk as AiSdk;
  const lines = collectLog();

  it('are rejected if they let a model run without end', () => {
    expect(() => new Agent({ id: 'a', maxSteps: Number.NaN })).toThrow("'maxSteps' must be a number of at least 1");
  });

  it('of Mastra are accepted with one warning each', async () => {
    const options = { id: 'a', model: model as LanguageModel, ai, memory: {}, scorers: {} };
    expect(new Agent(options).id).toBe('a');
    const agent = new Agent(options);
    await agent.generate('Hi', { memory: { thread: '1' }, temperature: 0 });
    expect(lines).toEqual([
      expect.stringContaining("Agent ignores the option 'memory': agents have no memory."),
      expect.stringContaining("Agent ignores the option 'scorers'"),
      expect.stringContaining("agent.generate ignores the option 'memory'"),
    ]);
  });

  it('of a call that would let tools run without approval are rejected', async () => {
    const agent = new Agent({ id: 'a', model: model as LanguageModel, ai });
    await expect(agent.generate('Hi', { requireToolApproval: true })).rejects.toThrow(
      "agent.generate: 'requireToolApproval' is not supported. Set requireApproval of the tools.",
    );
    expect((await agent.generate('Hi', { requireToolApproval: false })).text).toBe('Hi');
  });
});
