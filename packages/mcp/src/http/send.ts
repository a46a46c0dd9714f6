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
  /** Whether the caller has canceled the request. */
  isCanceled = false;
  /** Set by a {@link Send}: ends the request, also while its response is read. */
  onCancel: (() => void) | undefined;

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
    this.onCancel = undefined;
  }

  cancel(): void {
    this.isCanceled = true;
    this.onCancel?.();
  }
}

/** The part of a response that the client reads. Exactly one of `text`, `read` and `discard` is called. */
export interface HttpResponse {
  readonly status: number;
  /** Returns a header by its lower-case name. */
  header(name: string): string | undefined;
  /** Reads the whole body. @throws `TypeError` when the body breaks off or exceeds {@link maxResponseLength} */
  text(): Promise<string>;
  /** Passes on the body as it arrives, and resolves at its end. @throws what `onText` throws, `TypeError` when the body breaks off */
  read(onText: (text: string) => void): Promise<void>;
  /** Drops the body. */
  discard(): void;
}

/**
 * Sends one HTTP request and resolves with the head of its response. Narrower than `fetch`: text bodies only, no redirects, no
 * second attempt, and neither `Headers` nor `Response` nor `AbortSignal`, which cost more than the rest of a call.
 *
 * @throws `TypeError` for network errors, as `fetch` does
 */
export type Send = (url: URL, call: HttpCall) => Promise<HttpResponse>;

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
    call.onCancel = () => controller.abort();
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

/** Returns a `fetch` over a {@link Send}, for short texts: it reads the whole body and keeps the headers that OAuth needs. */
export function toFetch(send: Send): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init = {}) => {
    const { method = 'GET', headers, body, signal } = init;
    const text = body === undefined || body === null ? undefined : String(body as string | URLSearchParams);
    const call = new HttpCall(method as HttpCall['method'], Object.fromEntries(new Headers(headers)), text);
    if (body instanceof URLSearchParams)
      call.headers['content-type'] ??= 'application/x-www-form-urlencoded;charset=UTF-8';
    signal?.throwIfAborted();
    signal?.addEventListener('abort', () => call.cancel(), { once: true });
    const response = await send(new URL(url), call);
    const kept = new Headers();
    for (const name of ['content-type', 'www-authenticate', 'dpop-nonce', 'location', 'retry-after']) {
      const value = response.header(name);
      if (value !== undefined) kept.set(name, value);
    }
    const { status } = response;
    const content = await response.text();
    return new Response([204, 205, 304].includes(status) ? null : content, { status, headers: kept });
  };
}

/** A custom `fetch` may read headers with `get`, change them with `set`, or spread them, which yields nothing with plain `Headers`. */
function toSpreadable(headers: Record<string, string>): Headers {
  return Object.assign(new Headers(headers), headers);
}

class FetchResponse implements HttpResponse {
  readonly status: number;
  readonly #response: Response;

  constructor(response: Response) {
    this.status = response.status;
    this.#response = response;
  }

  header(name: string): string | undefined {
    return this.#response.headers.get(name) ?? undefined;
  }

  async text(): Promise<string> {
    // A declared length needs no counting, which costs a third of a small response. The length of a compressed body is not its own.
    const { headers } = this.#response;
    const length = headers.has('content-encoding') ? null : headers.get('content-length');
    if (length !== null && Number(length) <= maxResponseLength) return this.#response.text();
    const parts: string[] = [];
    let total = 0;
    await this.read((part) => {
      total += part.length;
      if (total > maxResponseLength) throw tooLong();
      parts.push(part);
    });
    return parts.join('');
  }

  async read(onText: (text: string) => void): Promise<void> {
    const { body } = this.#response;
    if (!body) return;
    const decoder = new TextDecoder();
    const reader = body.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        onText(decoder.decode(value, { stream: true }));
      }
    } catch (error) {
      reader.cancel().catch(() => {});
      throw error;
    }
  }

  discard(): void {
    this.#response.body?.cancel().catch(() => {});
  }
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
