import { isObject } from './json-rpc.js';

const texts: ReadonlySet<string> = new Set(['name', 'version', 'title', 'description']);

/** Tells whether a client or a server names itself with texts alone. The SDK knows what else there may be. */
export function isPlainIdentity(value: unknown): boolean {
  if (!isObject(value) || typeof value['name'] !== 'string' || typeof value['version'] !== 'string') return false;
  for (const key in value) if (!texts.has(key) || typeof value[key] !== 'string') return false;
  return true;
}
