import type { ToolLoopAgent as Agent6 } from 'ai-v6';
import type { ToolLoopAgent as Agent7 } from 'ai-v7';
import type { MockLanguageModelV2 } from 'ai-v5/test';
import type { MockLanguageModelV3 } from 'ai-v6/test';
import type { MockLanguageModelV4 } from 'ai-v7/test';
import { describe, expectTypeOf, it } from 'vitest';
import type { RequestContext } from '../request-context/index.js';
import { Agent, type AgentLike, type AgentOptions } from './index.js';

describe('types of agents', () => {
  it('take a model of each AI SDK, or a string', () => {
    type Model = NonNullable<AgentOptions['model']>;
    expectTypeOf<MockLanguageModelV2>().toExtend<Model>();
    expectTypeOf<MockLanguageModelV3>().toExtend<Model>();
    expectTypeOf<MockLanguageModelV4>().toExtend<Model>();
    expectTypeOf<'openai/gpt-5.1'>().toExtend<Model>();
  });

  it('fit AgentLike, regardless of their library', () => {
    expectTypeOf<Agent>().toExtend<AgentLike>();
    expectTypeOf<Agent6>().toExtend<AgentLike>();
    expectTypeOf<Agent7>().toExtend<AgentLike>();
  });

  it('take instructions as text, as texts, or from a function with the request context', () => {
    type Instructions = NonNullable<AgentOptions['instructions']>;
    expectTypeOf<string>().toExtend<Instructions>();
    expectTypeOf<readonly string[]>().toExtend<Instructions>();
    expectTypeOf<
      (context: { requestContext: RequestContext<{ user: string }> }) => Promise<string>
    >().toExtend<Instructions>();
    expectTypeOf<() => undefined>().not.toExtend<Instructions>();
  });

  it('tell the type of the text', async () => {
    const agent = new Agent({ id: 'a', model: 'openai/gpt-5.1' });
    expectTypeOf(agent.generate('Hi')).resolves.toHaveProperty('text').toEqualTypeOf<string>();
    expectTypeOf((await agent.stream('Hi')).textStream).toEqualTypeOf<AsyncIterable<string>>();
  });
});
