import { createTool, type ToolContext } from '@quiver/core/tools';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { TaskCaller } from '../../../test/clients/task-caller.ts';
import { MCPServer } from '../../server/mcp-server.js';

const keys = ['a', 'b', 'input-1', 'a-2', '__proto__'] as const;

/** The next step of the tool, or the next request of a client. */
const step = fc.oneof(
  fc.record({ tool: fc.constant('ask' as const), key: fc.option(fc.constantFrom(...keys), { nil: undefined }) }),
  fc.record({ tool: fc.constant('report' as const), progress: fc.nat(9) }),
  fc.record({ tool: fc.constant('finish' as const) }),
  fc.record({ tool: fc.constant('throw' as const) }),
  fc.record({ tool: fc.constant('roots' as const) }),
  fc.record({
    method: fc.constantFrom('tasks/get' as const, 'tasks/update' as const, 'tasks/cancel' as const),
    isOwner: fc.boolean(),
    responds: fc.constantFrom('first' as const, 'all' as const, 'unknown' as const),
    isValid: fc.boolean(),
  }),
);
type ToolStep = Exclude<typeof step extends fc.Arbitrary<infer Step> ? Step : never, { method: unknown }>;

/** A tool that takes its steps from the test. */
class SteppedTool {
  readonly answers: string[] = [];
  #next: ((step: ToolStep) => void) | undefined;

  readonly execute = async (_input: unknown, { mcp }: ToolContext): Promise<unknown> => {
    for (;;) {
      const next = await new Promise<ToolStep>((resolve) => {
        this.#next = resolve;
      });
      if (next.tool === 'finish') return 'done';
      if (next.tool === 'throw') throw new Error('thrown');
      if (next.tool === 'roots') return mcp.roots();
      if (next.tool === 'report') await mcp.progress({ progress: next.progress });
      else {
        const properties = { name: { type: 'string' } };
        const requestedSchema = { type: 'object' as const, properties, required: ['name'] };
        const options = next.key === undefined ? {} : { key: next.key };
        mcp.elicitation
          .sendRequest({ message: 'Name?', requestedSchema }, options)
          .then(({ content }) => this.answers.push(content.name))
          .catch(() => {});
      }
    }
  };

  take(next: ToolStep): void {
    this.#next?.(next);
  }
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

// oxlint-disable-next-line typescript/no-explicit-any -- any JSON that the server sent
type State = any;

/** Checks the shape of a state. */
function expectValid(state: State): void {
  const { status, inputRequests } = state;
  expect(['working', 'input_required', 'completed', 'failed', 'cancelled']).toContain(status);
  expect('inputRequests' in state).toBe(status === 'input_required');
  if (status === 'input_required') expect(Object.keys(inputRequests)).not.toHaveLength(0);
  expect('result' in state).toBe(status === 'completed');
  expect('error' in state).toBe(status === 'failed');
  for (const name of ['requestState', 'ttl', 'pollInterval', 'owner', 'responses', 'call', 'instance'])
    expect(state).not.toHaveProperty(name);
  expect(state.lastUpdatedAt >= state.createdAt).toBe(true);
}

const withoutRoots = { _meta: { 'quiver/error': { code: 'ROOTS_NOT_SUPPORTED', message: 'No roots.' } } };

const isTerminal = ({ status }: State): boolean => status !== 'working' && status !== 'input_required';

/** Checks that a state may follow another one. `gone` are keys that were outstanding and no longer are. */
function expectFollows(before: State, after: State, gone: Set<string>): void {
  expectValid(after);
  if (isTerminal(before)) expect(after).toEqual(before);
  const outstanding = Object.keys(after.inputRequests ?? {});
  for (const key of outstanding) expect(gone.has(key)).toBe(false);
  for (const key of Object.keys(before.inputRequests ?? {})) if (!outstanding.includes(key)) gone.add(key);
}

test('no sequence of steps of the tool and requests of two callers leads to an invalid state', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
      const tool = new SteppedTool();
      const job = createTool({ id: 'job', description: 'Steps', mcp: { task: 'optional' }, execute: tool.execute });
      const server = new MCPServer({ name: 'States', version: '1.0.0', tools: { job } });
      const capabilities = { elicitation: {}, roots: {} };
      const owner = new TaskCaller(server, { capabilities, authInfo: { clientId: 'app', extra: { sub: 'ada' } } });
      const other = new TaskCaller(server, { capabilities, authInfo: { clientId: 'app', extra: { sub: 'bob' } } });
      const { taskId } = (await owner.call('job')).result;
      const gone = new Set<string>();
      const given: string[] = [];
      let state: State = await owner.get(taskId);
      const observe = async (): Promise<void> => {
        const next = await owner.get(taskId);
        expectFollows(state, next, gone);
        state = next;
      };
      for (const [index, next] of steps.entries()) {
        if ('tool' in next) {
          tool.take(next);
          await turn();
        } else {
          const outstanding = next.responds === 'unknown' ? ['unknown'] : Object.keys(state.inputRequests ?? {});
          const answered = next.responds === 'first' ? outstanding.slice(0, 1) : outstanding;
          const response = { action: 'accept', content: { name: next.isValid ? `name ${index}` : 7 } };
          const isOfRoots = (key: string): boolean => state.inputRequests?.[key]?.method === 'roots/list';
          const inputResponses = Object.fromEntries(
            answered.map((key) => [key, isOfRoots(key) ? withoutRoots : response]),
          );
          if (next.method === 'tasks/update' && next.isValid && next.isOwner) given.push(`name ${index}`);
          const caller = next.isOwner ? owner : other;
          const { result, error } = await caller.request(next.method, { taskId, inputResponses });
          if (!next.isOwner) {
            expect(error).toMatchObject({ code: -32602 });
          } else if (next.method === 'tasks/get') expectFollows(state, result, new Set(gone));
          else expect(Object.keys(result).sort()).toEqual(['_meta', 'resultType']);
          if (next.isOwner && next.method === 'tasks/cancel') expect(isTerminal(await owner.get(taskId))).toBe(true);
        }
        await observe();
      }
      await turn();
      await observe();
      for (const answer of tool.answers) expect(given).toContain(answer);
      await server.close({ grace: 0 });
    }),
    { numRuns: 60 },
  );
});
