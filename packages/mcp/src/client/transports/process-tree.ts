import type { ChildProcess } from 'node:child_process';
import process from 'node:process';

const children = new Set<ChildProcess>();

/** Ends the child together with this process, however it ends short of SIGKILL. One listener serves all children. */
export function registerChild(child: ChildProcess): () => void {
  if (children.size === 0) process.on('exit', killAll);
  children.add(child);
  return () => {
    children.delete(child);
    if (children.size === 0) process.off('exit', killAll);
  };
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
