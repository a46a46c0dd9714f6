import { toErrorMessage } from '@quiver/core';

type Schemas = typeof import('@modelcontextprotocol/core');

/** Name of an official schema of a message part. */
export type SchemaName = {
  [Name in keyof Schemas]: Schemas[Name] extends { safeParse: unknown } ? Name : never;
}[keyof Schemas];

/**
 * Checks a message part with the official schema, which is loaded with the first check: it costs 60 ms. The part itself is used
 * afterwards, not the parsed copy, which lacks the members that the schema does not know.
 *
 * @returns what is wrong, or `undefined`
 */
export async function findShapeError(name: SchemaName, part: unknown): Promise<string | undefined> {
  const schemas = await import('@modelcontextprotocol/core');
  try {
    const { error } = (schemas[name] as Schemas['ResultSchema']).safeParse(part);
    return error?.issues.map(({ path, message }) => `${path.join('.') || 'root'}: ${message}`).join('; ');
  } catch (error) {
    // Values that are nested too deeply exhaust the stack.
    return toErrorMessage(error);
  }
}
