/** Values of an untyped context are `any`, as in a `Map<string, any>`: the code that sets a key knows what it holds. */
// oxlint-disable-next-line typescript/no-explicit-any
type Untyped = any;

/** A key of the declared values, or any other string: editors still offer the declared ones. */
type KeyOf<Values> = (keyof Values & string) | (string & {});

type ValueOf<Values, Key extends string> = Key extends keyof Values
  ? Values[Key]
  : 0 extends 1 & Values
    ? Untyped
    : unknown;

/**
 * What belongs to one request rather than to a tool: tenant, user, limits. It travels from the caller through agents and tools.
 *
 * @typeParam Values - the keys this context is known to hold; other keys are allowed and typed `unknown`
 * @example
 * const requestContext = new RequestContext<{ tenantId: string }>();
 * requestContext.set('tenantId', 'acme');
 * await tool.execute({ queryText: 'pricing' }, { requestContext });
 */
export class RequestContext<Values = Untyped> {
  readonly #values: Map<string, unknown>;

  /** @param entries - pairs to start with: another context, a `Map`, or an array of pairs */
  constructor(entries?: Iterable<readonly [string, unknown]>) {
    this.#values = new Map(entries);
  }

  set<Key extends KeyOf<Values>>(key: Key, value: ValueOf<Values, Key>): this {
    this.#values.set(key, value);
    return this;
  }

  get<Key extends KeyOf<Values>>(key: Key): ValueOf<Values, Key> {
    // The map holds what `set` typed.
    return this.#values.get(key) as ValueOf<Values, Key>;
  }

  has(key: KeyOf<Values>): boolean {
    return this.#values.has(key);
  }

  delete(key: KeyOf<Values>): boolean {
    return this.#values.delete(key);
  }

  clear(): void {
    this.#values.clear();
  }

  /** As `get`, for keys that are nobody's declared ones. Agents of Mastra keep their own under such keys. */
  getRaw(key: string): unknown {
    return this.#values.get(key);
  }

  /** As `set`, for such keys. */
  setRaw(key: string, value: unknown): void {
    this.#values.set(key, value);
  }

  /** As `has`, for such keys. */
  hasRaw(key: string): boolean {
    return this.#values.has(key);
  }

  /** As `delete`, for such keys. */
  deleteRaw(key: string): boolean {
    return this.#values.delete(key);
  }

  keys(): IterableIterator<string> {
    return this.#values.keys();
  }

  values(): IterableIterator<Untyped> {
    return this.#values.values();
  }

  entries(): IterableIterator<[string, Untyped]> {
    return this.#values.entries();
  }

  [Symbol.iterator](): IterableIterator<[string, Untyped]> {
    return this.#values.entries();
  }

  forEach(visit: (value: Untyped, key: string, map: Map<string, Untyped>) => void): void {
    this.#values.forEach(visit);
  }

  /** The number of keys. A method, not a property. */
  size(): number {
    return this.#values.size;
  }

  /** All values as one object, for reading. */
  get all(): Readonly<Record<string, Untyped>> {
    return Object.fromEntries(this.#values);
  }

  /**
   * The part of the context that JSON can carry. Never throws: functions, symbols, cyclic, very large and otherwise
   * unserialisable values are left out.
   */
  toJSON(): Record<string, Untyped> {
    const result: Record<string, Untyped> = {};
    for (const [key, value] of this.#values) {
      if (isSerialisable(value))
        Object.defineProperty(result, key, { value, enumerable: true, configurable: true, writable: true });
    }
    return result;
  }
}

/** A context may hold connections and clients; walking through all they refer to would stall the request. */
const maxVisits = 10_000;

function isSerialisable(value: unknown): boolean {
  let visits = 0;
  try {
    const text = JSON.stringify(value, (_key, nested: unknown) => {
      visits += 1;
      if (visits > maxVisits) throw new RangeError('too large');
      return nested;
    });
    return text !== undefined;
  } catch {
    return false;
  }
}
