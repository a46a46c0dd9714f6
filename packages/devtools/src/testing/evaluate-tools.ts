import { isDeepStrictEqual } from 'node:util';
import { QuiverError, toErrorMessage } from '@quiver/core';
import { Agent, type AgentTools, type AiSdk } from '@quiver/core/agent';
import {
  anyValue,
  unchecked,
  booleanValue,
  bootstrapMean,
  checkOptions,
  functionValue,
  type Interval,
  type OptionChecks,
  signalValue,
  stringValue,
  wholeNumber,
  invalidOptions,
} from '@quiver/core/internal';
import type { LanguageModel } from '@quiver/core/llm';
import { isObject } from '../json.js';
import { includesMembers } from './includes-members.js';

/** A request of a user, and what a model should do with it. */
export interface ToolCase {
  prompt: string;
  /** Tool that a model should call, and members that its arguments must have; `tool: null` for none. Default: any tool. */
  expect?: { tool: string | null; args?: Record<string, unknown> };
  /** Tools that a model must not call. */
  forbid?: readonly string[];
}

/** Options of `evaluateTools()`. */
export interface EvaluateToolsOptions {
  /** Tools by the name that a model calls them by: `await mcp.listTools()`. */
  tools: AgentTools;
  /** Tasks, each with the tools that fit it. */
  cases: readonly ToolCase[];
  /** A model string such as `openai/gpt-5.1`, or a model of the AI SDK. */
  model: string | LanguageModel;
  /** Runs of each case, because models do not decide the same each time. Default 1. */
  runs?: number;
  /** System prompt. Default: none. */
  instructions?: string;
  /**
   * Whether calls run, so that the model can continue with their results. Pass the tools of a cassette then, so that nothing has effects.
   * Default `false`: a run ends with the first calls.
   */
  execute?: boolean;
  /** Model calls of a run. Default 5; 1 without `execute`. */
  maxSteps?: number;
  /** The AI SDK to run on. Default: the installed `ai`. */
  ai?: AiSdk;
  /** Called after each run. */
  onProgress?: (progress: { done: number; total: number; prompt: string }) => void;
  /** Aborts the run. */
  signal?: AbortSignal;
}

/** A call that a model made. */
export interface EvaluatedCall {
  tool: string;
  args: unknown;
}

/** One run of a case. */
export interface ToolRun {
  calls: EvaluatedCall[];
  /** Reason of the failure; absent for a run that passed. */
  problem?: string;
}

/** Result of a case. */
export interface ToolCaseReport {
  prompt: string;
  /** Share of the runs that passed. */
  passed: number;
  runs: ToolRun[];
}

/** Result of `evaluateTools()`. Intervals contain the value with a confidence of 95 %; more cases make them smaller. */
export interface ToolEvaluation {
  /** Share of passed runs, by case. */
  passed: Interval;
  /** Share of runs with the expected tool, regardless of its arguments; of the cases that expect something. `undefined` without such cases. */
  chosen: Interval | undefined;
  cases: ToolCaseReport[];
  /** Tools that were called in place of others, most frequent first. `none`: no tool. */
  confusions: { expected: string; called: string; count: number }[];
}

const none = 'none';

const checks: OptionChecks<EvaluateToolsOptions> = {
  ...unchecked<EvaluateToolsOptions>()('tools', 'cases', 'model'),
  runs: wholeNumber(1),
  instructions: stringValue,
  execute: booleanValue,
  maxSteps: wholeNumber(1),
  ai: anyValue,
  onProgress: functionValue,
  signal: signalValue,
};

/**
 * Measures whether a model chooses the right tools, and which it confuses.
 *
 * @throws `OPTIONS_INVALID` for invalid options and cases; `EVALUATION_FAILED` with the error of a model; the abort reason
 * @example
 * const { passed, confusions } = await evaluateTools({
 *   tools: await mcp.listTools(),
 *   model: 'openai/gpt-5.1',
 *   runs: 3,
 *   cases: [
 *     { prompt: 'Will it rain in Oslo tomorrow?', expect: { tool: 'weather_forecast', args: { city: 'Oslo' } } },
 *     { prompt: 'Thank you!', expect: { tool: null } },
 *   ],
 * });
 */
export async function evaluateTools(options: EvaluateToolsOptions): Promise<ToolEvaluation> {
  checkOptions('evaluateTools', options, checks);
  const { tools, cases, runs = 1, onProgress, signal } = options;
  checkCases(tools, cases);
  const { model, instructions, execute = false, maxSteps = 5, ai } = options;
  const agent = new Agent({
    id: 'evaluation',
    model,
    tools: execute ? tools : Object.fromEntries(Object.entries(tools).map(withoutExecute)),
    maxSteps: execute ? maxSteps : 1,
    ...(instructions !== undefined && { instructions }),
    ...(ai && { ai }),
  });
  const reports: ToolCaseReport[] = [];
  for (const [index, given] of cases.entries()) {
    const done: ToolRun[] = [];
    for (let run = 0; run < runs; run += 1) {
      signal?.throwIfAborted();
      const calls = await callsOf(agent, given.prompt, signal);
      const problem = findProblem(given, calls);
      done.push({ calls, ...(problem !== undefined && { problem }) });
      onProgress?.({ done: index * runs + run + 1, total: cases.length * runs, prompt: given.prompt });
    }
    reports.push({ prompt: given.prompt, passed: shareOf(done, ({ problem }) => problem === undefined), runs: done });
  }
  const choices = reports.flatMap(({ runs: done }, index) => {
    const { expect } = cases[index] as ToolCase;
    return expect ? [shareOf(done, ({ calls }) => isChosen(expect.tool, calls))] : [];
  });
  return {
    passed: bootstrapMean(reports.map(({ passed }) => passed)),
    chosen: choices.length > 0 ? bootstrapMean(choices) : undefined,
    cases: reports,
    confusions: countConfusions(cases, reports),
  };
}

/** The AI SDK does not run a tool without `execute`. */
function withoutExecute([name, tool]: [string, { execute?: unknown }]): [string, object] {
  const { execute: _execute, ...offered } = tool;
  return [name, offered];
}

async function callsOf(agent: Agent, prompt: string, abortSignal: AbortSignal | undefined): Promise<EvaluatedCall[]> {
  try {
    const { steps } = await agent.generate(prompt, { abortSignal });
    return steps.flatMap(({ toolCalls }) => toolCalls.map(({ toolName, input }) => ({ tool: toolName, args: input })));
  } catch (cause) {
    abortSignal?.throwIfAborted();
    throw new QuiverError('EVALUATION_FAILED', `The model failed for '${prompt}': ${toErrorMessage(cause)}`, { cause });
  }
}

function findProblem({ expect, forbid = [] }: ToolCase, calls: readonly EvaluatedCall[]): string | undefined {
  const forbidden = calls.find(({ tool }) => forbid.includes(tool));
  if (forbidden) return `called '${forbidden.tool}', which is forbidden`;
  if (!expect) return undefined;
  const { tool, args } = expect;
  if (!isChosen(tool, calls)) {
    const called = calls.map((call) => `'${call.tool}'`).join(', ') || 'no tool';
    return `called ${called} instead of ${tool === null ? 'no tool' : `'${tool}'`}`;
  }
  const given = calls.filter((call) => call.tool === tool).map((call) => call.args);
  if (args === undefined || given.some((own) => includesMembers(own, args, isDeepStrictEqual))) return undefined;
  const shown = given.map((own) => JSON.stringify(own)).join(' and ');
  return `called '${tool}' with ${shown}, without ${JSON.stringify(args)}`;
}

function isChosen(tool: string | null, calls: readonly EvaluatedCall[]): boolean {
  return tool === null ? calls.length === 0 : calls.some((call) => call.tool === tool);
}

function shareOf(runs: readonly ToolRun[], isCounted: (run: ToolRun) => boolean): number {
  return runs.filter(isCounted).length / runs.length;
}

function countConfusions(cases: readonly ToolCase[], reports: readonly ToolCaseReport[]): ToolEvaluation['confusions'] {
  const counts = new Map<string, ToolEvaluation['confusions'][number]>();
  for (const [index, { runs }] of reports.entries()) {
    const { expect } = cases[index] as ToolCase;
    if (!expect) continue;
    for (const { calls } of runs) {
      if (isChosen(expect.tool, calls)) continue;
      const pair = { expected: expect.tool ?? none, called: calls[0]?.tool ?? none };
      const key = JSON.stringify(pair);
      counts.set(key, { ...pair, count: (counts.get(key)?.count ?? 0) + 1 });
    }
  }
  return [...counts.values()].toSorted((a, b) => b.count - a.count);
}

function checkCases(tools: AgentTools, cases: readonly ToolCase[]): void {
  if (!isObject(tools) || Object.keys(tools).length === 0)
    throw invalidOptions('evaluateTools needs `tools`, by name: `await mcp.listTools()`.');
  if (!Array.isArray(cases) || cases.length === 0)
    throw invalidOptions(
      "evaluateTools needs `cases`: [{ prompt: 'Will it rain?', expect: { tool: 'weather_forecast' } }].",
    );
  for (const [index, given] of cases.entries()) {
    const { prompt, expect, forbid = [] } = (given ?? {}) as ToolCase;
    const where = `Case ${index + 1} of evaluateTools`;
    if (typeof prompt !== 'string' || prompt === '') throw invalidOptions(`${where} needs a \`prompt\`.`);
    if (expect !== undefined && (!isObject(expect) || expect.tool === undefined))
      throw invalidOptions(`${where} needs \`expect.tool\`: a name, or null for no tool.`);
    const names = [...(typeof expect?.tool === 'string' ? [expect.tool] : []), ...forbid];
    const unknown = names.find((name) => !Object.hasOwn(tools, name));
    if (unknown !== undefined)
      throw invalidOptions(
        `${where} names '${unknown}', which is not a tool. The tools are: ${Object.keys(tools).join(', ')}.`,
      );
  }
}
