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

  /** Returns the value of an undeclared key. Agents of Mastra store values under such keys. */
  getRaw(key: string): unknown {
    return this.#values.get(key);
  }

  /** Sets the value of an undeclared key. */
  setRaw(key: string, value: unknown): void {
    this.#values.set(key, value);
  }

  /** Returns whether an undeclared key has a value. */
  hasRaw(key: string): boolean {
    return this.#values.has(key);
  }

  /** Deletes an undeclared key. */
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
   * unserializable values are left out. Contexts that refer to each other are cyclic values.
   */
  toJSON(): Record<string, Untyped> {
    const result: Record<string, Untyped> = {};
    const total: Budget = { visits: maxVisits };
    for (const [key, value] of this.#values) {
      const budget = { visits: Math.min(maxVisitsOfValue, total.visits) };
      const before = budget.visits;
      const isIncluded = isSerializable(value, budget, new Set([this]));
      total.visits -= before - Math.max(0, budget.visits);
      if (isIncluded)
        Object.defineProperty(result, key, { value, enumerable: true, configurable: true, writable: true });
    }
    return result;
  }
}

/** A context may hold connections and clients; walking through all they refer to would stall the request. */
const maxVisitsOfValue = 10_000;
/** Bound of one `toJSON`, contexts inside the context included. Primitive values of the context itself are free. */
const maxVisits = 50_000;

interface Budget {
  visits: number;
}

function isSerializable(value: unknown, budget: Budget, ancestors: Set<object>): boolean {
  try {
    return canBecomeJson(value, budget, ancestors);
  } catch {
    // A getter or a `toJSON` threw, or the value is nested too deeply.
    return false;
  }
}

/** Whether `JSON.stringify` would return text for the value, within the budget. */
function canBecomeJson(given: unknown, budget: Budget, ancestors: Set<object>): boolean {
  if (typeof given !== 'object' || given === null) {
    return typeof given === 'string' || typeof given === 'number' || typeof given === 'boolean' || given === null;
  }
  if (ancestors.has(given)) throw new RangeError('cyclic');
  ancestors.add(given);
  const isIncluded = areSerializable(given, budget, ancestors);
  ancestors.delete(given);
  return isIncluded;
}

function areSerializable(given: object, budget: Budget, ancestors: Set<object>): boolean {
  spend(budget, 1);
  if (isContext(given)) {
    // A context leaves out what it cannot serialize.
    for (const [, value] of given.entries()) canBecomeJson(value, budget, ancestors);
    return true;
  }
  if (Object.prototype.toString.call(given) === '[object BigInt]') throw new TypeError('JSON has no bigint');
  if (ArrayBuffer.isView(given)) {
    spend(budget, given.byteLength);
    return true;
  }
  const { toJSON } = given as { toJSON?: unknown };
  if (typeof toJSON === 'function') return canBecomeJson(toJSON.call(given), budget, ancestors);
  if (Array.isArray(given)) spend(budget, given.length);
  const parts: unknown[] = Array.isArray(given) ? given : Object.values(given);
  spend(budget, parts.length);
  for (const part of parts) {
    if (typeof part === 'bigint') throw new TypeError('JSON has no bigint');
    canBecomeJson(part, budget, ancestors);
  }
  return true;
}

function spend(budget: Budget, visits: number): void {
  budget.visits -= visits;
  if (budget.visits < 0) throw new RangeError('too large');
}

/** By its methods, not by `instanceof`: it may come from another copy of this package. */
function isContext(value: object): value is RequestContext {
  const { getRaw, setRaw, entries } = value as Partial<RequestContext>;
  return typeof getRaw === 'function' && typeof setRaw === 'function' && typeof entries === 'function';
}
