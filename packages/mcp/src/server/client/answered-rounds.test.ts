import { describe, expect, test } from 'vitest';
import { afterTest } from '../../../test/after-test.ts';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { modern, send, toRequest, type WireAnswer } from '../../../test/clients/wire.ts';
import { InMemoryStore } from '../../shared-store/in-memory-store.js';
import type { SharedStore } from '../../shared-store/shared-store.js';
import { Result } from '../../content.js';
import type { Instance } from '../../shared-store/instance.js';
import { MCPServer } from '../mcp-server.js';
import type { ServerRequest } from '../request.js';
import { AnsweredRounds } from './answered-rounds.js';

const _meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };
const requestedSchema = { type: 'object', properties: {} } as const;

/** Instances of a server whose tool asks, and then waits for the test. */
async function start(stores: (SharedStore | undefined)[] = [undefined]) {
  const runs: (string | undefined)[] = [];
  const callIds = new Set<string | undefined>();
  let finish: (text: string) => void = () => {};
  const order = toolOf('order', async (_input, { mcp }) => {
    callIds.add(mcp.callId);
    const { action } = await mcp.elicitation.sendRequest({ message: 'Order?', requestedSchema });
    runs.push(action);
    return new Promise<string>((resolve) => (finish = resolve));
  });
  const urls: string[] = [];
  for (const sharedStore of stores) {
    const server = new MCPServer({ name: 'Shop', version: '1', tools: { order }, ...(sharedStore && { sharedStore }) });
    afterTest(() => server.close({ grace: 0 }));
    urls.push((await server.listen()).url);
  }
  const toCall = (more: object, at = 0) => ({
    url: urls[at]!,
    ...modern('tools/call', { name: 'order', arguments: {}, _meta, ...more }),
  });
  const call = (more: object = {}, at = 0): Promise<WireAnswer> => {
    const { url, ...request } = toCall(more, at);
    return send(url, request);
  };
  const ask = async (): Promise<object> => {
    const { requestState, inputRequests } = (await call()).json.result;
    const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, { action: 'accept' }]));
    return { requestState: requestState as string, inputResponses };
  };
  const textOf = ({ json }: WireAnswer): string => json.result?.content[0].text ?? json.error.message;
  return { runs, callIds, ask, call, toCall, textOf, finish: (text: string) => finish(text) };
}

describe('a response of a user', () => {
  test('receives, sent again, the running and the finished result', async () => {
    const { runs, callIds, ask, call, textOf, finish } = await start();
    const answer = await ask();
    const both = [call(answer), call(answer)];
    await expect.poll(() => runs).toEqual(['accept']);
    finish('ordered');
    expect((await Promise.all(both)).map(textOf)).toEqual(['ordered', 'ordered']);
    expect(textOf(await call(answer))).toBe('ordered');
    expect(runs).toEqual(['accept']);
    expect(callIds.size).toBe(1);
    await ask();
    expect(callIds.size).toBe(2);
  });

  test('receives, sent to another instance, the same result', async () => {
    const store = new InMemoryStore();
    const { runs, ask, call, textOf, finish } = await start([store, store]);
    const answer = await ask();
    const first = call(answer);
    await expect.poll(() => runs).toHaveLength(1);
    const second = call(answer, 1);
    finish('ordered');
    expect((await Promise.all([first, second])).map(textOf)).toEqual(['ordered', 'ordered']);
    expect(runs).toEqual(['accept']);
  });

  test.each(['in memory', 'in a shared store'])('does not run again when its client has left, %s', async (place) => {
    const { runs, ask, call, toCall, textOf } = await start([place === 'in memory' ? undefined : new InMemoryStore()]);
    const answer = await ask();
    const controller = new AbortController();
    const { url, ...request } = toCall(answer);
    const left = fetch(new Request(url, toRequest(request)), { signal: controller.signal }).catch(() => {});
    await expect.poll(() => runs).toHaveLength(1);
    controller.abort();
    await left;
    for (let count = 0; count < 2; count += 1)
      expect(textOf(await call(answer))).toContain('This requestState was answered already');
    expect(runs).toHaveLength(1);
  });

  test('can be sent again when it was not accepted', async () => {
    const { runs, ask, call, textOf, finish } = await start();
    const answer = await ask();
    expect(textOf(await call({ ...answer, arguments: { other: 1 } }))).toContain('Invalid requestState');
    const running = call(answer);
    await expect.poll(() => runs).toHaveLength(1);
    finish('ordered');
    expect(textOf(await running)).toBe('ordered');
  });
});

test('a round that ends after it was forgotten does not count for a later one of its state', async () => {
  const rounds = new AnsweredRounds({ isShared: false } as Instance, 60_000);
  const run = (state: string, result: Promise<Result> | Result = new Result('{}')): Promise<Result> =>
    rounds.once(state, { isDiscarded: false } as ServerRequest, async () => result);
  let finish: (result: Result) => void = () => {};
  const first = run('a', new Promise((resolve) => (finish = resolve)));
  await Promise.all(Array.from({ length: 10_001 }, (_, index) => run(`other ${index}`)));
  void run('a', new Promise(() => {}));
  await run('b');
  finish(new Result('x'.repeat(17 * 1024 * 1024)));
  await first;
  // The results of 16 Mi characters are kept.
  expect(await run('b')).toMatchObject({ json: '{}' });
});
