import { QuiverError } from '@quiver/core';
import { isLoggingLevel } from '../../protocol/constants.js';
import { isObject, parseJsonObject } from '../../protocol/json-rpc.js';
import type { StoredRecord } from '../../shared-store/shared-store.js';
import type { ClientFacts } from '../../server/client/legacy-session.js';

/** State of a session that all instances know: that of a client after its handshake. */
export interface SessionState {
  readonly owner: string;
  readonly client: ClientFacts;
  /** Instance that has the standalone event stream, or had it last. */
  readonly reader: string | undefined;
}

/** State as JSON: with the members of the client among the others. */
interface SessionJson extends Omit<ClientFacts, 'initialized' | 'subscriptions'> {
  readonly owner: string;
  readonly reader?: string | undefined;
  readonly subscriptions?: readonly string[] | undefined;
}

/** Messages about sessions between instances, by kind. */
export const sessionMessages = {
  /** The record of a session was changed: a {@link SessionNews}. */
  changed: 'session',
  /** The client sent a message for another instance: a {@link ForwardedMessage}. */
  forwarded: 'session.message',
} as const;

export interface SessionNews {
  readonly id: string;
  /** Absent when the session has ended. */
  readonly record?: StoredRecord;
}

export interface ForwardedMessage {
  readonly id: string;
  readonly message: unknown;
}

export function toSessionText({ owner, client, reader }: SessionState): string {
  const { initialized: _, subscriptions, ...facts } = client;
  const json: SessionJson = { owner, ...facts, subscriptions: [...subscriptions], reader };
  return JSON.stringify(json);
}

/** Other programs may have written the record too. @throws `SESSION_RECORD_INVALID` */
export function parseSessionState({ value }: StoredRecord): SessionState {
  // The cast: checked below.
  const { owner, reader, subscriptions = [], ...facts } = (parseJsonObject(value) ?? {}) as unknown as SessionJson;
  const isValid =
    typeof owner === 'string' &&
    typeof facts.protocolVersion === 'string' &&
    isObject(facts.clientCapabilities) &&
    isLoggingLevel(facts.logLevel) &&
    Array.isArray(subscriptions) &&
    subscriptions.every((uri) => typeof uri === 'string');
  if (!isValid) throw recordInvalid();
  return { owner, reader, client: { ...facts, initialized: true, subscriptions: new Set(subscriptions) } };
}

export function recordInvalid(): QuiverError {
  return new QuiverError(
    'SESSION_RECORD_INVALID',
    'The shared store has a session record that MCPServer did not write. The session cannot be used.',
  );
}
