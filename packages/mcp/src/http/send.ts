import { getDefaultLogger } from '@quiver/core';
import type { AnyRequestContext } from '@quiver/core/tools';

/** The longest response body, and the longest event of a stream: 64 Mi characters. */
export const maxResponseLength: number = 64 * 1024 * 1024;

/** One HTTP request. A wrapper of a {@link Send} may change `headers`, and passes on the same object, so that `cancel` reaches the socket. */
export class HttpCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Headers by lower-case name. */
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
  /** Request context of the call that the request belongs to. Requests of the connection itself have none. */
  readonly requestContext: AnyRequestContext | undefined;
  isCanceled = false;
  #end: (() => void) | undefined;

  constructor(
    method: HttpCall['method'],
    headers: Record<string, string>,
    body?: string,
    requestContext?: AnyRequestContext,
  ) {
    this.method = method;
    this.headers = headers;
    this.body = body;
    this.requestContext = requestContext;
  }

  /** @param end - ends the request, also while its response is read */
  onCancel(end: () => void): void {
    this.#end = end;
  }

  cancel(): void {
    this.isCanceled = true;
    this.#end?.();
  }
}

/** The part of a response that the client reads. Exactly one of `text`, `read` and `discard` is called. */
export abstract class HttpResponse {
  abstract readonly status: number;
  /** Returns a header by its lower-case name. */
  abstract header(name: string): string | undefined;
  /** Passes on the body as it arrives, and resolves at its end. @throws what `onText` throws, `TypeError` when the body breaks off */
  abstract read(onText: (text: string) => void): Promise<void>;
  abstract discard(): void;

  /** Reads the whole body. @throws `TypeError` when the body breaks off or exceeds {@link maxResponseLength} */
  async text(): Promise<string> {
    let text = '';
    await this.read((part) => {
      text += part;
      if (text.length > maxResponseLength) throw tooLong();
    });
    return text;
  }
}

/**
 * Sends one HTTP request and resolves with the head of its response. Narrower than `fetch`: text bodies only, no redirects, no
 * second attempt, and neither `Headers` nor `Response` nor `AbortSignal`, which cost more than the rest of a call.
 *
 * @throws `TypeError` for network errors, as `fetch` does
 */
export type Send = (url: URL, call: HttpCall) => Promise<HttpResponse>;

/** As much of `fetch` as is used. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** `fetch` with the request context of the call that it belongs to. */
export type ContextualFetch = (
  url: string | URL,
  init?: RequestInit,
  requestContext?: AnyRequestContext,
) => Promise<Response>;

/**
 * Returns a {@link Send} over a `fetch`.
 *
 * @param init - further settings of every request
 */
export function fromFetch(fetch: ContextualFetch, init: RequestInit = {}): Send {
  return async (url, call) => {
    const controller = new AbortController();
    call.onCancel(() => controller.abort());
    const { method, body, requestContext } = call;
    const response = await fetch(
      url,
      {
        redirect: 'manual',
        ...init,
        method,
        headers: toSpreadable(call.headers),
        ...(body !== undefined && { body }),
        signal: controller.signal,
      },
      requestContext,
    );
    return new FetchResponse(response);
  };
}

const oauthHeaders = ['content-type', 'www-authenticate', 'dpop-nonce', 'location', 'retry-after'];

/** Returns a `fetch` over a {@link Send}. Its responses have the headers that OAuth needs. */
export function toFetch(send: Send): Fetch {
  return async (url, init) => {
    const request = new Request(url, init);
    const text = request.body ? await request.text() : undefined;
    const call = new HttpCall(request.method as HttpCall['method'], Object.fromEntries(request.headers), text);
    // Not `request.signal`: it no longer follows the given one when the request is collected as garbage, while the body is read.
    const signal = init?.signal;
    signal?.throwIfAborted();
    signal?.addEventListener('abort', () => call.cancel(), { once: true });
    const response = await send(new URL(url), call);
    const headers = new Headers();
    for (const name of oauthHeaders) {
      const value = response.header(name);
      if (value !== undefined) headers.set(name, value);
    }
    const encoder = new TextEncoder();
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        response
          .read((part) => controller.enqueue(encoder.encode(part)))
          .then(() => controller.close())
          .catch((error: unknown) => controller.error(error));
      },
      cancel: () => call.cancel(),
    });
    const { status } = response;
    return new Response([204, 205, 304].includes(status) ? null : body, { status, headers });
  };
}

/** A custom `fetch` may read headers with `get`, change them with `set`, or spread them, which yields nothing with plain `Headers`. */
function toSpreadable(headers: Record<string, string>): Headers {
  return Object.assign(new Headers(headers), headers);
}

class FetchResponse extends HttpResponse {
  readonly status: number;
  readonly #response: Response;

  constructor(response: Response) {
    super();
    this.status = response.status;
    this.#response = response;
  }

  header(name: string): string | undefined {
    return this.#response.headers.get(name) ?? undefined;
  }

  override text(): Promise<string> {
    // A declared length needs no counting, which costs a third of a small response. The length of a compressed body is not its own.
    const { headers } = this.#response;
    const length = headers.has('content-encoding') ? null : headers.get('content-length');
    return length !== null && Number(length) <= maxResponseLength ? this.#response.text() : super.text();
  }

  async read(onText: (text: string) => void): Promise<void> {
    const { body } = this.#response;
    if (!body) return;
    const decoder = new TextDecoder();
    const parts = body[Symbol.asyncIterator]();
    for (let part = await parts.next(); !part.done; part = await parts.next()) {
      try {
        onText(decoder.decode(part.value, { stream: true }));
      } catch (error) {
        // Cancels the body without waiting for it, because the body of a custom `fetch` may never be canceled.
        parts.return?.().catch(() => {});
        throw error;
      }
    }
  }

  discard(): void {
    this.#response.body?.cancel().catch(() => {});
  }
}

/** Whether a function is the `fetch` of Node, by function. Its entries end with their functions. */
const builtInFetches = new WeakMap<object, boolean>();

/**
 * Returns whether a function is the `fetch` of Node. Its source names the module behind it: a comparison with the `fetch` at import would
 * depend on the order in which the application loads this package and what replaces `fetch`.
 */
function isBuiltIn(fetch: typeof globalThis.fetch): boolean {
  const known = builtInFetches.get(fetch);
  if (known !== undefined) return known;
  const isBuiltInFetch = Function.prototype.toString.call(fetch).includes("require('internal/deps/undici/undici')");
  builtInFetches.set(fetch, isBuiltInFetch);
  // Also if a later Node names the module otherwise: then requests still arrive, at three times the CPU.
  if (!isBuiltInFetch)
    getDefaultLogger().debug(
      'The global `fetch` is not the one of Node.js: the requests of MCP clients go through it.',
    );
  return isBuiltInFetch;
}

const dispatcher = Symbol.for('undici.globalDispatcher.1');

/** Returns whether the application replaced the global `fetch`, or the dispatcher behind it, for example with a proxy. */
export function isFetchReplaced(): boolean {
  if (!isBuiltIn(globalThis.fetch)) return true;
  const current = (globalThis as { [dispatcher]?: object })[dispatcher];
  return current !== undefined && current.constructor.name !== 'Agent';
}

export function tooLong(): TypeError {
  return new TypeError(`the response is longer than ${maxResponseLength} characters`);
}

/** Returns the media type of a response without its parameters, in lower case. */
export function mediaTypeOf(response: HttpResponse): string {
  const type = response.header('content-type') ?? '';
  const end = type.indexOf(';');
  return (end === -1 ? type : type.slice(0, end)).trim().toLowerCase();
}
