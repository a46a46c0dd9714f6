// No import of a Node module: `MCPServer` runs on platforms without processes.

/** A child of this process, which ends with it. */
export interface OwnedChild {
  /** Ends the child, and gives it time for it. */
  close(): Promise<void>;
  /** Ends the child at once. */
  abort(): void;
}

/** The children of this process. One listener per signal serves all, and none stays without children. */
const children = new Set<OwnedChild>();
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Ends the child when this process ends, except by SIGKILL.
 *
 * @returns a function that ends the registration
 */
export function registerChild(child: OwnedChild): () => void {
  const { process } = globalThis;
  if (children.size === 0) {
    process.on('exit', killAll);
    // First: a handler that the application has set by `once()` is gone when it runs.
    for (const signal of signals) process.prependListener(signal, passOn);
  }
  children.add(child);
  return () => {
    if (!children.delete(child) || children.size > 0) return;
    process.off('exit', killAll);
    for (const signal of signals) process.off(signal, passOn);
  };
}

/** Ends all children of this process. Settles when they have ended. */
export async function endChildren(): Promise<void> {
  await Promise.all(Array.from(children, (child) => child.close()));
}

/** Children lead their own process groups, so no signal of a terminal reaches them. */
function passOn(signal: NodeJS.Signals): void {
  const { process } = globalThis;
  // An application that listens too decides whether the process ends.
  if (process.listenerCount(signal) > 1) return;
  killAll();
  process.off(signal, passOn);
  process.kill(process.pid, signal);
}

function killAll(): void {
  for (const child of children) child.abort();
}
