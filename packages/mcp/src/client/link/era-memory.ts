export type ServerEra = 'legacy' | 'modern';

/** A server may be updated while this process runs, so a verdict is believed for ten minutes. */
const believedFor = 10 * 60_000;
const maxEntries = 1000;

const verdicts = new Map<string, { era: ServerEra; at: number }>();

/**
 * Remembers which generation of the protocol a server speaks. Asking costs a legacy server one refused request, so within a
 * process it is asked once.
 */
export function rememberEra(url: URL, era: ServerEra | undefined, now: number = Date.now()): void {
  if (!era) return;
  if (verdicts.size >= maxEntries) verdicts.clear();
  verdicts.set(url.href, { era, at: now });
}

export function isEraKnown(url: URL, era: ServerEra, now: number = Date.now()): boolean {
  const verdict = verdicts.get(url.href);
  return verdict?.era === era && now - verdict.at < believedFor;
}
