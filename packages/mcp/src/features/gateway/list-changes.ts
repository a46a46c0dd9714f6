import type { ListKind } from '../../protocol/methods.js';

export interface ListChangesOptions {
  /** Returns what the lists of a kind contain; `undefined` where callers may receive different ones. */
  readonly read: (kind: ListKind) => Promise<string | undefined>;
  readonly publish: (kind: ListKind) => void;
}

interface Change {
  known?: string | undefined;
  timer?: NodeJS.Timeout | undefined;
  /** Milliseconds before the next announcement. */
  delay: number;
  at: number;
}

const firstDelay = 250;
const maxDelay = 30_000;

/**
 * Announces changes of the lists of one server: only lists that differ, and repeated changes ever later. Two gateways that offer each other's
 * items would otherwise announce each other's announcements without end.
 */
export class ListChanges {
  readonly #options: ListChangesOptions;
  readonly #changes = new Map<ListKind, Change>();
  #isClosed = false;

  constructor(options: ListChangesOptions) {
    this.#options = options;
  }

  async learn(kind: ListKind): Promise<void> {
    this.#of(kind).known = await this.#options.read(kind);
  }

  report(kind: ListKind): void {
    const change = this.#of(kind);
    if (change.timer || this.#isClosed) return;
    if (Date.now() - change.at > 2 * maxDelay) change.delay = 0;
    change.timer = setTimeout(() => {
      change.timer = undefined;
      void this.#announce(kind, change);
    }, change.delay);
    change.timer.unref?.();
  }

  close(): void {
    this.#isClosed = true;
    for (const { timer } of this.#changes.values()) clearTimeout(timer);
  }

  async #announce(kind: ListKind, change: Change): Promise<void> {
    const read = await this.#options.read(kind);
    if (this.#isClosed || (read !== undefined && read === change.known)) return;
    change.known = read;
    change.at = Date.now();
    change.delay = Math.min(Math.max(2 * change.delay, firstDelay), maxDelay);
    this.#options.publish(kind);
  }

  #of(kind: ListKind): Change {
    const change = this.#changes.get(kind) ?? { delay: 0, at: 0 };
    this.#changes.set(kind, change);
    return change;
  }
}
