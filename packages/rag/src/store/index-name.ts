import { invalidArgument } from './check-arguments.js';

/**
 * Names become names of files, tables and collections, so they must mean one thing everywhere.
 *
 * @param longest - characters that the store allows
 * @throws `VECTOR_ARGUMENT_INVALID`
 */
export function requireIndexName(indexName: string, longest: number): void {
  if (typeof indexName === 'string' && indexName.length <= longest && /^[a-z0-9][a-z0-9_-]*$/i.test(indexName)) return;
  throw invalidArgument(
    `'${String(indexName)}' cannot name an index: use 1 to ${longest} letters, digits, '_' and '-', beginning with a letter or digit.`,
  );
}
