#!/usr/bin/env node
/**
 * The command `npx @quiver/devtools`: writes types of the tools of a server and checks that they are up to date, and lints the tools.
 *
 * Types and problems go to standard output, types also to a file, all else to standard error. Exit codes: 0; 1 for types that are not up to
 * date, and for definitions that a provider rejects; 2 for errors.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { escapeForLog, QuiverError, toErrorMessage } from '@quiver/core';
import { MCPClient, type ProtocolTool, type ServerDefinition } from '@quiver/mcp/client';
import { isObject } from './json.js';
import type { LintProvider, LintRule } from './testing/lint-rules.js';
import { lintTools } from './testing/lint-tools.js';
import { pascalCase } from './tool-types/type-text.js';
import { compareToolTypes, toolTypes, type ToolDefinitions } from './tool-types/tool-types.js';

const usage = `Usage: npx @quiver/devtools types <tools> [-o weather.ts] [--check] [--name Weather] [--header 'Name: value']
       npx @quiver/devtools lint <tools> [--provider openai] [--ignore output-schema-missing] [--header 'Name: value']
where <tools> is a URL, 'a command with arguments' or recorded.json.`;
const maxErrorLength = 2000;

const argumentOptions = {
  output: { type: 'string', short: 'o' },
  name: { type: 'string' },
  check: { type: 'boolean' },
  provider: { type: 'string', multiple: true },
  ignore: { type: 'string', multiple: true },
  header: { type: 'string', multiple: true },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const;
type Arguments = ReturnType<
  typeof parseArgs<{ args: string[]; allowPositionals: true; options: typeof argumentOptions }>
>;

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  report(toErrorMessage(error).slice(0, maxErrorLength));
  process.exitCode = 2;
}

async function run(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args);
  if (values.help || values.version) {
    const { version } = createRequire(import.meta.url)('../package.json') as { version: string };
    process.stdout.write(`${values.help ? usage : version}\n`);
    return 0;
  }
  const [command, ...target] = positionals;
  if (!['types', 'lint'].includes(command ?? '') || target.length === 0) throw new Error(usage);
  const { output } = values;
  if (values.check && output === undefined) throw new Error(`--check needs a file: -o weather.ts. ${usage}`);
  const definitions = await readDefinitions(target, values.header ?? []);
  if (command === 'lint') return lint(definitions, values);
  const options = nameOf(values.name, output, definitions);
  const text = toolTypes(definitions, options);
  if (output === undefined) {
    process.stdout.write(text);
    return 0;
  }
  if (values.check) {
    const changes = compareToolTypes(await readText(output), definitions, options);
    if (!changes) return 0;
    const differences = Object.entries(changes).flatMap(([kind, tools]: [string, string[]]) =>
      tools.length > 0 ? [`${kind} ${tools.join(', ')}`] : [],
    );
    report(`${output} is not up to date: ${differences.join('; ')}. Run the command without --check.`);
    return 1;
  }
  await writeFile(output, text);
  report(`Wrote ${output}.`);
  return 0;
}

/** Writes a line for each problem. Returns the exit code. */
function lint(definitions: ToolDefinitions, { provider, ignore }: Arguments['values']): number {
  const tools: readonly ProtocolTool[] = Array.isArray(definitions) ? definitions : Object.values(definitions).flat();
  // `lintTools` checks the names.
  const problems = lintTools(tools, {
    ...(provider && { providers: provider as LintProvider[] }),
    ...(ignore && { ignore: ignore as LintRule[] }),
  });
  const lines = problems.map(({ tool, rule, path, providers, effect, message }) =>
    escapeForLog(`${effect} ${tool} ${path} ${rule} (${providers.join(', ')}): ${message}`),
  );
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
  return problems.some(({ effect }) => effect === 'rejected') ? 1 : 0;
}

function readArguments(args: string[]): Arguments {
  try {
    return parseArgs({ args, allowPositionals: true, options: argumentOptions });
  } catch (error) {
    throw new Error(`${toErrorMessage(error)} ${usage}`, { cause: error });
  }
}

/** Returns the name of the interface: as given, or that of the file. A recorded catalog of several servers has its own names. */
function nameOf(
  given: string | undefined,
  output: string | undefined,
  definitions: ToolDefinitions,
): { name?: string } {
  if (given !== undefined) return { name: given };
  if (!Array.isArray(definitions) && Object.keys(definitions).length !== 1) return {};
  if (output !== undefined) return { name: pascalCase(basename(output).replace(/\..*/, '')) };
  if (Array.isArray(definitions)) throw new Error(`The interface needs a name: --name Weather. ${usage}`);
  return {};
}

async function readDefinitions(target: string[], headers: string[]): Promise<ToolDefinitions> {
  const [first = ''] = target;
  if (target.length === 1 && first.endsWith('.json') && !isUrl(first)) return readRecorded(first);
  const mcp = new MCPClient({ servers: { server: toDefinition(target, headers) } });
  try {
    const { server = [] } = await mcp.listToolDefinitions();
    return server;
  } finally {
    await mcp.disconnect();
  }
}

function toDefinition(target: string[], headers: string[]): ServerDefinition {
  const [command = '', ...args] = target.length === 1 ? splitWords(target[0] ?? '') : target;
  if (isUrl(command)) return { url: command, headers: Object.fromEntries(headers.map(splitHeader)) };
  if (headers.length > 0) throw new Error(`--header applies to a URL, not to '${command}'.`);
  const isScript = args.length === 0 && /\.([cm]?[jt]s|py)$/.test(command);
  return isScript ? command : { command, args };
}

/** Splits a command line at spaces outside of quotes. */
function splitWords(line: string): string[] {
  return (line.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^(["'])(.*)\1$/s, '$2'));
}

function splitHeader(header: string): [string, string] {
  const [, name, value] = /^([^:\s]+):\s*(.*)$/s.exec(header) ?? [];
  // The value may be a secret.
  if (name === undefined || value === undefined) throw new Error("A --header is not of the form 'Name: value'.");
  return [name, value];
}

function isUrl(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

/** Reads a result of `listToolDefinitions()`, of `tools/list`, or a list of tools. `toolTypes` checks it. */
async function readRecorded(path: string): Promise<ToolDefinitions> {
  const text = await readText(path);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} is not JSON: ${toErrorMessage(error)}`, { cause: error });
  }
  return (isObject(value) && Array.isArray(value['tools']) ? value['tools'] : value) as ToolDefinitions;
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new QuiverError('TOOL_TYPES_INVALID', `Cannot read ${path}: ${toErrorMessage(error)}.`, { cause: error });
  }
}

function report(text: string): void {
  const line = text.split('\n').map((part) => part.trim());
  process.stderr.write(`${escapeForLog(line.join(' '))}\n`);
}
