import { spawn, type ChildProcess } from 'node:child_process';
import process from 'node:process';
import { QuiverError, toErrorMessage } from '@quiver/core';
import { createLineReader } from '../../../line-reader.js';
import type { JSONRPCMessage, Transport } from '../../../protocol/client-types.js';
import type { StdioServerDefinition } from '../../definition/server-definition.js';
import { createChildEnvironment } from './child-environment.js';
import { killTree, registerChild } from './process-tree.js';

/** The longest message that is read: 10 MiB. */
const maxMessageBytes = 10 * 1024 * 1024;
const keptStderrBytes = 4 * 1024;
/** A child that ended may have left output in the pipe; its own children may hold the pipe open for ever. */
const drainTime = 100;
const exitGrace = 2000;

/** Speaks to a server that runs as a child process, in a process group of its own so that its children end with it. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #definition: StdioServerDefinition;
  #child: ChildProcess | undefined;
  #spawned: Promise<void> | undefined;
  #unregister: (() => void) | undefined;
  #exited: Promise<void> | undefined;
  #stderr = '';
  #ending: string | undefined;

  constructor(definition: StdioServerDefinition) {
    this.#definition = definition;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** How the child ended, for error messages; `undefined` while it runs. */
  get ending(): string | undefined {
    return this.#ending;
  }

  /** The end of what the child wrote to its standard error. */
  get stderrTail(): string {
    return this.#stderr;
  }

  /**
   * Starts the child, which may take its time before anybody listens to it.
   *
   * @throws `SPAWN_FAILED` when the program cannot be started
   */
  spawn(): Promise<void> {
    this.#spawned ??= this.#spawn();
    return this.#spawned;
  }

  /** Starts the child, if that was not done, and listens to it. @throws as {@link spawn}; `MCP_CONNECTION_CLOSED` when it has ended */
  async start(): Promise<void> {
    await this.spawn();
    const child = this.#child;
    if (!child) throw this.#gone();
    child.stdout?.on(
      'data',
      createLineReader({
        maxBytes: maxMessageBytes,
        onLine: (line) => this.#receive(line),
        onTooLong: () => {
          this.#ending ??= `sent a message of more than ${maxMessageBytes} bytes`;
          killTree(child, 'SIGKILL');
        },
      }),
    );
  }

  #spawn(): Promise<void> {
    const { command, args = [], env, inheritDefaultEnv = true, cwd, stderr = 'pipe' } = this.#definition;
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
    return new Promise((resolve, reject) => {
      child.once('spawn', () => {
        this.#unregister = registerChild(child);
        resolve();
      });
      child.once('error', (error) => {
        this.#ending ??= toErrorMessage(error);
        reject(
          new QuiverError('SPAWN_FAILED', `Cannot start '${command}': ${toErrorMessage(error)}.`, { cause: error }),
        );
      });
    });
  }

  #watch(child: ChildProcess): void {
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-keptStderrBytes);
    });
    // Writing to a child that has just ended is reported by its exit.
    child.stdin?.on('error', () => {});
    this.#exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#ending ??= signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
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
      return this.onerror?.(
        new QuiverError(
          'STRAY_OUTPUT',
          `The server wrote a line that is not JSON to its standard output: ${line.slice(0, 200)}`,
        ),
      );
    }
    if (typeof message !== 'object' || message === null || !('jsonrpc' in message)) return;
    try {
      // The SDK checks the rest of the shape.
      this.onmessage?.(message as JSONRPCMessage);
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }

  #finish(): void {
    if (!this.#child) return;
    this.#child.stdout?.removeAllListeners('data').destroy();
    this.#child = undefined;
    this.#unregister?.();
    this.onclose?.();
  }

  /** @throws `MCP_CONNECTION_CLOSED` when the child is gone */
  async send(message: JSONRPCMessage): Promise<void> {
    if (this.write(JSON.stringify(message))) return;
    const stdin = this.#child?.stdin;
    await new Promise((resolve) => stdin?.once('drain', resolve).once('close', resolve));
  }

  /**
   * @param line - one message
   * @returns whether more may be written at once
   * @throws `MCP_CONNECTION_CLOSED` when the child is gone
   */
  write(line: string): boolean {
    const stdin = this.#child?.stdin;
    if (stdin?.writable) return stdin.write(`${line}\n`);
    throw this.#gone();
  }

  /** Closes the child's input, which asks it to end; then SIGTERM, then SIGKILL, two seconds apart, to it and its children. */
  async close(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    child.stdin?.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await this.#exitsWithin(exitGrace)) break;
      killTree(child, signal);
    }
    await this.#exited;
    // What the child itself started and left behind.
    killTree(child, 'SIGKILL');
    this.#finish();
  }

  /** Ends the child at once. */
  kill(): void {
    if (this.#child) killTree(this.#child, 'SIGKILL');
  }

  #gone(): QuiverError {
    return new QuiverError('MCP_CONNECTION_CLOSED', `The server's process ${this.#ending ?? 'is not running'}.`);
  }

  async #exitsWithin(milliseconds: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), milliseconds);
    });
    const result = await Promise.race([this.#exited?.then(() => true) ?? true, late]);
    clearTimeout(timer);
    return result;
  }
}
