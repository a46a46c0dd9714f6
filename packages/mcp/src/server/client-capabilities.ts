import { isObject } from '../protocol/json-rpc.js';
import type { ClientCapabilities } from '../protocol/types.js';

/** What a question needs of the client, for example `{ sampling: { tools: {} } }`. */
export type RequiredCapabilities = Readonly<Record<string, Readonly<Record<string, object>>>>;

/**
 * The part of the required capabilities that a client did not declare; `undefined` when it declared all. An empty `elicitation`,
 * the older way to declare it, means forms.
 */
export function missingCapabilities(
  required: RequiredCapabilities,
  declared: ClientCapabilities,
): RequiredCapabilities | undefined {
  const missing: Record<string, Record<string, object>> = {};
  for (const [name, members] of Object.entries(required)) {
    const has: unknown = (declared as Record<string, unknown>)[name];
    if (!isObject(has)) missing[name] = { ...members };
    else {
      const impliesForm = name === 'elicitation' && Object.keys(has).length === 0;
      const absent = Object.entries(members).filter(
        ([member]) => has[member] === undefined && !(impliesForm && member === 'form'),
      );
      if (absent.length > 0) missing[name] = Object.fromEntries(absent);
    }
  }
  return Object.keys(missing).length > 0 ? missing : undefined;
}
