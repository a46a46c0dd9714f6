import { toErrorMessage, type Logger } from '@quiver/core';
import { toJsonSchema, type JsonSchema, type Schema } from '@quiver/core/schema';
import { withInputSchema, type ToolLike, type ToolMcpOptions } from '@quiver/core/tools';
import { setRecent } from '../../set-recent.js';
import { declaredParamHeaders, type ParamHeader } from '../../protocol/param-headers.js';
import type { Era } from '../../protocol/constants.js';
import type { Result } from '../../content.js';
import type { ServerRequest } from '../request.js';
import { requireScopes, variesByCaller, type Catalog, type ListedTool, type ToolType } from './catalog.js';
import type { CallExtension, RegisteredTool } from '../call-extension.js';
import { MAX_FORMER_TOOLS } from '../limits.js';
import { encodePage } from '../list-page.js';

/** Tools by the name clients see: the key decides, not the tool's id. */
export type ToolsInput = Record<string, ToolLike>;

/** Tools of a provider by the names that clients call them by. A change replaces the map. */
export type ProvidedTools = ReadonlyMap<string, RegisteredTool>;

/**
 * Tools of a server. Schemas are converted once. Where all callers see the same tools, the first page of `tools/list` is cached until the
 * tools change.
 */
export class ToolRegistry {
  readonly #tools = new Map<string, RegisteredTool>();
  readonly #catalog: Catalog;
  readonly #logger: Logger;
  readonly #extend: (registered: RegisteredTool) => readonly CallExtension[];
  /** First page of each era, where all callers see the same tools. */
  #firstPages: Partial<Record<Era, Result>> = {};
  /** Removed and replaced tools, for notifications. Bound: {@link MAX_FORMER_TOOLS}, the oldest are evicted. */
  readonly #former = new Map<string, RegisteredTool>();
  /** Stands for the tools; every change replaces it. */
  #version: object = {};
  #isListed: (name: string) => boolean = () => true;

  /** @param extend - returns the extensions of a tool before it is offered; one for which it throws is left out */
  constructor(catalog: Catalog, logger: Logger, extend: (registered: RegisteredTool) => readonly CallExtension[]) {
    this.#catalog = catalog;
    this.#logger = logger;
    this.#extend = extend;
  }

  get isFiltered(): boolean {
    return this.#catalog.isFiltered('tool') === true;
  }

  /** Lists these tools only; the others can be called as before. */
  listOnly(isListed: (name: string) => boolean): void {
    this.#isListed = isListed;
  }

  /** Returns what the tools of a request consist of: equal parts mean equal tools. */
  partsFor({ providedTools }: ServerRequest): readonly object[] {
    return [this.#version, ...providedTools];
  }

  /** Returns all tools of a request, whether its caller can see them or not. */
  all({ providedTools }: ServerRequest): RegisteredTool[] {
    if (providedTools.length === 0) return [...this.#tools.values()];
    const all = new Map(this.#tools);
    for (const tools of providedTools) for (const [name, tool] of tools) if (!all.has(name)) all.set(name, tool);
    return [...all.values()];
  }

  find(request: ServerRequest, name: string): RegisteredTool | undefined {
    const { providedTools } = request;
    const registered = this.#tools.get(name) ?? providedTools.find((tools) => tools.has(name))?.get(name);
    return registered && this.#sees(request, registered) ? registered : undefined;
  }

  get(name: string): RegisteredTool | undefined {
    return this.#tools.get(name);
  }

  values(): IterableIterator<RegisteredTool> {
    return this.#tools.values();
  }

  /** Returns whether the caller can see a tool of this name, or could before the tool was removed or replaced. */
  isConcerned(request: ServerRequest, name: string): boolean {
    const former = this.#former.get(name);
    return this.find(request, name) !== undefined || (former !== undefined && this.#sees(request, former));
  }

  /**
   * Adds a tool, or replaces the one of its name. A tool that cannot be offered is left out, or offered without the broken part, with a
   * warning: the others stay.
   */
  add(name: string, tool: ToolLike, toolType: ToolType = 'tool', needsTools = false): void {
    this.#forget(name);
    const registered = this.#register(name, tool, toolType, needsTools);
    if (registered) this.#tools.set(name, registered);
    else this.#tools.delete(name);
    this.#catalog.observe('tool', registered ? [registered.item] : []);
  }

  #register(name: string, tool: ToolLike, toolType: ToolType, needsTools: boolean): RegisteredTool | undefined {
    try {
      const described = describeTool(name, tool, toolType, this.#logger);
      // One object from here on, by which extensions know the tool.
      return Object.assign(described, { needsTools, extensions: this.#extend(described as RegisteredTool) });
    } catch (error) {
      this.#logger.warn(`Tool '${name}' is not served: ${toErrorMessage(error)}`);
      return undefined;
    }
  }

  /** @returns whether there was such a tool */
  remove(name: string): boolean {
    this.#forget(name);
    return this.#tools.delete(name);
  }

  #forget(name: string): void {
    this.#firstPages = {};
    this.#version = {};
    const former = this.#tools.get(name);
    if (!former || !this.isFiltered) return;
    setRecent(this.#former, name, former, MAX_FORMER_TOOLS);
  }

  /**
   * Answers `tools/list`, in the order the tools were added. The first page, which most clients request, is cached.
   *
   * @throws ProtocolError -32602 for an unknown cursor
   */
  list(request: ServerRequest): Result {
    const { era, params } = request;
    const isShared = variesByCaller(request.server, 'tool') !== true;
    const encode = (): Result => {
      const shown = this.all(request).filter((tool) => this.#isListed(tool.name) && this.#sees(request, tool));
      const items = shown.map((tool) => listedFor(era, tool));
      return encodePage(request, 'tools/list', items, !isShared);
    };
    if (params?.['cursor'] !== undefined || !isShared) return encode();
    return (this.#firstPages[era] ??= encode());
  }

  #sees(request: ServerRequest, { item }: RegisteredTool): boolean {
    return this.#catalog.sees(request, item);
  }
}

function listedFor(era: Era, { listed, structured }: RegisteredTool): ListedTool {
  if (structured[era] || !listed.outputSchema) return listed;
  const { outputSchema: _, ...rest } = listed;
  return rest;
}

/** Options that validate or protect calls: without them a tool runs unprotected. */
const protections = ['inputSchema', 'outputSchema', 'requestContextSchema', 'requireApproval', 'needsApproval'];

/**
 * Returns a misspelled protection of a tool that is an object of the caller, such as `input_schema`, and its name. Tools of other libraries have
 * members of their own, so other names are accepted.
 */
function findMisspelled(tool: ToolLike): readonly [given: string, option: string] | undefined {
  const toLetters = (name: string): string => name.replaceAll(/[^a-z]/gi, '').toLowerCase();
  for (const given of Object.keys(tool)) {
    const option = protections.find((name) => toLetters(name) === toLetters(given));
    if (option !== undefined && option !== given) return [given, option];
  }
  return undefined;
}

/** @see [MCP, tool names](https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-names) */
export const portableName: RegExp = /^[A-Za-z0-9_.-]{1,128}$/;

/** @throws for a tool that cannot be served */
function describeTool(
  name: string,
  tool: ToolLike,
  toolType: ToolType,
  logger: Logger,
): Omit<RegisteredTool, 'extensions'> {
  if (typeof tool?.execute !== 'function') throw new TypeError('it has no execute function.');
  const misspelled = findMisspelled(tool);
  if (misspelled) throw new TypeError(`it has no option '${misspelled[0]}'. Did you mean '${misspelled[1]}'?`);
  if (!portableName.test(name)) {
    logger.warn(
      `Tool ${JSON.stringify(name)} is served, but some clients will refuse its name: use 1 to 128 of A-Z a-z 0-9 _ . -`,
    );
  }
  const attempt = <Part>(consequence: string, describe: () => Part): Part | undefined =>
    describeOrWarn(logger, consequence, describe);
  const { inputSchema: given } = withInputSchema(tool);
  const described = attempt(`Tool '${name}' is offered without a description of its input`, () =>
    given === undefined ? { type: 'object', properties: {} } : toJsonSchema(given as Schema, 'input'),
  );
  // The protocol requires `type: object` at the root; unions of objects have it only in their members.
  const inputSchema: JsonSchema = described?.['type'] === undefined ? { type: 'object', ...described } : described;
  if (inputSchema['type'] !== 'object')
    throw new TypeError(
      `its input schema describes ${JSON.stringify(inputSchema['type'])}, and MCP tools take an object.`,
    );
  const outputSchema = attempt(`Tool '${name}' is offered without a description of its output`, () =>
    tool.outputSchema === undefined ? undefined : describeOutput(tool.outputSchema as Schema),
  );
  const { mcp } = tool;
  if (mcp?.scopes !== undefined) requireScopes(mcp.scopes);
  const listed: ListedTool = {
    name,
    ...(typeof tool.title === 'string' && { title: tool.title }),
    ...(typeof tool.description === 'string' && { description: tool.description }),
    inputSchema,
    ...(outputSchema && { outputSchema }),
    ...attempt(`Tool '${name}' is offered without annotations, icons and _meta`, () => describeMcp(mcp)),
  };
  return {
    name,
    tool,
    toolType,
    listed,
    item: { type: 'tool', toolType, ...listed, ...(mcp && { mcp }) },
    structured: structuredFor(outputSchema),
    paramHeaders: findParamHeaders(name, inputSchema, logger),
  };
}

/** Returns whether results go out as `structuredContent`, per era: before 2026-07-28 only objects may. */
export function structuredFor(
  outputSchema: Readonly<Record<string, unknown>> | undefined,
): RegisteredTool['structured'] {
  return { legacy: outputSchema?.['type'] === 'object', modern: outputSchema !== undefined };
}

/** Returns the arguments that calls repeat in headers. Invalid declarations are ignored, with a warning. */
export function findParamHeaders(name: string, inputSchema: object, logger: Logger): readonly ParamHeader[] {
  const consequence = `Clients over HTTP may leave out tool '${name}'`;
  return describeOrWarn(logger, consequence, () => declaredParamHeaders(inputSchema)) ?? [];
}

/** Leaves out a broken part, with a warning. A part without a JSON form fails here, and not in the whole list. */
function describeOrWarn<Part>(logger: Logger, consequence: string, describe: () => Part): Part | undefined {
  try {
    const part = describe();
    JSON.stringify(part);
    return part;
  } catch (error) {
    logger.warn(`${consequence}: ${toErrorMessage(error)}`);
    return undefined;
  }
}

/** Returns the members that only MCP clients see. */
function describeMcp({ annotations, icons, _meta }: ToolMcpOptions = {}): Partial<ListedTool> {
  return {
    ...(annotations && { annotations }),
    ...(icons && icons.length > 0 && { icons }),
    ...(_meta && { _meta }),
  };
}

function describeOutput(schema: Schema): JsonSchema {
  const described = toJsonSchema(schema, 'output');
  return described['type'] === undefined && isUnionOfObjects(described) ? { type: 'object', ...described } : described;
}

function isUnionOfObjects(schema: JsonSchema): boolean {
  if ('properties' in schema) return true;
  const members = schema['oneOf'] ?? schema['anyOf'] ?? schema['allOf'];
  return (
    Array.isArray(members) && members.length > 0 && members.every((member: JsonSchema) => member?.['type'] === 'object')
  );
}
