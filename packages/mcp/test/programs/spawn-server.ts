import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** The command line that runs a server of this folder from source. */
export function commandFor(
  server:
    | 'stdio-server.ts'
    | 'draining-server.ts'
    | 'full-stdio-server.ts'
    | 'host.ts'
    | 'http-server.ts'
    | 'lifetime-server.ts'
    | 'sdk1-server.ts'
    | 'shared-task-server.ts'
    | 'starting-host.ts'
    | 'task-program.ts'
    | 'task-server.ts',
  ...args: string[]
): { command: string; args: string[] } {
  return {
    command: process.execPath,
    args: [
      '--conditions=@quiver/source',
      '--import',
      file('../../../../scripts/source-hooks.mjs'),
      file(server),
      ...args,
    ],
  };
}

export interface SpawnedServer {
  readonly url: string;
  readonly port: number;
  readonly child: ChildProcess;
  stop(): Promise<void>;
}

/** Starts a server that prints its URL, in a separate process. */
export async function spawnHttpServer(
  server: 'draining-server.ts' | 'http-server.ts' | 'sdk1-server.ts' | 'shared-task-server.ts' | 'task-server.ts',
  ...args: string[]
): Promise<SpawnedServer> {
  const { command, args: argv } = commandFor(server, ...args);
  const child = spawn(command, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`${server} exited with code ${code}`)));
  const [chunk] = (await Promise.race([once(child.stdout, 'data'), failed])) as [Buffer];
  failed.catch(() => {});
  const url = chunk.toString('utf8').trim();
  return {
    url,
    port: Number(new URL(url).port),
    child,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
