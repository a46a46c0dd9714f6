import { QuiverError } from '@quiver/core';
import { checkOptions, type OptionChecks, stringValue } from '@quiver/core/internal';
import { type DefinitionChanges, type ProtocolTool, type ToolCatalogue, fingerprintTool } from '@quiver/mcp/client';
import { parseToolDefinitions } from '@quiver/mcp/internal';
import { isObject } from '../json.js';
import { SchemaType } from './schema-type.js';
import { docComment, pascalCase, propertyName, quote } from './type-text.js';

/** Options of `toolTypes()` and `compareToolTypes()`. */
export interface ToolTypesOptions {
  /**
   * Name of the interface, such as `Weather`: a letter from A to Z, then letters and digits. Required for a list. Default for a
   * catalog: the name of each server in Pascal case.
   */
  name?: string;
}

/** Definitions of `mcp.listToolDefinitions()`, or the tools of one server. */
export type ToolDefinitions = ToolCatalogue | readonly ProtocolTool[];

const checks: OptionChecks<ToolTypesOptions> = { name: stringValue };

const header = '// Types of MCP tools, written by `toolTypes` of @quiver/devtools/tool-types. Do not edit.\n';

/**
 * Returns TypeScript with an interface per server, for `mcp.server<Weather>('weather')`: the input and the output of each tool as
 * types, and descriptions and limits as comments. A tool without an output schema has the output `unknown`.
 *
 * Tools are ordered by name, and equal definitions give equal text. A comment with the {@link fingerprintTool} of each definition is what
 * {@link compareToolTypes} reads. Constraints that types cannot express, and schemas of more than 5 000 parts or 24 levels, become `unknown`.
 *
 * @throws `OPTIONS_INVALID`; `TOOL_TYPES_INVALID` for definitions that the protocol does not allow
 * @example
 * const text = toolTypes(await mcp.listToolDefinitions());
 */
export function toolTypes(definitions: ToolDefinitions, options: ToolTypesOptions = {}): string {
  checkOptions('toolTypes', options, checks);
  const servers = readServers(definitions, options);
  const names = new Set(servers.map(({ name }) => name));
  const blocks = servers.map(({ name, tools }) => writeServer(name, tools, names));
  return [header, ...blocks].join('\n');
}

/**
 * Returns the differences between the text of {@link toolTypes}, formatted or not, and definitions, as `Weather.forecast`. To compare
 * definitions while a program runs, use `mcp.tools.onDefinitionsChanged()`.
 *
 * @param options - as for the text
 * @returns `undefined` when there are none
 * @throws `OPTIONS_INVALID`; `TOOL_TYPES_INVALID` for definitions that the protocol does not allow
 */
export function compareToolTypes(
  text: string,
  definitions: ToolDefinitions,
  options: ToolTypesOptions = {},
): DefinitionChanges | undefined {
  checkOptions('compareToolTypes', options, checks);
  const written = readHashes(text);
  const current = new Map(
    readServers(definitions, options).flatMap(({ name, tools }) =>
      tools.map((tool) => [keyOf(name, quote(tool.name)), hashOf(tool)] as const),
    ),
  );
  const changes = {
    added: [...current.keys()].filter((tool) => !written.has(tool)),
    removed: [...written.keys()].filter((tool) => !current.has(tool)),
    changed: [...current].filter(([tool, hash]) => (written.get(tool) ?? hash) !== hash).map(([tool]) => tool),
  };
  return Object.values(changes).some(({ length }) => length > 0) ? changes : undefined;
}

interface Server {
  readonly name: string;
  readonly tools: readonly ProtocolTool[];
}

function readServers(definitions: unknown, { name }: ToolTypesOptions): Server[] {
  if (name !== undefined && !/^[A-Z][A-Za-z0-9]*$/.test(name))
    throw invalid(
      `The interface name ${quote(name)} is not a letter from A to Z, then letters and digits. Pass \`name\`.`,
    );
  if (Array.isArray(definitions)) {
    if (name === undefined) throw invalid('A list of tools needs the name of its interface. Pass `name`.');
    return [{ name, tools: readTools(definitions) }];
  }
  if (!isObject(definitions))
    throw invalid('The definitions are neither a list of tools nor an object with one list per server.');
  const entries = Object.entries(definitions);
  if (name !== undefined && entries.length !== 1)
    throw invalid(`\`name\` names the interface of one server, but there are ${entries.length}. Remove it.`);
  const taken = new Set<string>();
  return entries.map(([server, list]) => {
    if (!Array.isArray(list)) throw invalid(`The definitions of the server ${quote(server)} are not a list.`);
    const own = pascalCase(server);
    return { name: unique(name ?? (/^[A-Z]/.test(own) ? own : `Server${own}`), taken), tools: readTools(list) };
  });
}

/** Returns the tools by name. Of two with the same name, the client calls one: the last one counts. */
function readTools(list: readonly unknown[]): ProtocolTool[] {
  const { tools, malformed } = parseToolDefinitions(list, true);
  const [first] = malformed;
  if (first) throw invalid(`The definition of ${first.tool} is invalid: ${first.problem}. Correct or remove it.`);
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return [...byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function writeServer(name: string, tools: readonly ProtocolTool[], taken: Set<string>): string {
  const declarations: string[] = [];
  const members = tools.map((tool) => {
    const { title, description, inputSchema, outputSchema } = tool;
    const write = (kind: string, schema: unknown): string => {
      const prefix = `${name}${pascalCase(tool.name)}${kind}`;
      const type = new SchemaType(schema, (hint) => unique(`${prefix}${pascalCase(hint) || 'Root'}`, taken));
      const text = type.write('    ');
      declarations.push(...type.declarations());
      return `    ${kind.toLowerCase()}: ${text};\n`;
    };
    return `  // sha256 ${hashOf(tool)} ${quote(tool.name)}
${docComment([title, description], '  ')}  ${propertyName(tool.name)}: {
${write('Input', inputSchema)}${write('Output', outputSchema)}  };
`;
  });
  const text = `export interface ${name} {\n${members.join('\n')}}\n`;
  return [text, ...declarations].join('\n');
}

function hashOf(tool: ProtocolTool): string {
  try {
    return fingerprintTool(tool);
  } catch {
    throw invalid(`The definition of tool ${quote(tool.name)} is nested too deeply. Correct or remove it.`);
  }
}

/** Returns the hashes of a text by interface and tool. */
function readHashes(text: string): Map<string, string> {
  const hashes = new Map<string, string>();
  let name = '';
  for (const line of text.split(/\r?\n/)) {
    const [, opened] = /^export interface (\w+) \{/.exec(line) ?? [];
    const [, hash, tool] = /^\s*\/\/ sha256 ([0-9a-f]{64}) (".*")$/.exec(line) ?? [];
    if (opened !== undefined) name = opened;
    else if (hash !== undefined && tool !== undefined) hashes.set(keyOf(name, tool), hash);
  }
  return hashes;
}

function keyOf(name: string, quotedTool: string): string {
  return `${name}.${quotedTool.slice(1, -1)}`;
}

/** Returns a name that was not taken before, and takes it. */
function unique(name: string, taken: Set<string>): string {
  let free = name;
  for (let count = 2; taken.has(free); count += 1) free = `${name}_${count}`;
  taken.add(free);
  return free;
}

function invalid(problem: string): QuiverError {
  return new QuiverError('TOOL_TYPES_INVALID', problem);
}
