import { isQuiverError, QuiverError, toErrorMessage, untilAborted } from '@quiver/core';

export interface StoreCall {
  /** For messages, such as `PostgreSQL`. */
  readonly store: string;
  /** Operation for messages, such as `querying the index 'x'`. */
  readonly what: string;
  readonly signal?: AbortSignal | undefined;
}

/** Returns the error to throw for an error of a store's client; errors of Quiver and abort reasons stay unchanged. */
export function toStoreFailure(
  error: unknown,
  { store, what, signal }: StoreCall,
  details?: Record<string, unknown>,
): unknown {
  if (isQuiverError(error) || (signal?.aborted && error === signal.reason)) return error;
  return new QuiverError('VECTOR_STORE_FAILED', `${store} failed at ${what}: ${toErrorMessage(error)}`, {
    cause: error,
    details,
  });
}

/** A client that is opened at its first use. */
export interface LazyClient<Client> {
  /** After a failure, the next call opens the client again. */
  open(): Promise<Client>;
  /** Returns the client, to close it, if it was opened. The next call opens another one. */
  release(): Promise<Client | undefined>;
}

export function lazyClient<Client>(create: () => Promise<Client>): LazyClient<Client> {
  let opened: Promise<Client> | undefined;
  return {
    open: () => {
      const opening: Promise<Client> = (opened ??= create().catch((error: unknown) => {
        // Another one may be open since the release of this one.
        if (opened === opening) opened = undefined;
        throw error;
      }));
      return opening;
    },
    release: async () => {
      const released = opened;
      opened = undefined;
      return released?.catch(() => undefined);
    },
  };
}

/** Opens clients that accept one signal for all their requests: calls without a signal share a client, a call with a signal opens another one. */
export function clientPerSignal<Client>(
  create: (signal?: AbortSignal | undefined) => Promise<Client>,
): (signal: AbortSignal | undefined) => Promise<Client> {
  const shared = lazyClient(() => create());
  return (signal) => (signal ? create(signal) : shared.open());
}

/** Runs work with the client of a store and converts its errors to `QuiverError`s. */
export type ServiceCalls<Client> = <Result>(
  what: string,
  signal: AbortSignal | undefined,
  work: (client: Client) => Promise<Result>,
) => Promise<Result>;

/**
 * @param store - name for messages
 * @param explain - improves the message of an error of the client
 * @param detailsOf - details of an error
 */
export function serviceCalls<Client>(
  store: string,
  open: (signal: AbortSignal | undefined) => Promise<Client>,
  explain: (error: unknown, what: string) => unknown = (error) => error,
  detailsOf?: (error: unknown) => Record<string, unknown>,
): ServiceCalls<Client> {
  return async (what, signal, work) => {
    try {
      return await untilAborted(async () => work(await open(signal)), signal);
    } catch (error) {
      throw toStoreFailure(explain(error, what), { store, what, signal }, detailsOf?.(error));
    }
  };
}

/** Returns the object that a client looks up; `undefined` for an error that means that it is missing. */
export async function findIfPresent<Found>(
  find: () => Promise<Found>,
  isMissing: (error: unknown) => boolean,
): Promise<Found | undefined> {
  try {
    return await find();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Returns the handler of a failed import of a client. Bundlers accept a missing package only where `catch` follows its import. */
export function clientMissing(store: string, packages: string): (cause: unknown) => never {
  return (cause) => {
    throw new QuiverError('VECTOR_CLIENT_MISSING', `${store} needs its client: npm install ${packages}`, { cause });
  };
}
