import { readFileSync } from 'node:fs';

/**
 * Returns the public functions and classes of a package, with the methods of classes as `Class.method`, for the test that each of them
 * rejects unknown options. A function that several entry points export is returned once.
 *
 * @param load - imports an entry point
 */
export async function readPublicFunctions(
  packageName: string,
  load: (entry: string) => Promise<Record<string, unknown>>,
): Promise<string[]> {
  const pinned = JSON.parse(readFileSync(new URL('public-names.json', import.meta.url), 'utf8')) as Record<
    string,
    { values: string[] }
  >;
  const seen = new Set<unknown>();
  const names = new Set<string>();
  for (const [entry, { values }] of Object.entries(pinned)) {
    if (entry !== packageName && !entry.startsWith(`${packageName}/`)) continue;
    const module = await load(entry);
    for (const name of values) {
      const value = module[name];
      if (typeof value !== 'function' || seen.has(value)) continue;
      seen.add(value);
      const prefix = entry.endsWith('/compat') ? `compat ${name}` : name;
      names.add(prefix);
      for (const method of methodsOf(value)) names.add(`${prefix}.${method}`);
    }
  }
  return [...names];
}

/** Methods with parameters, also those of base classes. */
function methodsOf(value: object): string[] {
  const { prototype } = value as { prototype?: object };
  const base: unknown = Object.getPrototypeOf(value);
  const inherited = typeof base === 'function' && /^class\b/.test(String(base)) ? methodsOf(base) : [];
  const members = Object.entries(Object.getOwnPropertyDescriptors(prototype ?? {}));
  const own = members.flatMap(([name, { value: method }]) =>
    name !== 'constructor' && typeof method === 'function' && takesArguments(method as object) ? [name] : [],
  );
  return [...inherited, ...own];
}

/** `length` leaves out parameters with a default. */
function takesArguments(method: object): boolean {
  return !/^(?:async\s+)?\*?\s*[\w$]+\s*\(\s*\)/.test(String(method));
}
