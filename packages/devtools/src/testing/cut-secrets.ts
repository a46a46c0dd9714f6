import { unescape } from 'node:querystring';
import type { MastraMCPServerDefinition } from '@quiver/mcp/client';
import { redactToken } from '@quiver/mcp/internal';
import { isObject } from '../json.js';

/** Names of members and headers whose values are secrets: equal to one of these, or ending with it. */
const secretEnds = /(authorization|cookie|password|pwd|passphrase|secret|apikey|privatekey|credentials)$/;
/** `nextPageToken` and `compass` are not secrets. */
const wholeNames = /^((access|auth|api|bearer|client|id|personalaccess|refresh|session|x)?token|(db|user)?pass)$/;
/** Names of secrets in the query of an address only. */
const parameterNames = /^(key|sig|signature)$/i;
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
    return further.has(plain) || wholeNames.test(plain) || secretEnds.test(plain);
  };
  const values = secretsOf((definition ?? {}) as Sources, isSecret);
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

/** Parts of a definition that may contain secrets. */
interface Sources {
  headers?: unknown;
  requestInit?: RequestInit;
  env?: Record<string, string>;
  args?: string[];
  url?: string | URL;
}

/** Returns the secrets of headers, environment variables, arguments and the address, which a server may repeat. */
function secretsOf(
  { headers, requestInit, env, args = [], url }: Sources,
  isSecret: (name: string) => boolean,
): string[] {
  const named: Named[] = [
    ...(isObject(headers) ? Object.entries(headers) : []),
    ...new Headers(requestInit?.headers),
    ...Object.entries(env ?? {}),
    ...args.flatMap(nameArgument),
    ['url', url ?? ''],
  ];
  return [...named, ...named.flatMap(([, value]) => nameParts(String(value)))].flatMap(([name, value]) => {
    // `Bearer` and `Basic` are not part of the secret.
    const secret = String(value).replace(/^\w+ /, '');
    return isSecret(name) && secret.length >= minSecretLength ? [secret] : [];
  });
}

type Named = [name: string, value: unknown];

/** Names the value of an argument: `--api-key VALUE`, `--api-key=VALUE`, `API_KEY=VALUE`, `Authorization: VALUE`. */
function nameArgument(argument: string, index: number, args: readonly string[]): Named[] {
  const [, name = '', value] = /^([\w-]+)(?:[=:]\s*(.*))?$/s.exec(argument) ?? [];
  const next = name.startsWith('-') ? args[index + 1] : undefined;
  return [
    [name, value ?? next ?? ''],
    ['argument', argument],
  ];
}

/** Names the parts of an address that may be secrets: its parameters and its password, or its user where there is no password. */
function nameParts(text: string): Named[] {
  if (!URL.canParse(text)) return [];
  const { username, password, searchParams } = new URL(text);
  const parameters = [...searchParams].map(([name, value]): Named => [
    parameterNames.test(name) ? 'secret' : name,
    value,
  ]);
  return [['password', unescape(password || username)], ...parameters];
}

function normalize(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}
