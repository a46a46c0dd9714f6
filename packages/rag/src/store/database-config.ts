/**
 * Settings of particular stores. A store receives the block of its own name (`databaseConfigKey`) and nothing else. Each adapter adds
 * the type of its block to this interface (declaration merging); so can a store of yours:
 *
 * @example
 * declare module '@quiver/rag' {
 *   interface DatabaseConfig {
 *     mystore?: { replica?: string };
 *   }
 * }
 */
export interface DatabaseConfig {
  [databaseConfigKey: string]: object | undefined;
}
