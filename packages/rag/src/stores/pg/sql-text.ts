import { invalidArgument } from '../../store/check-arguments.js';

/** Only for names that were checked or that the database gave; quoted all the same. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** PostgreSQL cuts longer names, silently, so that two of them could become one. */
const longestIdentifier = 63;

/** @throws `VECTOR_ARGUMENT_INVALID` for anything but ASCII letters, digits, `_` and `-`, and for the system's own schemas */
export function requireSchemaName(schemaName: string): void {
  const allowed = typeof schemaName === 'string' && /^[a-z0-9_][a-z0-9_-]*$/i.test(schemaName);
  if (allowed && schemaName.length <= longestIdentifier && !/^(?:pg_|information_schema$)/i.test(schemaName)) return;
  throw invalidArgument(
    `'${String(schemaName)}' cannot name a schema: use 1 to ${longestIdentifier} letters, digits, '_' and '-', and not a name of the system.`,
  );
}

/** Names of languages stand in the text of statements. @throws `VECTOR_ARGUMENT_INVALID` */
export function requireTextSearchName(name: string): void {
  if (typeof name === 'string' && /^[a-z_][a-z0-9_]*$/i.test(name) && name.length <= longestIdentifier) return;
  throw invalidArgument(
    `'${String(name)}' cannot name a text search configuration, such as 'english' or 'simple': use letters, digits and '_'.`,
  );
}

/** PostgreSQL has no NUL in text, and no halves of surrogate pairs. */
export function isStorableText(text: string): boolean {
  return !/[\0\p{Surrogate}]/u.test(text);
}

/** The values of a statement. Text that comes from outside is put nowhere else. */
export class SqlParameters {
  readonly values: unknown[] = [];
  #places = new Map<unknown, string>();

  /** @returns its place, such as `$3`, to be cast to text or text[] first: equal strings share a place, whatever they become */
  add(value: string | readonly (string | null)[]): string {
    let place = this.#places.get(value);
    if (place === undefined) this.#places.set(value, (place = this.addValue(value)));
    return place;
  }

  /** @returns a place of its own, for a value of any type */
  addValue(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

/** These stand in the text of statements, so nothing but an integer may pass. @throws `VECTOR_ARGUMENT_INVALID` */
export function requireInteger(name: string, value: unknown, smallest: number, largest: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= smallest && value <= largest) return value;
  throw invalidArgument(`${name} must be an integer from ${smallest} to ${largest}, not ${String(value)}.`);
}
