const maxDepth = 32;

/** Getters of AI SDK results with information; others throw, or repeat the whole conversation. */
const resultGetters = [
  'text',
  'object',
  'reasoningText',
  'finishReason',
  'usage',
  'totalUsage',
  'toolCalls',
  'toolResults',
  'sources',
] as const;

/**
 * Returns a copy with a JSON form: circular references, functions and members that throw are left out, dates and errors become text, maps and sets become objects and arrays, big integers become text.
 */
export function toJsonSafe(value: unknown): unknown {
  return copy(value, []);
}

function copy(value: unknown, ancestors: readonly object[]): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'function' || typeof value === 'symbol') return undefined;
  if (typeof value !== 'object' || value === null) return value;
  if (ancestors.includes(value) || ancestors.length > maxDepth) return undefined;
  const inside = [...ancestors, value];
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (value instanceof Uint8Array) return undefined;
  if (value instanceof Map) {
    return copy(Object.fromEntries([...value].map(([key, item]) => [textOfKey(key, inside), item])), inside);
  }
  if (value instanceof Set) return copy([...value], inside);
  if (Array.isArray(value)) return value.map((item) => copy(item, inside) ?? null);
  const entries = keysOf(value).map((key) => [key, copy(read(value, key), inside)] as const);
  return Object.fromEntries(entries.filter(([, member]) => member !== undefined));
}

/** A key of a map can be any value; the conversion of an object to text can throw, its JSON text cannot. */
function textOfKey(key: unknown, ancestors: readonly object[]): string {
  return typeof key === 'object' && key !== null ? (JSON.stringify(copy(key, ancestors)) ?? '') : String(key);
}

/** An object of a class keeps what it knows behind getters. */
function keysOf(value: object): readonly string[] {
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === null || prototype === Object.prototype;
  if (isPlain) return Object.keys(value);
  const getters = resultGetters.filter((key) => key in value);
  return getters.length > 0 ? getters : Object.keys(value);
}

function read(value: object, key: string): unknown {
  try {
    return (value as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}
