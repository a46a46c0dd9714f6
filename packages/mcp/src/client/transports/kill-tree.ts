import { spawnSync, type ChildProcess } from 'node:child_process';

/**
 * Ends a child and what it started: by a signal to its process group; by `taskkill` on Windows, where the child may be the interpreter of a
 * `.cmd` file, whose end leaves the program running. Synchronous, for the exit of this process.
 */
export function killTree(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  const { pid, exitCode, signalCode } = child;
  if (pid === undefined) return;
  if (process.platform === 'win32') {
    // Another process may have the id of one that has ended.
    if (exitCode !== null || signalCode !== null) return;
    const options = { stdio: 'ignore', windowsHide: true } as const;
    if (spawnSync('taskkill', ['/pid', String(pid), '/T', '/F'], options).status !== 0) child.kill(signal);
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is empty.
  }
}
