import { QuiverError, toErrorMessage } from '@quiver/core';
import { isObject } from '../../protocol/json-rpc.js';

/** A configuration file, and the values of its variables. */
export interface ConfigFile {
  /** Path, as the caller wrote it. */
  readonly name: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly inputs: Readonly<Record<string, string | undefined>>;
  /** The `inputs` of the file, which describe the values. */
  readonly declaredInputs: unknown;
  /** Folder of `${workspaceFolder}`. Relative paths of `envFile` start there. */
  readonly workspaceFolder: string;
  /** Variables with a fixed name, such as `workspaceFolder`. */
  readonly predefined: Readonly<Record<string, string>>;
  /** Whether `$NAME` is a variable, as in the files of Gemini CLI. */
  readonly hasShortNames: boolean;
}

/** Creates an error about one place in a file. `problem` completes the sentence "The MCP configuration …", without values of the file. */
export function configError(
  code: string,
  problem: string,
  { file, ...details }: { file: ConfigFile; key: string; variable?: string },
  cause?: unknown,
): QuiverError {
  return new QuiverError(code, `The MCP configuration ${file.name} ${problem}`, {
    ...(cause !== undefined && { cause }),
    details: { file: file.name, ...details },
  });
}

const braces = /\$?\$\{([^}]*)\}/g;
const bracesOrShortName = /\$?\$\{([^}]*)\}|\$([A-Za-z_]\w*)/g;

/**
 * Replaces the variables in all texts of a value. `$${` stands for `${`.
 *
 * @throws `MCP_CONFIG_VARIABLE_UNDEFINED`; `MCP_CONFIG_NOT_FOUND` for `${file:…}`
 */
export async function expandVariables(value: unknown, key: string, file: ConfigFile): Promise<unknown> {
  if (Array.isArray(value))
    return Promise.all(value.map((item, index) => expandVariables(item, `${key}[${index}]`, file)));
  if (isObject(value)) {
    const entries = Object.entries(value).map(
      async ([name, member]) => [name, await expandVariables(member, `${key}.${name}`, file)] as const,
    );
    return Object.fromEntries(await Promise.all(entries));
  }
  if (typeof value !== 'string') return value;
  let text = '';
  let end = 0;
  for (const { index, 0: whole, 1: name, 2: shortName = '' } of value.matchAll(
    file.hasShortNames ? bracesOrShortName : braces,
  )) {
    const resolved = whole.startsWith('$$') ? whole.slice(1) : await resolveVariable(name ?? shortName, key, file);
    text += value.slice(end, index) + resolved;
    end = index + whole.length;
  }
  return text + value.slice(end);
}

async function resolveVariable(variable: string, key: string, file: ConfigFile): Promise<string> {
  const predefined = Object.hasOwn(file.predefined, variable) ? file.predefined[variable] : undefined;
  if (predefined !== undefined) return predefined;
  const [, kind, argument = ''] = /^(file|input):(.*)$/s.exec(variable) ?? [];
  if (kind === 'file') return (await readTextFile(argument, key, file)).trimEnd();
  if (kind === 'input') return resolveInput(argument, key, file);
  const [name = '', fallback] = variable.replace(/^env:/, '').split(/:-(.*)/s);
  const value = Object.hasOwn(file.env, name) ? file.env[name] : undefined;
  // As in a shell, `:-` also replaces an empty value.
  if (fallback !== undefined) return value === undefined || value === '' ? fallback : value;
  if (value !== undefined) return value;
  const problem = name.includes(':')
    ? 'which only its own host can resolve. Replace it.'
    : `and that variable is not set. Set it, or write \${${name}:-default}.`;
  throw configError('MCP_CONFIG_VARIABLE_UNDEFINED', `uses \${${variable}} at ${key}, ${problem}`, {
    file,
    key,
    variable: name,
  });
}

/** VS Code requests inputs from the user. */
function resolveInput(id: string, key: string, file: ConfigFile): string {
  const value: unknown = Object.hasOwn(file.inputs, id) ? file.inputs[id] : undefined;
  if (typeof value === 'string') return value;
  const { declaredInputs } = file;
  const declared: unknown = Array.isArray(declaredInputs)
    ? declaredInputs.find((input) => isObject(input) && input['id'] === id)
    : undefined;
  const { default: preset, description } = isObject(declared) ? declared : {};
  if (typeof preset === 'string') return preset;
  const meaning = typeof description === 'string' ? ` (${description})` : '';
  const problem = `needs the input '${id}'${meaning} at ${key}. Pass its value in the option \`inputs\`.`;
  throw configError('MCP_CONFIG_VARIABLE_UNDEFINED', problem, { file, key, variable: `input:${id}` });
}

/** Reads a file that the configuration names. @throws `MCP_CONFIG_NOT_FOUND` */
export async function readTextFile(path: string, key: string, file: ConfigFile): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  return readFile(path, 'utf8').catch((cause: unknown) => {
    const problem = `names a file at ${key} that cannot be read: ${toErrorMessage(cause)}`;
    throw configError('MCP_CONFIG_NOT_FOUND', problem, { file, key }, cause);
  });
}
