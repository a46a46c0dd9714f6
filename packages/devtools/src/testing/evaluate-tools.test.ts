import { createTool } from '@quiver/core/tools';
import * as v5 from 'ai-v5';
import { MockLanguageModelV2 } from 'ai-v5/test';
import * as v6 from 'ai-v6';
import { MockLanguageModelV3 } from 'ai-v6/test';
import * as v7 from 'ai-v7';
import { MockLanguageModelV4 } from 'ai-v7/test';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { expectError } from '../../../../scripts/test-error.ts';
import { scratchFolder } from '../../../mcp/test/scratch-folder.ts';
import { MCPClient } from '@quiver/mcp/client';
import { MCPServer } from '@quiver/mcp/server';
import { createCassette, evaluateTools, type EvaluateToolsOptions, type ToolCase } from './index.js';

/** Calls that reached the server. */
const effects: string[] = [];
beforeEach(() => void effects.splice(0));

const path = z.object({ path: z.string(), force: z.boolean().optional() });
const toolOf = (id: string): ReturnType<typeof createTool> =>
  createTool({
    id,
    description: `Does what ${id} says`,
    inputSchema: path,
    execute: async ({ path: target }) => {
      effects.push(`${id} ${target}`);
      return `${id} of ${target}`;
    },
  }) as never;
const server = new MCPServer({
  name: 'Files',
  version: '1',
  tools: { read: toolOf('read'), remove: toolOf('remove'), list: toolOf('list') },
});

/** A model that decides by the first word of the prompt: `read a.txt` calls `files_read`, `chat` calls nothing, `fail` throws. */
type Decide = (text: string, step: number) => { content: object[]; isCall: boolean };
const decide: Decide = (text, step) => {
  const [verb = '', target = ''] = text.split(' ');
  if (verb === 'fail') throw new Error('the model is down');
  if (step > 0 || verb === 'chat') return { content: [{ type: 'text', text: 'Done.' }], isCall: false };
  const input = JSON.stringify({ path: target, ...(verb === 'force' && { force: true }) });
  const toolName = verb === 'purge' || verb === 'force' ? 'files_remove' : `files_${verb}`;
  return { content: [{ type: 'tool-call', toolCallId: 'c1', toolName, input }], isCall: true };
};

const prompts = ({ prompt }: { prompt: readonly { role: string; content: unknown }[] }): [string, number] => {
  const user = prompt.find(({ role }) => role === 'user')?.content as { text: string }[];
  return [user[0]?.text ?? '', prompt.filter(({ role }) => role === 'tool').length];
};
/** Returns the result of a model of AI SDK 6 and 7; AI SDK 5 has flat reasons and numbers. */
const generate = async (options: never) => {
  const { content, isCall } = decide(...prompts(options));
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  return { content, finishReason: { unified: isCall ? 'tool-calls' : 'stop' }, usage, warnings: [] };
};
const models = {
  v5: new MockLanguageModelV2({
    doGenerate: async (options) => {
      const { finishReason, ...answer } = await generate(options as never);
      const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
      return { ...answer, finishReason: finishReason.unified, usage } as never;
    },
  }),
  v6: new MockLanguageModelV3({ doGenerate: generate as never }),
  v7: new MockLanguageModelV4({ doGenerate: generate as never }),
};
const model = models.v7;

function connect(definition: object): MCPClient {
  const mcp = new MCPClient({ id: crypto.randomUUID(), servers: { files: definition as never } });
  onTestFinished(() => mcp.disconnect());
  return mcp;
}

async function optionsOf(cases: ToolCase[]): Promise<EvaluateToolsOptions> {
  return { tools: await connect(server).listTools(), model, cases, ai: v7 };
}

describe('evaluateTools', () => {
  it('reports choices, arguments, forbidden calls and confusions', async () => {
    const cases: ToolCase[] = [
      { prompt: 'read a.txt', expect: { tool: 'files_read', args: { path: 'a.txt' } } },
      { prompt: 'read a.txt', expect: { tool: 'files_read', args: { path: 'b.txt' } } },
      { prompt: 'purge a.txt', expect: { tool: 'files_list' } },
      { prompt: 'purge b.txt', expect: { tool: 'files_list' } },
      { prompt: 'chat', expect: { tool: null } },
      { prompt: 'chat', expect: { tool: 'files_read' } },
      { prompt: 'list .', expect: { tool: null } },
      { prompt: 'purge a.txt', forbid: ['files_remove'] },
      { prompt: 'list .', forbid: ['files_remove'] },
      { prompt: 'force a.txt', expect: { tool: 'files_remove', args: { force: true } }, forbid: ['files_read'] },
    ];
    const evaluation = await evaluateTools(await optionsOf(cases));
    expect(evaluation.cases.map(({ passed, runs }) => [passed, runs[0]?.problem])).toEqual([
      [1, undefined],
      [0, `called 'files_read' with {"path":"a.txt"}, without {"path":"b.txt"}`],
      [0, "called 'files_remove' instead of 'files_list'"],
      [0, "called 'files_remove' instead of 'files_list'"],
      [1, undefined],
      [0, "called no tool instead of 'files_read'"],
      [0, "called 'files_list' instead of no tool"],
      [0, "called 'files_remove', which is forbidden"],
      [1, undefined],
      [1, undefined],
    ]);
    expect(evaluation.passed.mean).toBeCloseTo(0.4);
    expect(evaluation.passed.low).toBeLessThan(0.4);
    expect(evaluation.passed.high).toBeGreaterThan(0.4);
    expect(evaluation.chosen?.mean).toBeCloseTo(4 / 8);
    expect(evaluation.confusions).toEqual([
      { expected: 'files_list', called: 'files_remove', count: 2 },
      { expected: 'files_read', called: 'none', count: 1 },
      { expected: 'none', called: 'files_list', count: 1 },
    ]);
    expect(effects).toEqual([]);
  });

  it('repeats cases, and reports progress', async () => {
    const progress: unknown[] = [];
    let turn = 0;
    const alternating = new MockLanguageModelV4({
      doGenerate: () => {
        turn += 1;
        const text = turn % 2 === 0 ? 'read a' : 'list a';
        return generate({ prompt: [{ role: 'user', content: [{ text }] }] } as never) as never;
      },
    });
    const { cases, passed } = await evaluateTools({
      ...(await optionsOf([{ prompt: 'Read a', expect: { tool: 'files_read' } }])),
      model: alternating,
      runs: 4,
      onProgress: ({ done, total }) => progress.push(`${done}/${total}`),
    });
    expect(cases[0]?.passed).toBe(0.5);
    expect(passed.mean).toBe(0.5);
    expect(progress).toEqual(['1/4', '2/4', '3/4', '4/4']);
  });

  it.each([
    ['5', models.v5, v5],
    ['6', models.v6, v6],
    ['7', models.v7, v7],
  ] as const)(
    'continues with the responses of a cassette, without effects, in AI SDK %s',
    async (_version, usedModel, ai) => {
      const file = join(scratchFolder(), 'files.json');
      const recording = connect(createCassette({ file, server, mode: 'record' }));
      const recordedTools = await recording.listTools();
      await recordedTools['files_read']?.execute({ path: 'a.txt' });
      await recording.disconnect();
      effects.splice(0);
      const tools = await connect(createCassette({ file })).listTools();
      const cases = [
        { prompt: 'read a.txt', expect: { tool: 'files_read' } },
        { prompt: 'purge a.txt', expect: { tool: 'files_remove' } },
      ];
      const steps: unknown[] = [];
      const counting: typeof ai = {
        ...ai,
        generateText: (async (options: object) => {
          const run = ai.generateText as (given: object) => Promise<{ steps: unknown[] }>;
          const result = await run(options);
          steps.push(result.steps.length);
          return result;
        }) as never,
      };
      const { passed } = await evaluateTools({ tools, cases, model: usedModel as never, ai: counting, execute: true });
      expect(passed.mean).toBe(1);
      expect(steps).toEqual([2, 2]);
      expect(effects).toEqual([]);
    },
  );

  it('names what is wrong with options and cases in one line', async () => {
    const options = await optionsOf([]);
    const invalid = async (changes: object): Promise<string> => {
      const error = await evaluateTools({ ...options, ...changes } as never).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'OPTIONS_INVALID' });
      return (error as Error).message;
    };
    expect(await invalid({})).toContain('needs `cases`');
    expect(await invalid({ tools: {} })).toContain('needs `tools`');
    expect(await invalid({ cases: [{}] })).toContain('Case 1 of evaluateTools needs a `prompt`');
    expect(await invalid({ cases: [null] })).toContain('Case 1 of evaluateTools needs a `prompt`');
    expect(await invalid({ cases: [{ prompt: 'x', expect: {} }] })).toContain('`expect.tool`: a name, or null');
    expect(await invalid({ cases: [{ prompt: 'x', expect: { tool: 'read' } }] })).toBe(
      "Case 1 of evaluateTools names 'read', which is not a tool. The tools are: files_read, files_remove, files_list.",
    );
    expect(await invalid({ runs: 0 })).toContain('runs');
  });

  it('passes on the error of a model, and the reason of an abort', async () => {
    const options = await optionsOf([{ prompt: 'fail' }]);
    await expectError(evaluateTools({ ...options, model }), 'EVALUATION_FAILED', "The model failed for 'fail':");
    const reason = new Error('enough');
    await expect(evaluateTools({ ...options, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});
