import { vi } from 'vitest';

/** Tries until it succeeds, with time enough for a busy machine. */
export function eventually<Value>(attempt: () => Value | Promise<Value>): Promise<Value> {
  return vi.waitFor(attempt, 10_000);
}
