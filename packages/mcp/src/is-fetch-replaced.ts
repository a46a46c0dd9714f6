const builtInFetch: unknown = globalThis.fetch;
const dispatcher = Symbol.for('undici.globalDispatcher.1');

/** Tells whether the application wants requests to go another way than the platform's, such as through a proxy. */
export function isFetchReplaced(): boolean {
  if (globalThis.fetch !== builtInFetch) return true;
  const current = (globalThis as { [dispatcher]?: object })[dispatcher];
  return current !== undefined && current.constructor.name !== 'Agent';
}
