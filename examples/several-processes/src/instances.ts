import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { SharedStore } from '@quiver/mcp';
import { shareStore } from './store-of-parent.ts';

export interface InstanceOptions {
  readonly storeUrl: string;
  readonly storeName: string;
  readonly sharedStore: SharedStore;
  /** Milliseconds in which the process still accepts requests after `SIGTERM`. */
  readonly drainDelay: number;
}

/** A process of the server, at a port that it keeps across restarts. */
export class Instance {
  readonly name: string;
  readonly port: number;
  readonly #options: InstanceOptions;
  #process: ChildProcess | undefined;

  constructor(name: string, port: number, options: InstanceOptions) {
    this.name = name;
    this.port = port;
    this.#options = options;
  }

  /** Starts the process, and waits until it is healthy. */
  async start(): Promise<void> {
    const { storeUrl, storeName, sharedStore, drainDelay } = this.#options;
    const env = {
      ...process.env,
      INSTANCE: this.name,
      PORT: `${this.port}`,
      STORE_URL: storeUrl,
      STORE_NAME: storeName,
      DRAIN_DELAY: `${drainDelay}`,
    };
    const child = fork(fileURLToPath(new URL('./instance.ts', import.meta.url)), { env });
    this.#process = child;
    if (storeUrl === 'memory') shareStore(sharedStore, child);
    while (!(await this.#isHealthy())) {
      if (child.exitCode !== null) throw new Error(`Process ${this.name} ended with ${child.exitCode} at its start.`);
      await setTimeout(50);
    }
  }

  async #isHealthy(): Promise<boolean> {
    const health = fetch(`http://127.0.0.1:${this.port}/health`);
    return health.then(
      ({ ok }) => ok,
      () => false,
    );
  }

  /** Ends the process. Returns its exit code, `null` after `SIGKILL`. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    child.kill(signal);
    const [code] = (await once(child, 'exit')) as [number | null];
    return code;
  }
}

/** Returns a free port that the system does not use for outgoing connections: an instance must get it again after a restart. */
export async function findPort(): Promise<number> {
  const port = 20_000 + Math.floor(Math.random() * 12_000);
  const server = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
  return isFree ? port : findPort();
}
