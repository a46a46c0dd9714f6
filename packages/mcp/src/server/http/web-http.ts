import type { McpAuthInfo } from '@quiver/core/tools';
import { headOfWeb, type RequestHead } from '../../auth/server/request-head.js';
import { parseJsonText } from '../../protocol/json-rpc.js';
import type { ToolAccessCarrier, ToolAccessCheck } from '../../tool-access.js';
import { toAuthInfo, toolAccessOf } from '../caller.js';
import { MAX_BUFFERED_BYTES } from '../limits.js';
import { bodyTooLarge } from './guard.js';
import { bodyAlreadyRead, type EventSink, type HttpReply, type HttpRequest } from './message.js';

/** A request of the web platform: Hono, Next, Deno, Bun, Workers. */
export class WebRequest implements HttpRequest {
  readonly repeatsHost: boolean = false;
  readonly remoteAddress: undefined = undefined;
  authInfo: (McpAuthInfo & ToolAccessCarrier) | undefined;
  readonly #request: Request & ToolAccessCarrier;

  constructor(request: Request, auth: unknown) {
    this.#request = request;
    this.authInfo = toAuthInfo(auth);
  }

  get head(): RequestHead {
    return headOfWeb(this.#request);
  }

  get method(): string {
    return this.#request.method;
  }

  header(name: string): string | undefined {
    const value = this.#request.headers.get(name);
    if (value !== null) return value;
    // A `Request` made in the program has no Host header; the URL says the same.
    return name === 'host' ? new URL(this.#request.url).host : undefined;
  }

  get toolAccess(): ToolAccessCheck | undefined {
    return toolAccessOf(this.#request, this.authInfo);
  }

  get headers(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#request.headers);
  }

  /** The interface of a request is unknown. Over https, DNS rebinding fails at the certificate. */
  get isRebindable(): boolean {
    return !this.#request.url.startsWith('https:');
  }

  async readJson(maxBytes: number): Promise<unknown> {
    if (Number(this.header('content-length')) > maxBytes) throw bodyTooLarge(maxBytes);
    const { body, bodyUsed } = this.#request;
    if (bodyUsed) throw bodyAlreadyRead();
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let length = 0;
    for await (const chunk of body ?? []) {
      length += chunk.length;
      if (length > maxBytes) throw bodyTooLarge(maxBytes);
      chunks.push(chunk);
    }
    const bytes = joinBytes(chunks);
    return parseJsonText(decoder.decode(bytes), bytes);
  }
}

/** A byte order mark stays: {@link parseJsonText} treats it alike for all transports. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

function joinBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}

const encoder = new TextEncoder();

/** Makes a `Response`, whole or with a stream as its body. */
export class WebReply implements HttpReply, EventSink {
  readonly response: Promise<Response>;
  readonly #request: Request;
  #respond: ((response: Response) => void) | undefined;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #onClose: (() => void)[] = [];
  #addedHeaders: Readonly<Record<string, string>> | undefined;

  constructor(request: Request) {
    this.#request = request;
    this.response = new Promise((resolve) => {
      this.#respond = resolve;
    });
  }

  send(status: number, headers: Readonly<Record<string, string>>, body?: string | readonly Uint8Array[]): void {
    const whole = typeof body === 'object' ? joinBytes(body) : (body ?? null);
    this.#respond?.(new Response(whole, { status, headers: { ...headers, ...this.#addedHeaders } }));
    this.#respond = undefined;
  }

  stream(headers: Readonly<Record<string, string>>): EventSink {
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        cancel: () => this.#close(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: MAX_BUFFERED_BYTES }),
    );
    this.#respond?.(new Response(body, { headers: { ...headers, ...this.#addedHeaders } }));
    this.#respond = undefined;
    if (this.#request.signal.aborted) this.#abort();
    return this;
  }

  addHeaders(headers: Readonly<Record<string, string>>): void {
    this.#addedHeaders = { ...this.#addedHeaders, ...headers };
  }

  endConnection(): void {
    this.addHeaders({ connection: 'close' });
  }

  onClose(callback: () => void): void {
    const { signal } = this.#request;
    if (signal.aborted) return queueMicrotask(callback);
    // Later: Deno cancels the body after the signal, and logs a body that fails before.
    const onAbort = (): void => queueMicrotask(() => this.#abort());
    if (this.#onClose.length === 0) signal.addEventListener('abort', onAbort, { once: true });
    this.#onClose.push(callback);
  }

  write(text: string): void {
    const controller = this.#controller;
    if (!controller) return;
    // Asked before, not after: a single message may be longer than all that may wait.
    if ((controller.desiredSize ?? 0) > 0) return controller.enqueue(encoder.encode(text));
    controller.error(new Error('The reader of this event stream does not keep up.'));
    this.#close();
  }

  end(): void {
    this.#controller?.close();
    this.#close();
  }

  #abort(): void {
    this.#controller?.error(this.#request.signal.reason);
    this.#close();
  }

  #close(): void {
    this.#controller = undefined;
    for (const callback of this.#onClose.splice(0)) callback();
  }
}
