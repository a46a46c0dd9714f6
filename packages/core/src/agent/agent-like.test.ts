import { describe, expect, it } from 'vitest';
import { Experimental_Agent as Agent5 } from 'ai-v5';
import { ToolLoopAgent as Agent6 } from 'ai-v6';
import { ToolLoopAgent as Agent7 } from 'ai-v7';
import { expectError } from '../../../../scripts/test-error.ts';
import { majors } from '../../test/ai-sdk-majors.js';
import { RequestContext } from '../request-context/index.js';
import type { LanguageModel } from '../llm/index.js';
import { Agent, askAgent, runWorkflow, type AgentLike, type AiSdk } from './index.js';

const requestContext = new RequestContext([['user', 'Ann']]);

describe('askAgent', () => {
  it('asks our agent', async () => {
    const [major] = majors;
    const { model } = major!.createModel([{ say: 'ours' }]);
    const agent = new Agent({ id: 'a', model: model as LanguageModel, ai: major!.sdk as AiSdk });
    expect(await askAgent(agent, 'Hi', { requestContext })).toMatchObject({ text: 'ours' });
  });

  it.each([
    [5, (model: never): AgentLike => new Agent5({ model })],
    [6, (model: never): AgentLike => new Agent6({ model })],
    [7, (model: never): AgentLike => new Agent7({ model })],
  ] as const)('asks an agent of AI SDK %s', async (version, createAgent) => {
    const { model, calls } = majors.find((major) => major.version === version)!.createModel([{ say: 'theirs' }]);
    expect(await askAgent(createAgent(model as never), 'Hi')).toMatchObject({ text: 'theirs' });
    expect(calls()[0]?.prompt).toMatchObject([{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }]);
  });

  it('asks any agent that takes a prompt and options', async () => {
    const asked: unknown[] = [];
    const agent: AgentLike = {
      name: 'A',
      generate: async (...given: unknown[]) => {
        asked.push(given);
        return { text: 'hello' };
      },
    };
    const { signal: abortSignal } = new AbortController();
    expect(await askAgent(agent, 'Hi', { requestContext, abortSignal })).toEqual({ text: 'hello' });
    expect(asked).toEqual([['Hi', { requestContext, abortSignal }]]);
  });
});

describe('runWorkflow', () => {
  const createRun = () => ({
    start: async ({ inputData, requestContext: context }: { inputData: number; requestContext?: RequestContext }) => ({
      status: 'success',
      result: inputData * 2,
      user: context?.get('user') as unknown,
    }),
  });

  it.each([
    ['createRun()', { createRun }],
    ['an asynchronous createRun()', { createRun: async () => createRun() }],
    ['createRunAsync()', { createRunAsync: async () => createRun() }],
  ])('starts a run made by %s', async (_name, workflow) => {
    const result = await runWorkflow(workflow, 21, { requestContext });
    expect(result).toEqual({ status: 'success', result: 42, user: 'Ann' });
  });

  it('cancels the run when the signal fires', async () => {
    const controller = new AbortController();
    let finish: (value: unknown) => void = () => {};
    const run = {
      start: () => new Promise((resolve) => (finish = resolve)),
      cancel: () => finish({ status: 'canceled' }),
    };
    const running = runWorkflow({ createRun: () => run }, {}, { abortSignal: controller.signal });
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    expect(await running).toEqual({ status: 'canceled' });
  });

  it('says what is wrong with a workflow that cannot be run', async () => {
    await expectError(runWorkflow({ id: 'broken' }, {}), 'WORKFLOW_NOT_RUNNABLE', "'broken'");
  });
});
