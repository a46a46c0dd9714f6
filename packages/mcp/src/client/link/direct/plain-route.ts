import process from 'node:process';
import type { HttpServerDefinition } from '../../definition/server-definition.js';

/** Where requests go over plain HTTP, and what the application wants in their headers. */
export interface PlainRoute {
  readonly url: URL;
  /** Those of the definition. */
  readonly headers: HttpServerDefinition['headers'];
  /** Those of `requestInit`, by lower-case name. */
  readonly requestHeaders: Readonly<Record<string, string>>;
}

/**
 * The way past the SDK, for servers behind plain HTTP.
 *
 * @returns `undefined` where requests have to go through the SDK or the application: an own `fetch`, a sign-in, unusual settings
 */
export function findPlainRoute(
  { fetch, authProvider, requestInit = {}, headers }: HttpServerDefinition,
  url: URL,
): PlainRoute | undefined {
  if (typeof process === 'undefined' || process.versions?.node === undefined) return undefined;
  const { headers: init, ...otherInit } = requestInit;
  const requestHeaders = init === undefined ? {} : Object.fromEntries(new Headers(init));
  if (fetch || authProvider || Object.keys(otherInit).length > 0) return undefined;
  if ('accept' in requestHeaders || 'mcp-session-id' in requestHeaders) return undefined;
  if (url.username !== '' || url.password !== '') return undefined;
  return { url, headers, requestHeaders };
}
