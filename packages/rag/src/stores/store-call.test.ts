import { expect, it } from 'vitest';
import { clientPerSignal, lazyClient, serviceCalls } from './store-call.js';

it('shares one client between calls, and opens another one for a call with a signal', async () => {
  let opened = 0;
  const run = serviceCalls(
    'Toy',
    clientPerSignal(async () => (opened += 1)),
  );
  const client = async (client: number): Promise<number> => client;
  expect(await run('reading', undefined, client)).toBe(1);
  expect(await run('reading', undefined, client)).toBe(1);
  expect(await run('reading', new AbortController().signal, client)).toBe(2);
});

it('opens the client again after a failure', async () => {
  let attempts = 0;
  const { open, release } = lazyClient(async () => {
    attempts += 1;
    if (attempts === 1) throw new Error('no network');
    return 'client';
  });
  const run = serviceCalls('Toy', open);
  await expect(run('reading', undefined, async (client) => client)).rejects.toMatchObject({
    code: 'VECTOR_STORE_FAILED',
    message: 'Toy failed at reading: no network',
  });
  expect(await run('reading', undefined, async (client) => client)).toBe('client');
  expect(await release()).toBe('client');
  expect(await release()).toBeUndefined();
});

it('keeps a client that was opened after the release of one that fails later', async () => {
  let fail = (_error: Error): void => {};
  const first = new Promise<string>((_resolve, reject) => (fail = reject));
  const clients = [first, Promise.resolve('second'), Promise.resolve('third')];
  const { open, release } = lazyClient(() => clients.shift() as Promise<string>);
  const failing = open();
  const releasing = release();
  expect(await open()).toBe('second');
  fail(new Error('no network'));
  await expect(failing).rejects.toThrow('no network');
  expect(await releasing).toBeUndefined();
  expect(await open()).toBe('second');
});

it('rejects with the abort reason', async () => {
  const run = serviceCalls('Toy', async () => 'client');
  const reason = new Error('enough');
  await expect(run('reading', AbortSignal.abort(reason), async () => 1)).rejects.toBe(reason);
});
