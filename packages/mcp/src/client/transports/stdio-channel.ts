import { spawnSync, type ChildProcess } from 'node:child_process';
import { basename } from 'node:path';
import { QuiverError, toErrorMessage, withinTime } from '@quiver/core';
import spawn from 'cross-spawn';
import { registerChild } from '../../child-processes.js';
import { createLineReader } from '../../line-reader.js';
import type { StdioServerDefinition } from '../config/server-definition.js';
import { ConnectionLostError, type Channel, type OutgoingMessage, type Receiver } from './channel.js';

/** The longest message: 10 MiB. */
const maxMessageBytes = 10 * 1024 * 1024;
/** Characters of standard error that are kept from the beginning, where the first error is, and from the end. */
const keptStderr = 4 * 1024;
/** Milliseconds for output that a child left in the pipe. Its own children may hold the pipe open indefinitely. */
const drainTime = 100;
const exitGrace = 2000;

/** Child process that serves MCP on its standard streams. It leads a process group, so that its children end with it. */
export class StdioChannel implements Channel {
  readonly kind = 'stdio' as const;
  ending: string | undefined;
  strayOutput = '';
  /** Standard error of the child; of a long text the beginning and the end. */
  stderr = '';
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
      // `setsid` makes a separate group: as the leader of one, it would start the server in another process and end.
      detached: process.platform !== 'win32' && basename(command) !== 'setsid',
      ...(cwd !== undefined && { cwd }),
    });
    this.#child = child;
    this.#watch(child);
    // At once: this process may end before the child reports that it runs.
    if (child.pid !== undefined) this.#unregister = registerChild(this);
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
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
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      const all = this.stderr + text;
      const isLong = all.length > 2 * keptStderr;
      this.stderr = isLong ? `${all.slice(0, keptStderr)}\n…\n${all.slice(-keptStderr)}` : all;
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
      this.strayOutput = `${this.strayOutput}${line}\n`.slice(0, keptStderr);
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

/**
 * Ends a child and what it started: by a signal to its process group; by `taskkill` on Windows, where the child may be the interpreter of a
 * `.cmd` file, whose end leaves the program running. Synchronous, for the exit of this process.
 */
function killTree(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
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
