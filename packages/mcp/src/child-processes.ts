// No import of a Node module: `MCPServer` runs on platforms without processes.
import type { ChildProcess } from 'node:child_process';

/** The children of this process, with the functions that end them. One listener per signal serves all, and none stays without children. */
const children = new Map<ChildProcess, () => Promise<void>>();
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Ends the child when this process ends, except by SIGKILL.
 *
 * @param end - ends the child and gives it time for it
 * @returns a function that ends the registration
 */
export function registerChild(child: ChildProcess, end: () => Promise<void>): () => void {
  const { process } = globalThis;
  if (children.size === 0) {
    process.on('exit', killAll);
    for (const signal of signals) process.on(signal, passOn);
  }
  children.set(child, end);
  return () => {
    if (!children.delete(child) || children.size > 0) return;
    process.off('exit', killAll);
    for (const signal of signals) process.off(signal, passOn);
  };
}

/** Ends all children of this process. Settles when they have ended. */
export async function endChildren(): Promise<void> {
  await Promise.all([...children.values()].map((end) => end()));
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
  for (const child of children.keys()) killTree(child, 'SIGKILL');
}

/** Signals a child's process group: the child, and what it started. */
export function killTree(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  const { process } = globalThis;
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // The group is empty.
  }
}
