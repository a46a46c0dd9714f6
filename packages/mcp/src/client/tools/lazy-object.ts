const origin = Symbol('origin');

/** Where the rest of an object comes from when it is first asked for: shared methods, and what is different for this object. */
export interface Origin<Complete> {
  /** Kept by the first reading. */
  made: Complete | undefined;
  make(): Complete;
}

interface Lazy {
  readonly [origin]: Origin<object>;
}

/**
 * Completes an object with members that are made, all at once, when one of them is first read. They are its own and can be listed,
 * copied by spreading, replaced and deleted like any others.
 *
 * @param known - the members that are there already; the object is changed
 * @param keys - the names of the others, in their order
 * @returns the same object
 */
export function completeLazily<Complete extends object>(
  known: Partial<Complete>,
  keys: readonly (keyof Complete & string)[],
  from: Origin<Complete>,
): Complete {
  // Not on the object itself: it may be frozen.
  Object.defineProperty(known, origin, { value: from });
  for (const key of keys) Object.defineProperty(known, key, accessorOf(key));
  return known as Complete;
}

/** One for all objects: shared accessors take no memory in each. */
const accessors = new Map<string, PropertyDescriptor>();

function accessorOf(key: string): PropertyDescriptor {
  let accessor = accessors.get(key);
  if (!accessor) {
    accessor = {
      configurable: true,
      enumerable: true,
      get(this: Lazy) {
        const { [origin]: from } = this;
        from.made ??= from.make();
        return (from.made as Record<string, unknown>)[key];
      },
      set(this: object, value: unknown) {
        Object.defineProperty(this, key, { value, configurable: true, enumerable: true, writable: true });
      },
    };
    accessors.set(key, accessor);
  }
  return accessor;
}
