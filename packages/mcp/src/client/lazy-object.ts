/** Where the rest of an object comes from when it is first asked for. */
interface Origin {
  readonly source: unknown;
  readonly make: (source: never) => object;
  made: object | undefined;
}

const origin = Symbol('origin');

interface Lazy {
  readonly [origin]: Origin;
}

/**
 * Completes an object with members that are made, all at once, when one of them is first read. They are its own and can be listed,
 * copied by spreading, replaced and deleted like any others.
 *
 * @param known - the members that are there already; the object is changed
 * @param keys - the names of the others, in their order
 * @param make - shared by all objects of a kind, as the members' accessors are: what is left per object is `source`
 * @returns the same object
 */
export function completeLazily<Complete extends object, Source>(
  known: Partial<Complete>,
  keys: readonly (keyof Complete & string)[],
  make: (source: Source) => Complete,
  source: Source,
): Complete {
  const value: Origin = { source, make, made: undefined };
  Object.defineProperty(known, origin, { value });
  for (const key of keys) Object.defineProperty(known, key, accessorOf(key));
  return known as Complete;
}

const accessors = new Map<string, PropertyDescriptor>();

function accessorOf(key: string): PropertyDescriptor {
  let accessor = accessors.get(key);
  if (!accessor) {
    accessor = {
      configurable: true,
      enumerable: true,
      get(this: Lazy) {
        const { [origin]: from } = this;
        from.made ??= from.make(from.source as never);
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
