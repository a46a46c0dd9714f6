import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { majors, toolResultsSeenBy } from '../../test/ai-sdk-majors.js';
import { startOpenAiServer, type OpenAiServer } from '../../test/openai-server.js';
import { resolveLanguageModel, type LanguageModel } from '../llm/index.js';
import { RequestContext } from '../request-context/index.js';
import { createTool } from '../tools/index.js';
import { Agent, type AiSdk } from './index.js';

const whoAmI = createTool({
  id: 'who-am-i',
  description: 'Tells whose request this is',
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
    const other = createTool({ id: 'other', description: 'Another', execute: async () => 'other' });
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
      tools: { whoAmI: createTool({ id: 'slow', description: 'x', execute: () => new Promise(() => {}) }) },
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
      id: 'weather',
      description: 'Current weather of a city',
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
    await expect(agent.generate('Hi')).rejects.toMatchObject({
      code: 'MODEL_KEY_MISSING',
      message: expect.stringMatching(/'openai\/gpt-5\.1'.*OPENAI_API_KEY/) as string,
    });
    vi.unstubAllEnvs();
  });

  it('refuses a toolset whose tool has no free name', async () => {
    const other = createTool({ id: 'other', description: 'x', execute: async () => 1 });
    const agent = new Agent({ id: 'a', model: 'openai/gpt-5.1', tools: { x: whoAmI, s_x: whoAmI } });
    await expect(agent.generate('Hi', { toolsets: { s: { x: other } } })).rejects.toMatchObject({
      code: 'AGENT_TOOLS_COLLIDE',
      message: expect.stringContaining("'s_x'") as string,
    });
  });

  it('is named by its id or its name', () => {
    expect(new Agent({ id: 'a' })).toMatchObject({ id: 'a', name: 'a' });
    expect(new Agent({ name: 'A', description: 'Does A' })).toMatchObject({
      id: 'A',
      name: 'A',
      description: 'Does A',
    });
    expect(new Agent({ name: 'A', description: 'Does A' }).getDescription()).toBe('Does A');
    expect(() => new Agent({})).toThrow(expect.objectContaining({ code: 'AGENT_OPTIONS_INVALID' }));
  });

  it('says that it needs a model', async () => {
    const agent = new Agent({ id: 'modelless' });
    const expected = { code: 'AGENT_MODEL_MISSING', message: expect.stringContaining("'modelless'") as string };
    await expect(agent.generate('Hi')).rejects.toMatchObject(expected);
    await expect(agent.stream('Hi')).rejects.toMatchObject(expected);
  });
});
