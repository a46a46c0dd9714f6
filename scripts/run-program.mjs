// Plain JavaScript without dependencies, because `bootstrap.mjs` runs before anything is installed.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';

const parentCheckInterval = 500;

/** Runs a program with the streams of this process, and passes signals on to it. Returns its exit code. */
export async function runProgram(command, commandArguments, options = {}) {
  const child = spawn(command, commandArguments, { stdio: 'inherit', ...options });
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'];
  const pass = (signal) => {
    // A terminal sends SIGINT to every process of the group.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  };
  for (const signal of signals) process.on(signal, pass);
  const parents = findParents();
  const parentCheck = setInterval(() => {
    if (!parents.every(isRunning)) child.kill();
  }, parentCheckInterval);
  const [code, signal] = await once(child, 'exit');
  clearInterval(parentCheck);
  for (const name of signals) process.off(name, pass);
  return code ?? 128 + constants.signals[signal];
}

/** npm and pnpm send their signals to a shell, which ends without passing them on. The file `node` of pnpm is a second shell in between. */
function findParents() {
  const { ppid, env, platform } = process;
  if (env.npm_lifecycle_event === undefined || platform === 'win32') return [];
  try {
    return [ppid, Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(ppid)], { encoding: 'utf8' }))];
  } catch {
    return [ppid];
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
