import type { ChildProcess } from 'node:child_process';
import { QuiverError } from '@quiver/core';
import type { SharedStore } from '@quiver/mcp';

const methods = ['get', 'put', 'delete', 'keys', 'append', 'read', 'publish', 'take'] as const;
type Listener = (message: string) => void;
/** A call of a method, or the end of the subscription with that number. */
interface Request {
  readonly call: number;
  readonly method: (typeof methods)[number] | 'subscribe' | 'unsubscribe';
  readonly args: readonly unknown[];
}
/** The outcome of a call, or a message of a subscription. */
interface Reply {
  readonly call: number;
  readonly value?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
  readonly published?: string;
}

/** Lets a child process use a store of this process, for a trial without PostgreSQL and Redis. */
export function shareStore(store: SharedStore, child: ChildProcess): void {
  const subscriptions = new Map<number, Promise<() => Promise<void>>>();
  // The child may have been killed.
  const reply = (message: Reply): boolean => child.connected && child.send(message, () => {});
  const run = async ({ call, method, args }: Request): Promise<unknown> => {
    if (method === 'subscribe') {
      const subscription = store.subscribe(String(args[0]), (published) => reply({ call, published }));
      subscriptions.set(call, subscription);
      return void (await subscription);
    }
    if (method === 'unsubscribe') return (await subscriptions.get(Number(args[0])))?.();
    return (store[method] as (...given: unknown[]) => Promise<unknown>)(...args);
  };
  child.on('message', (request: Request) => {
    run(request).then(
      (value) => reply({ call: request.call, value }),
      ({ code, message }: QuiverError) => reply({ call: request.call, error: { code, message } }),
    );
  });
  child.once('exit', () => {
    for (const subscription of subscriptions.values()) void subscription.then((end) => end());
  });
}

/** The store that the parent process shares. */
export function storeOfParent(): SharedStore {
  let last = 0;
  const waiting = new Map<number, (reply: Reply) => void>();
  const listeners = new Map<number, Listener>();
  process.on('message', (reply: Reply) => {
    if (reply.published !== undefined) return listeners.get(reply.call)?.(reply.published);
    waiting.get(reply.call)?.(reply);
    waiting.delete(reply.call);
  });
  const send = (method: Request['method'], args: readonly unknown[], listener?: Listener): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const call = (last += 1);
      if (listener) listeners.set(call, listener);
      waiting.set(call, ({ value, error }) =>
        error ? reject(new QuiverError(error.code, error.message)) : resolve(listener ? call : value),
      );
      process.send?.({ call, method, args } satisfies Request);
    });
  const forwarded = methods.map((method) => [method, (...args: unknown[]) => send(method, args)]);
  return {
    // Each has the type of the method of the same name.
    ...(Object.fromEntries(forwarded) as Pick<SharedStore, (typeof methods)[number]>),
    subscribe: async (channel, listener) => {
      const call = (await send('subscribe', [channel], listener)) as number;
      return async () => {
        if (listeners.delete(call)) await send('unsubscribe', [call]);
      };
    },
    close: async () => listeners.clear(),
  };
}
