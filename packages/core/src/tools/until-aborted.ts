/** Stops waiting as soon as the signal fires; what runs has the same signal and stops on its own. */
export function untilAborted<Value>(running: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (!signal) return running;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    const stopListening = (): void => signal.removeEventListener('abort', onAbort);
    signal.addEventListener('abort', onAbort);
    // One chained promise, not two: every call of a server comes through here.
    running.then(
      (value) => (stopListening(), resolve(value)),
      (error: Error) => (stopListening(), reject(error)),
    );
    if (signal.aborted) onAbort();
  });
}
