import type { SharedStore } from '@quiver/mcp';
import { kinds } from './clients.ts';
import type { Call } from './load.ts';

/** Names of the instances that started calls, or completed them, by id of a call. */
export async function readNotes(sharedStore: SharedStore, log: 'started' | 'done'): Promise<Map<string, string[]>> {
  const notes = new Map<string, string[]>();
  for (const { value } of await sharedStore.read(log)) {
    const { id, instance } = JSON.parse(value) as { id: string; instance: string };
    notes.set(id, [...(notes.get(id) ?? []), instance]);
  }
  return notes;
}

/** Outcomes of the calls of one kind of client. */
export interface Counts {
  calls: number;
  /** Calls in flight on a killed process, which ended with an error. */
  killed: number;
  /** Other calls that failed, or have a result and no effect. */
  lost: number;
  repeated: number;
  /** Orders, each with exactly one question to its user. */
  orders: number;
  /** Orders that asked never or again, or had no result. */
  unanswered: number;
}

export function countCalls(
  calls: readonly Call[],
  done: ReadonlyMap<string, readonly string[]>,
): Readonly<Record<string, Counts>> {
  const count = (kind: string): Counts => {
    const all = calls.filter((call) => call.kind === kind);
    const rest = all.filter(({ isKilled }) => !isKilled);
    const orders = rest.filter(({ role }) => role === 'order');
    return {
      calls: all.length,
      killed: all.length - rest.length,
      lost: rest.filter(({ id, error }) => error || !done.has(id)).length,
      repeated: all.filter(({ id }) => (done.get(id)?.length ?? 0) > 1).length,
      orders: orders.length,
      unanswered: orders.filter(({ error, questions }) => error || questions !== 1).length,
    };
  };
  return Object.fromEntries(Array.from(kinds.keys(), (kind) => [kind, count(kind)]));
}

/** Lines with the number of each error, by kind of client. */
export function describeErrors(calls: readonly Call[]): string[] {
  const counts = new Map<string, number>();
  for (const { kind, error } of calls) {
    const text = `${kind}: ${error && describe(error)}`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return Array.from(counts, ([text, count]) => `${count} × ${text}`);
}

/** Returns the code of an error or of its cause, and the beginning of its message. */
function describe({ name, message, code = name, cause }: Error & { code?: unknown }): string {
  const reason = (cause as { code?: unknown } | undefined)?.code ?? code;
  return `${String(reason)}, ${(message.split(/[<\n]/)[0] ?? '').slice(0, 150)}`;
}
