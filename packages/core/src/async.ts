/**
 * Starts an operation unless the signal is aborted, and stops waiting for it when the signal aborts. It does not cancel the
 * operation: pass the signal to the operation as well.
 *
 * @throws `signal.reason`
 */
export function untilAborted<Value>(start: () => Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (!signal) return start();
  if (signal.aborted) return Promise.reject(signal.reason as Error);
  const running = start();
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    const stopListening = (): void => signal.removeEventListener('abort', onAbort);
    signal.addEventListener('abort', onAbort);
    // One chained promise instead of two, because every call of a server runs this code.
    running.then(
      (value) => (stopListening(), resolve(value)),
      (error: Error) => (stopListening(), reject(error)),
    );
    // The operation may have aborted the signal synchronously.
    if (signal.aborted) onAbort();
  });
}

/**
 * Stops waiting for an operation after a time limit.
 *
 * @param milliseconds - `undefined` for no limit
 * @param toError - creates the error of an operation that takes longer
 */
export function withinTime<Value>(
  running: Promise<Value>,
  milliseconds: number | undefined,
  toError: (milliseconds: number) => Error,
): Promise<Value> {
  if (milliseconds === undefined) return running;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(toError(milliseconds)), milliseconds);
    running.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
