/** Values of an untyped context are `any`, as in a `Map<string, any>`: the code that sets a key knows the type of its value. */
// oxlint-disable-next-line typescript/no-explicit-any
type Untyped = any;

/** A key of the declared values, or any other string: editors still offer the declared ones. */
type KeyOf<Values> = (keyof Values & string) | (string & {});

type ValueOf<Values, Key extends string> = Key extends keyof Values
  ? Values[Key]
  : 0 extends 1 & Values
    ? Untyped
    : unknown;

/** Values of declared keys, and of any others. A conditional type, so that `Values` is not inferred from the argument. */
type InitialValues<Values> = [Values] extends [infer Declared]
  ? Partial<Declared> & Readonly<Record<string, unknown>>
  : never;

/**
 * Values of one request, such as tenant, user and limits. The caller passes them through agents to tools.
 *
 * @typeParam Values - the keys this context is known to hold; other keys are allowed and typed `unknown`
 * @example
 * const requestContext = new RequestContext<{ tenantId: string }>();
 * requestContext.set('tenantId', 'acme');
 * await tool.execute({ queryText: 'pricing' }, { requestContext });
 */
export class RequestContext<Values = Untyped> {
  readonly #values: Map<string, unknown>;

  /** @param entries - initial values: an object, another context, a `Map`, or an array of pairs */
  constructor(entries?: Iterable<readonly [string, unknown]> | InitialValues<Values>) {
    this.#values = new Map(entries && Symbol.iterator in entries ? entries : Object.entries(entries ?? {}));
  }

  set<Key extends KeyOf<Values>>(key: Key, value: ValueOf<Values, Key>): this {
    this.#values.set(key, value);
    return this;
  }

  get<Key extends KeyOf<Values>>(key: Key): ValueOf<Values, Key> {
    // `set` has checked the type of the stored value.
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

  // These four are for undeclared keys, under which agents of Mastra store values.
  getRaw(key: string): unknown {
    return this.#values.get(key);
  }

  setRaw(key: string, value: unknown): void {
    this.#values.set(key, value);
  }

  hasRaw(key: string): boolean {
    return this.#values.has(key);
  }

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
   * unserializable values are omitted. Contexts that refer to each other are cyclic values.
   */
  toJSON(): Record<string, Untyped> {
    return Object.fromEntries([...this.#values].filter(([, value]) => isSerializable(value, this)));
  }
}

/** Key of the owner of a memory. Only server middleware may set it, after authentication: it selects the memory that is read. */
export const MASTRA_RESOURCE_ID_KEY = 'mastra__resourceId';

/** Key of the thread of a memory, with the same restriction as {@link MASTRA_RESOURCE_ID_KEY}. */
export const MASTRA_THREAD_ID_KEY = 'mastra__threadId';

/** Parts of a value that are visited. A context may hold connections and clients; visiting all they refer to would stall the request. */
const maxVisits = 10_000;

/** Returns whether `JSON.stringify` would return text for a value of the context. */
function isSerializable(root: unknown, context: RequestContext): boolean {
  const ancestors = new Set<object>([context]);
  let visits = 0;
  const spend = (count: number): void => {
    visits += count;
    if (visits > maxVisits) throw new RangeError('too large');
  };
  /** Returns whether JSON includes the value; throws where `JSON.stringify` throws. */
  const visit = (value: unknown): boolean => {
    if (Object.prototype.toString.call(value) === '[object BigInt]') throw new TypeError('bigint');
    if (typeof value !== 'object' || value === null) return !['undefined', 'function', 'symbol'].includes(typeof value);
    if (ancestors.has(value)) throw new RangeError('cyclic');
    ancestors.add(value);
    spend(1);
    const isIncluded = visitParts(value);
    ancestors.delete(value);
    return isIncluded;
  };
  const visitParts = (value: object): boolean => {
    if (ArrayBuffer.isView(value)) {
      spend(value.byteLength);
      return true;
    }
    const { toJSON } = value as { toJSON?: unknown };
    // Only contexts of this package leave out what cannot be serialized; other maps are what their `toJSON` returns.
    const isNested = isRequestContext(value) && typeof value.getRaw === 'function';
    if (typeof toJSON === 'function' && !isNested) return visit(toJSON.call(value));
    if (Array.isArray(value)) spend(value.length);
    const parts = isNested ? Array.from(value.values()) : Object.values(value);
    spend(parts.length);
    // A nested context leaves out bigints.
    for (const part of parts) if (!isNested || typeof part !== 'bigint') visit(part);
    return true;
  };
  try {
    return visit(root);
  } catch {
    // The value contains a cycle or a bigint, is too large or nested too deeply, or its getter or `toJSON` threw.
    return false;
  }
}

/** Recognizes a request context by its methods, not by `instanceof`: it may come from another copy of this package. */
export function isRequestContext(value: unknown): value is RequestContext {
  const { get, set, toJSON } = (value ?? {}) as Partial<RequestContext>;
  return typeof get === 'function' && typeof set === 'function' && typeof toJSON === 'function';
}
