import { createHash } from 'node:crypto';

/** Model providers take at most 64 of `A-Z a-z 0-9 _ -`. */
const maxLength = 64;
const hashLength = 8;

/**
 * Names a server's tool so that every model provider takes it: `<prefix>_<tool>`, other characters replaced. What is too long,
 * or taken already, ends in a hash of the original names, so the same tool has the same name in every process.
 *
 * @param prefix - `false` for none
 * @param taken - names that are in use
 * @param serverName - part of the hash. Default: the prefix
 */
export function toToolName(
  prefix: string | false,
  toolName: string,
  taken: ReadonlySet<string> | ReadonlyMap<string, unknown>,
  serverName: string = prefix || '',
): string {
  const name = (prefix === false ? toolName : `${prefix}_${toolName}`).replaceAll(/[^A-Za-z0-9_-]/g, '_');
  if (name !== '' && name.length <= maxLength && !taken.has(name)) return name;
  const hash = createHash('sha256').update(`${serverName}\0${toolName}`).digest('hex').slice(0, hashLength);
  return `${name.slice(0, maxLength - hashLength - 1)}_${hash}`;
}
