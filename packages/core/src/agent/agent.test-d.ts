import type { ToolLoopAgent as Agent6 } from 'ai-v6';
import type { ToolLoopAgent as Agent7 } from 'ai-v7';
import type { MockLanguageModelV2 } from 'ai-v5/test';
import type { MockLanguageModelV3 } from 'ai-v6/test';
import type { MockLanguageModelV4 } from 'ai-v7/test';
import { describe, expectTypeOf, it } from 'vitest';
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

  it('tell the type of the text', async () => {
    const agent = new Agent({ id: 'a', model: 'openai/gpt-5.1' });
    expectTypeOf(agent.generate('Hi')).resolves.toHaveProperty('text').toEqualTypeOf<string>();
    expectTypeOf((await agent.stream('Hi')).textStream).toEqualTypeOf<AsyncIterable<string>>();
  });
});
