import { invalidOptions } from '@quiver/core/internal';

/** Quotes names that were checked or that the database returned; several are a qualified name. */
export function quoteIdentifier(...names: readonly string[]): string {
  return names.map((name) => `"${name.replaceAll('"', '""')}"`).join('.');
}

/** Settings become part of the text of statements, so only integers are valid. @throws `OPTIONS_INVALID` */
export function requireInteger(name: string, value: unknown, smallest: number, largest: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= smallest && value <= largest) return value;
  throw invalidOptions(`${name} must be an integer from ${smallest} to ${largest}, not ${String(value)}.`);
}
