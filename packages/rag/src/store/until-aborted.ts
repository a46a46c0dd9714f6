/**
 * Starts something unless the signal has fired, and stops waiting for it when it does.
 *
 * @throws the reason of `signal`
 */
export async function untilAborted<Value>(
  start: () => Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  if (!signal) return start();
  signal.throwIfAborted();
  const running = start();
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort);
    // Starting it can have fired the signal, which nobody listened to then.
    if (signal.aborted) onAbort();
    running.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
