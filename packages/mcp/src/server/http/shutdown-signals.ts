/** Signals that may end a server. */
export const shutdownSignals = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGBREAK', 'SIGUSR2'] as const;

export type ShutdownSignal = (typeof shutdownSignals)[number];

/**
 * Calls back at the first of some signals. After it the signals have their usual effect, so that a second one ends the process at once.
 *
 * @returns a function that removes the handlers
 */
export function onShutdownSignal(signals: readonly ShutdownSignal[], callback: () => void): () => void {
  const { process } = globalThis;
  const remove = (): void => {
    for (const signal of signals) process.off(signal, onSignal);
  };
  const onSignal = (): void => {
    remove();
    callback();
  };
  for (const signal of signals) process.on(signal, onSignal);
  return remove;
}
