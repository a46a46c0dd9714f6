import type { ChildProcess } from 'node:child_process';
import process from 'node:process';
import { QuiverError, toErrorMessage, withinTime } from '@quiver/core';
import spawn from 'cross-spawn';
import { createLineReader } from '../../line-reader.js';
import type { StdioServerDefinition } from '../config/server-definition.js';
import { ConnectionLostError, type Channel, type OutgoingMessage, type Receiver } from './channel.js';

/** The longest message: 10 MiB. */
const maxMessageBytes = 10 * 1024 * 1024;
const keptStderrBytes = 4 * 1024;
/** Milliseconds for output that a child left in the pipe. Its own children may hold the pipe open indefinitely. */
const drainTime = 100;
const exitGrace = 2000;

/** Child process that serves MCP on its standard streams. It leads a process group, so that its children end with it. */
export class StdioChannel implements Channel {
  readonly kind = 'stdio' as const;
  ending: string | undefined;
  stderrTail = '';
  readonly #definition: StdioServerDefinition;
  #receiver: Receiver | undefined;
  #child: ChildProcess | undefined;
  #unregister: (() => void) | undefined;
  #exited: Promise<void> | undefined;
  #outbox = '';

  constructor(definition: StdioServerDefinition) {
    this.#definition = definition;
  }

  /** Starts the child. @throws `SPAWN_FAILED` when the program cannot be started */
  async start(receiver: Receiver): Promise<void> {
    this.#receiver = receiver;
    const { command, args = [], env, inheritDefaultEnv = true, cwd, stderr = 'pipe' } = this.#definition;
    // Resolves `.cmd` and `.bat` files on Windows, and escapes their arguments.
    const child = spawn(command, args, {
      env: inheritDefaultEnv ? createChildEnvironment(env) : { ...env },
      stdio: ['pipe', 'pipe', stderr],
      shell: false,
      windowsHide: true,
      detached: process.platform !== 'win32',
      ...(cwd !== undefined && { cwd }),
    });
    this.#child = child;
    this.#watch(child);
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', () => {
        this.#unregister = registerChild(child);
        resolve();
      });
      child.once('error', (error) => {
        const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
        const split = /\s/.test(command) ? ' `command` is the program alone: its arguments belong in `args`.' : '';
        const hint = isMissing ? ` Check \`command\`, \`cwd\` and PATH.${split}` : '';
        const message = `The program '${command}' could not be started: ${toErrorMessage(error)}.${hint}`;
        reject(new QuiverError('SPAWN_FAILED', message, { cause: error }));
      });
    });
  }

  /** @throws `MCP_CONNECTION_CLOSED` when the child has ended */
  send(message: OutgoingMessage): undefined {
    if (!this.#child?.stdin?.writable)
      throw new QuiverError('MCP_CONNECTION_CLOSED', `The server's process ${this.ending ?? 'is not running'}.`);
    // One write for all messages of a turn: 16 writes cost as much as the rest of 16 calls.
    if (this.#outbox === '') process.nextTick(() => this.#flush());
    this.#outbox += `${JSON.stringify(message)}\n`;
  }

  /** Closes the child's input, which asks it to end; then SIGTERM, then SIGKILL, two seconds apart, to it and its children. */
  async close(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    this.#flush();
    child.stdin?.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await this.#exitsWithin(exitGrace)) break;
      killTree(child, signal);
    }
    await this.#exited;
    // Children that the child left behind.
    killTree(child, 'SIGKILL');
    this.#finish();
  }

  /** Ends the child at once. */
  abort(): void {
    if (this.#child) killTree(this.#child, 'SIGKILL');
  }

  #flush(): void {
    const text = this.#outbox;
    this.#outbox = '';
    if (text !== '' && this.#child?.stdin?.writable) this.#child.stdin.write(text);
  }

  #watch(child: ChildProcess): void {
    child.stderr?.on('data', (chunk: Buffer) => {
      this.stderrTail = (this.stderrTail + chunk.toString('utf8')).slice(-keptStderrBytes);
    });
    // Writing to a child that has just ended is reported by its exit.
    child.stdin?.on('error', () => {});
    child.stdout?.on(
      'data',
      createLineReader({
        maxBytes: maxMessageBytes,
        onLine: (line) => this.#receive(line),
        onTooLong: () => {
          this.ending ??= `sent a message of more than ${maxMessageBytes} bytes`;
          killTree(child, 'SIGKILL');
        },
      }),
    );
    this.#exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.ending ??= signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
        resolve();
        const timer = setTimeout(() => this.#finish(), drainTime);
        child.once('close', () => {
          clearTimeout(timer);
          this.#finish();
        });
      });
      child.once('error', () => resolve());
    });
  }

  #receive(line: string): void {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      const text = `The server wrote a line that is not JSON to its standard output: ${line.slice(0, 200)}`;
      return this.#receiver?.onError(new QuiverError('STRAY_OUTPUT', text));
    }
    this.#receiver?.onMessage(message);
  }

  #finish(): void {
    if (!this.#child) return;
    this.#child.stdout?.removeAllListeners('data').destroy();
    this.#child = undefined;
    this.#unregister?.();
    this.#receiver?.onClosed(new ConnectionLostError(`the process ${this.ending ?? 'ended'}`));
  }

  #exitsWithin(milliseconds: number): Promise<boolean> {
    const exited = this.#exited ?? Promise.resolve();
    return withinTime(exited, milliseconds, () => new Error('late')).then(
      () => true,
      () => false,
    );
  }
}

/** Variables that programs need to start. Everything else of this process's environment, such as keys and tokens, stays here. */
const inherited =
  process.platform === 'win32'
    ? 'APPDATA HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PROCESSOR_ARCHITECTURE SYSTEMDRIVE SYSTEMROOT TEMP USERNAME USERPROFILE'
    : 'HOME LOGNAME PATH SHELL TERM USER';

function createChildEnvironment(given: Readonly<Record<string, string>> = {}): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of inherited.split(' ')) {
    const value = process.env[name];
    // Shells export functions this way; they are code.
    if (value !== undefined && !value.startsWith('()')) environment[name] = value;
  }
  return { ...environment, ...given };
}

/** The children of this process. One listener per signal serves all of them, and none stays when the set is empty. */
const children = new Set<ChildProcess>();
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Ends the child when this process ends, except by SIGKILL. @returns a function that ends the registration */
function registerChild(child: ChildProcess): () => void {
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

/** Children lead their own process groups, so no signal of a terminal reaches them. */
function passOn(signal: NodeJS.Signals): void {
  // An application that listens too decides whether the process ends.
  if (process.listenerCount(signal) > 1) return;
  killAll();
  process.off(signal, passOn);
  process.kill(process.pid, signal);
}

function killAll(): void {
  for (const child of children) killTree(child, 'SIGKILL');
}

/** Signals a child's process group: the child, and what it started. */
function killTree(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // The group is empty.
  }
}
