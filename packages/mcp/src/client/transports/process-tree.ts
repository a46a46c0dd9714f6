import type { ChildProcess } from 'node:child_process';
import process from 'node:process';

const children = new Set<ChildProcess>();
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Ends the child together with this process, however it ends short of SIGKILL. One listener each serves all children, and none
 * stays when there are no children.
 */
export function registerChild(child: ChildProcess): () => void {
  if (children.size === 0) {
    process.on('exit', killAll);
    for (const signal of signals) process.on(signal, passOn);
  }
  children.add(child);
  return () => {
    if (!children.delete(child) || children.size > 0) return;
    process.off('exit', killAll);
    for (const signal of signals) process.off(signal, passOn);
  };
}

/** Children are in process groups of their own, so no signal of a terminal reaches them. */
function passOn(signal: NodeJS.Signals): void {
  const isOurs = process.listenerCount(signal) === 1;
  // Where the application listens too, it decides whether the process ends.
  if (!isOurs) return;
  killAll();
  process.off(signal, passOn);
  process.kill(process.pid, signal);
}

function killAll(): void {
  for (const child of children) killTree(child, 'SIGKILL');
}

/** Signals a child's process group: the child, and what it started. */
export function killTree(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // Nobody is left in the group.
  }
}
