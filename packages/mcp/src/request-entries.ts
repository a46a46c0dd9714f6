/** Key of the entries on identities. Shared by every copy of the package in a program. */
const requestEntriesKey: unique symbol = Symbol.for('quiver.requestEntries');

type RequestEntries = Readonly<Record<string, unknown>>;

/** Returns an identity with the entries with which the request context of its calls begins. They survive a spread of the identity. */
export function withRequestEntries<Identity extends object>(
  identity: Identity,
  entries: RequestEntries | undefined,
): Identity {
  return entries ? { ...identity, [requestEntriesKey]: entries } : identity;
}

export function requestEntriesOf(identity: object = {}): RequestEntries {
  return (identity as { [requestEntriesKey]?: RequestEntries })[requestEntriesKey] ?? {};
}
