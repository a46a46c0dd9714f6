import { isObject } from '../../protocol/json-rpc.js';
import type { ClientCapabilities } from '../../protocol/types.js';

/** Capabilities that a request needs, for example `{ sampling: { tools: {} } }`. */
export type RequiredCapabilities = Readonly<Record<string, Readonly<Record<string, object>>>>;

/** A request from the server to the client. Each era sends it in its own way. */
export interface ClientRequest<Result> {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  readonly params?: object;
  /** Members that only legacy clients receive. */
  readonly legacyParams?: object;
  readonly requires: RequiredCapabilities;
  /** Prefix of error codes: `ELICITATION` in `ELICITATION_NOT_SUPPORTED`. */
  readonly subject: 'ELICITATION' | 'SAMPLING' | 'ROOTS';
  /** Noun phrase for error messages: the tool requested … */
  readonly what: string;
  /** Returns the checked result, or `undefined` for an invalid one. */
  readonly parse: (result: unknown) => Result | undefined | Promise<Result | undefined>;
}

/**
 * Returns the part of the required capabilities that a client did not declare, or `undefined` when it declared all. An empty
 * `elicitation`, the older form of the declaration, means forms.
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
