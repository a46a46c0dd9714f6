import { setTimeout } from 'node:timers/promises';
import { kinds, type Connect, type TrialClient } from './clients.ts';

const weatherUri = 'weather://oslo';

/** Repeated work of the clients of a kind. With two subscribers they are 16. */
const roles = {
  short: { clients: 6, tool: 'work', steps: 1 },
  slow: { clients: 3, tool: 'work', steps: 1 },
  progress: { clients: 2, tool: 'work', steps: 5 },
  order: { clients: 2, tool: 'order', steps: 1 },
  report: { clients: 1, tool: 'report', steps: 1 },
} as const;
const subscribers = 2;
type Role = keyof typeof roles;

/** A tool call of a client. */
export interface Call {
  readonly id: string;
  readonly kind: string;
  readonly role: Role;
  readonly begin: number;
  end?: number;
  error?: Error;
  /** Whether it failed because its process was killed. */
  isKilled?: boolean;
  /** Number of times that the user was asked. */
  questions: number;
}

/** A client that is subscribed to the weather. */
export interface Watcher {
  readonly kind: string;
  /** Number of the newest change that it knows. */
  known: number;
}

/** Clients that use the server until they are stopped. */
export class Load {
  readonly calls: Call[] = [];
  readonly watchers: Watcher[] = [];
  readonly #url: URL;
  /** Milliseconds of a slow call, and of a user who thinks about an answer. */
  readonly #callTime: number;
  readonly #clients: TrialClient[] = [];
  readonly #loops: Promise<void>[] = [];
  #isStopped = false;

  constructor(url: string, callTime: number) {
    this.#url = new URL(url);
    this.#callTime = callTime;
  }

  async start(): Promise<void> {
    for (const [kind, connect] of kinds) {
      for (const [role, { clients }] of Object.entries(roles))
        for (let count = 0; count < clients; count += 1) await this.#startCaller(kind, connect, role as Role);
      for (let count = 0; count < subscribers; count += 1) await this.#startWatcher(kind, connect);
    }
  }

  /** Changes the resource that the watchers are subscribed to. */
  async setWeather(change: number): Promise<void> {
    await this.#clients[0]?.call('setWeather', { weather: `${change}` });
  }

  /** Lets the calls end, then disconnects. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#loops);
    await Promise.allSettled(this.#clients.map((client) => client.close()));
  }

  async #startCaller(kind: string, connect: Connect, role: Role): Promise<void> {
    let current: Call | undefined;
    const answer = async (): Promise<number> => {
      if (current) current.questions += 1;
      await setTimeout(this.#callTime / 2);
      return 3;
    };
    const client = await connect(this.#url, answer, 12_000 + 3 * this.#callTime);
    this.#clients.push(client);
    const repeat = async (): Promise<void> => {
      while (!this.#isStopped) {
        current = { id: crypto.randomUUID(), kind, role, begin: performance.now(), questions: 0 };
        this.calls.push(current);
        try {
          await this.#call(client, current);
        } catch (error) {
          current.error = error as Error;
        }
        current.end = performance.now();
        await setTimeout(100);
      }
    };
    this.#loops.push(repeat());
  }

  /** @throws for a wrong result, and for missing progress */
  async #call(client: TrialClient, { id, role }: Call): Promise<void> {
    const { tool, steps } = roles[role];
    const milliseconds = role === 'short' ? 0 : this.#callTime;
    let progress = 0;
    const text = await client.call(tool, { id, milliseconds, steps }, () => void (progress += 1));
    if (text !== `done: ${id}`) throw new Error(`The result is '${text}'.`);
    if (steps > 1 && progress !== steps) throw new Error(`${progress} of ${steps} progress notifications arrived.`);
  }

  async #startWatcher(kind: string, connect: Connect): Promise<void> {
    const client = await connect(this.#url, async () => 0, 12_000);
    this.#clients.push(client);
    const watcher: Watcher = { kind, known: 0 };
    this.watchers.push(watcher);
    const read = async (): Promise<void> => {
      const text = await client.read(weatherUri);
      watcher.known = Math.max(watcher.known, Number(text));
    };
    // A later change is another occasion.
    await client.watch(weatherUri, () => void read().catch(() => {}));
  }
}
