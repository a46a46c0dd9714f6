import type { ServerEra } from './server-facts.js';

/** A server may be updated while this process runs, so an entry expires after ten minutes. */
const lifetime = 10 * 60_000;
const maxEntries = 1000;

/** Eras of HTTP servers, by URL. At most 1,000 entries, all of which are dropped when it is full; each expires after ten minutes. */
const eras = new Map<string, { readonly era: ServerEra; readonly at: number }>();

/** Caches the era of a server. Trying the modern era costs a legacy server a rejected request, so a process tries it once. */
export function cacheEra(url: URL, era: ServerEra, now: number = Date.now()): void {
  if (eras.size >= maxEntries) eras.clear();
  eras.set(url.href, { era, at: now });
}

export function isKnownLegacy(url: URL, now: number = Date.now()): boolean {
  const entry = eras.get(url.href);
  return entry?.era === 'legacy' && now - entry.at < lifetime;
}
