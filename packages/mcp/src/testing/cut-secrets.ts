import { redactToken } from '../auth/redact-token.js';
import { isObject } from '../protocol/json-rpc.js';
import type { MastraMCPServerDefinition } from '../client/config/server-definition.js';

/** Names of members and headers whose values are secrets: equal to one of these, or ending with it. */
const secretNames = [
  'authorization',
  'cookie',
  'password',
  'passphrase',
  'secret',
  'apikey',
  'privatekey',
  'credentials',
];
/** `nextPageToken` is not a secret. */
const tokenNames = /^(access|auth|api|bearer|client|id|personalaccess|refresh|session|x)?token$/;
/** Characters of the shortest value that is searched for in texts: shorter ones occur by chance. */
const minSecretLength = 6;

const replacement = '[secret]';

/** Returns a function that cuts secrets out of recorded values. @param names - further names of members, in any spelling */
export function createSecretCutter(
  definition: MastraMCPServerDefinition | undefined,
  names: readonly string[],
): <Value>(value: Value) => Value {
  const further = new Set(names.map(normalize));
  const isSecret = (name: string): boolean => {
    const plain = normalize(name);
    return further.has(plain) || tokenNames.test(plain) || secretNames.some((secret) => plain.endsWith(secret));
  };
  const values = secretsOf(definition, isSecret);
  const cut = (value: unknown, isCut: boolean): unknown => {
    if (Array.isArray(value)) return value.map((item) => cut(item, isCut));
    if (isObject(value))
      return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cut(member, isSecret(name))]));
    if (typeof value !== 'string') return isCut && typeof value === 'number' ? replacement : value;
    return isCut ? replacement : values.reduce(redactToken, cutJson(value, cut));
  };
  // Cutting keeps the shape of objects.
  return <Value>(value: Value): Value => cut(value, false) as Value;
}

/** Results repeat their structured content as JSON text. */
function cutJson(text: string, cut: (value: unknown, isCut: boolean) => unknown): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    const value: unknown = JSON.parse(text);
    const changed = JSON.stringify(cut(value, false));
    return changed === JSON.stringify(value) ? text : changed;
  } catch {
    return text;
  }
}

/** Returns the values of secret headers and environment variables, which a server may repeat. */
function secretsOf(definition: MastraMCPServerDefinition | undefined, isSecret: (name: string) => boolean): string[] {
  const { headers, requestInit, env } = (definition ?? {}) as {
    headers?: unknown;
    requestInit?: RequestInit;
    env?: Record<string, string>;
  };
  const all = [
    ...(isObject(headers) ? Object.entries(headers) : []),
    ...new Headers(requestInit?.headers),
    ...Object.entries(env ?? {}),
  ];
  return all.flatMap(([name, value]) => {
    // `Bearer` and `Basic` are not part of the secret.
    const secret = String(value).replace(/^\w+ /, '');
    return isSecret(name) && secret.length >= minSecretLength ? [secret] : [];
  });
}

function normalize(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}
