/**
 * Compares configurations: plain objects and arrays by what they hold, URLs by their text, everything else (functions, class
 * instances) by identity. Two clients with different authentication closures are different.
 */
export function isSameConfiguration(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof URL && b instanceof URL) return a.href === b.href;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (!Array.isArray(a) && Object.getPrototypeOf(a) !== Object.prototype) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => key in b && isSameConfiguration(a[key as keyof typeof a], b[key as keyof typeof b]));
}
