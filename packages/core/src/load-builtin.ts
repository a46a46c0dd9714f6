import { createRequire } from 'node:module';

/** Modules of Node that are loaded when they are needed. */
interface Builtins {
  'node:crypto': typeof import('node:crypto');
  'node:dns/promises': typeof import('node:dns/promises');
  'node:fs/promises': typeof import('node:fs/promises');
  'node:http': typeof import('node:http');
  'node:https': typeof import('node:https');
  'node:net': typeof import('node:net');
  'node:os': typeof import('node:os');
  'node:path': typeof import('node:path');
  'node:util': typeof import('node:util');
}

/**
 * Returns a module of Node. An import of it reads every export, which loads more than the module: undici for `node:http` (83 ms of CPU instead
 * of 10), Web Crypto for `node:crypto` (8 ms instead of 1). Node 20.15 lacks `getBuiltinModule`.
 */
export function loadBuiltin<Id extends keyof Builtins>(id: Id): Builtins[Id] {
  const load = process.getBuiltinModule ?? createRequire(import.meta.url);
  // The cast restores the type that the union of both functions loses.
  return load(id) as Builtins[Id];
}
