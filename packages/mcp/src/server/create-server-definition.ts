import { getDefaultLogger, QuiverError, type Logger } from '@quiver/core';
import type { ServerCapabilities } from '../protocol/types.js';
import { metaKeys } from '../protocol/constants.js';
import { Instance } from '../shared-store/instance.js';
import { parseResultLimit } from '../result-limit/size-limit.js';
import { Catalog } from './catalog.js';
import { createCallerRequest } from './eras/legacy.js';
import { resumeCall } from './eras/modern.js';
import type { LegacySession } from './legacy-session.js';
import { DEFAULT_PAGE_SIZE } from './limits.js';
import { createAgentTool, createWorkflowTool } from './methods/agents-and-workflows.js';
import { isConcerned } from './methods/is-concerned.js';
import { createMiddlewareTable } from './middleware/run-middleware.js';
import { createRequestStateCodec, loadSharedKey } from './request-state.js';
import { cacheableMethods, type CacheableMethod, type CacheHints, type MCPServerConfig } from './server-config.js';
import { ResultStore } from './result-store.js';
import type { ServerDefinition } from './server-definition.js';
import { createInstanceBus, Subscribers } from './subscribers.js';
import { Tasks, type TasksOptions } from './tasks/tasks.js';
import { ToolRegistry } from './tool-registry.js';

/**
 * Returns what all transports share, made from the configuration.
 *
 * @throws `SERVER_CONFIG_INVALID`, `AGENT_DESCRIPTION_MISSING`, `WORKFLOW_DESCRIPTION_MISSING`
 */
export function createServerDefinition(config: MCPServerConfig): ServerDefinition {
  requireKnownOptions(config);
  const { name, version, title, icons, websiteUrl, description, pageSize = DEFAULT_PAGE_SIZE } = config;
  const { logger = getDefaultLogger(), maskErrors = false, resources, prompts } = config;
  if (typeof name !== 'string' || name === '' || typeof version !== 'string' || version === '')
    throw invalid('MCPServer needs a name and a version: both are shown to every client.');
  requireRecord(config.tools, 'tools');
  requireRecord(config.agents, 'agents');
  requireRecord(config.workflows, 'workflows');
  if (!Number.isSafeInteger(pageSize) || pageSize < 1) throw invalid('pageSize of MCPServer must be 1 or more.');
  if (config.visible !== undefined && typeof config.visible !== 'function')
    throw invalid('visible of MCPServer must be a function.');
  const sessions = new Set<LegacySession>();
  const catalog = new Catalog(config.visible, logger);
  const resultLimit = config.resultLimit === undefined ? undefined : parseResultLimit(config.resultLimit);
  const instance = new Instance({ store: config.sharedStore, server: name, logger });
  const capabilities = capabilitiesOf(config);
  const serverInfo = {
    name,
    version,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(icons && { icons }),
    ...(websiteUrl !== undefined && { websiteUrl }),
  };
  const definition: ServerDefinition = {
    serverInfo,
    modernResultEnd: `"resultType":"complete","_meta":${JSON.stringify({ [metaKeys.serverInfo]: serverInfo })}}`,
    instructions: config.instructions,
    capabilities,
    catalog,
    tools: collectTools(config, new ToolRegistry(catalog, logger, resultLimit), logger),
    resources,
    prompts,
    resultLimit,
    results: hasResultLimit(config) ? new ResultStore(instance) : undefined,
    pageSize,
    cacheHints: describeCacheHints(config.cacheHints ?? {}),
    maskErrors,
    requestState: createRequestStateCodec(
      config.requestState,
      instance.isShared ? () => loadSharedKey(instance.store, name) : undefined,
    ),
    sessions,
    middleware: createMiddlewareTable(),
    auditing: new Set(),
    instance,
    tasks: new Tasks({
      ...checkTasksOptions(config.tasks),
      instance,
      resume: (call) => resumeCall(definition, call),
    }),
    subscribers: new Subscribers({
      sessions,
      concerns: (session, event) =>
        isConcerned(createCallerRequest(definition, session.lastCaller ?? {}, session), event),
      onEvent: ({ kind }) => {
        if (kind === 'prompts_list_changed') catalog.forget('prompt');
        if (kind !== 'resources_list_changed') return;
        catalog.forget('resource');
        catalog.forget('resourceTemplate');
      },
      bus: config.eventBus ?? (instance.isShared ? createInstanceBus(instance) : undefined),
      logger,
    }),
    logger,
  };
  return definition;
}

/** `Record` makes the compiler compare this list with the options. */
const optionNames = Object.keys({
  agents: 0,
  cacheHints: 0,
  description: 0,
  eventBus: 0,
  icons: 0,
  id: 0,
  instructions: 0,
  isLatest: 0,
  logger: 0,
  maskErrors: 0,
  name: 0,
  packageCanonical: 0,
  packages: 0,
  pageSize: 0,
  prompts: 0,
  releaseDate: 0,
  remotes: 0,
  repository: 0,
  requestState: 0,
  resources: 0,
  resultLimit: 0,
  sharedStore: 0,
  tasks: 0,
  title: 0,
  tools: 0,
  version: 0,
  visible: 0,
  websiteUrl: 0,
  workflows: 0,
} satisfies Record<keyof MCPServerConfig, 0>);

/** A misspelled option would have no effect. */
function requireKnownOptions(config: object): void {
  const unknown = Object.entries(config).flatMap(([name, value]) =>
    value === undefined || optionNames.includes(name) ? [] : [`'${name}'`],
  );
  if (unknown.length === 0) return;
  throw invalid(`MCPServer has no option ${unknown.join(', ')}. Its options are: ${optionNames.join(', ')}.`);
}

/** A list would be served under the names 0, 1 and so on, and a promise or a map as nothing. */
function requireRecord(value: object | undefined | null, option: string): void {
  if (value === undefined || value === null) return;
  const isRecord = typeof value === 'object' && !(Symbol.iterator in value) && !(value instanceof Promise);
  if (isRecord) return;
  const hint = value instanceof Promise ? ' Await the promise.' : '';
  throw invalid(`${option} of MCPServer must be an object with one entry per name, such as { weather }.${hint}`);
}

/** Whether the rest of a result may become a resource. */
function hasResultLimit({ resultLimit, tools }: MCPServerConfig): boolean {
  return resultLimit !== undefined || Object.values(tools ?? {}).some((tool) => Boolean(tool?.mcp?.resultLimit));
}

function capabilitiesOf(config: MCPServerConfig): ServerCapabilities {
  const { resources, prompts } = config;
  return {
    tools: { listChanged: true },
    logging: {},
    ...(resources
      ? { resources: { subscribe: true, listChanged: true } }
      : hasResultLimit(config) && { resources: {} }),
    ...(prompts && { prompts: { listChanged: true } }),
    ...((resources?.completeVariable ?? prompts?.completeArgument) && { completions: {} }),
  };
}

/**
 * Returns the cache members of a result as JSON text, by method.
 *
 * @throws `SERVER_CONFIG_INVALID`
 */
function describeCacheHints(hints: CacheHints): Readonly<Record<CacheableMethod, string>> {
  const unusable = (reason: string): QuiverError => invalid(`cacheHints of MCPServer cannot be used: ${reason}.`);
  for (const method of Object.keys(hints)) {
    if (!cacheableMethods.includes(method as CacheableMethod))
      throw unusable(`results of '${method}' cannot be cached; use ${cacheableMethods.join(', ')}`);
  }
  const described = cacheableMethods.map((method) => {
    const { ttlMs = 0, cacheScope = 'private' } = hints[method] ?? {};
    if (!Number.isSafeInteger(ttlMs) || ttlMs < 0)
      throw unusable(`ttlMs of '${method}' must be a whole number of milliseconds, 0 or more`);
    if (cacheScope !== 'public' && cacheScope !== 'private')
      throw unusable(`cacheScope of '${method}' must be public or private`);
    return [method, `"ttlMs":${ttlMs},"cacheScope":"${cacheScope}"`];
  });
  return Object.fromEntries(described) as Record<CacheableMethod, string>;
}

/** @throws `SERVER_CONFIG_INVALID` */
function checkTasksOptions(options: TasksOptions = {}): TasksOptions {
  for (const name of ['maxPerCaller', 'maxTotal', 'maxResultLength'] as const) {
    const { [name]: value = 1 } = options;
    if (!Number.isSafeInteger(value) || value < 1) throw invalid(`tasks.${name} of MCPServer must be 1 or more.`);
  }
  return options;
}

/** A tool takes precedence over an agent or a workflow with its name. */
function collectTools(
  { tools, agents, workflows }: MCPServerConfig,
  registry: ToolRegistry,
  logger: Logger,
): ToolRegistry {
  for (const [name, tool] of Object.entries(tools ?? {})) registry.add(name, tool);
  const isFree = (name: string, what: string): boolean => {
    const taken = registry.get(name) !== undefined;
    if (taken) logger.warn(`${what} is not served, because a tool is named '${name}'. Rename one of them.`);
    return !taken;
  };
  for (const [key, agent] of Object.entries(agents ?? {})) {
    const tool = createAgentTool(key, agent);
    if (isFree(`ask_${key}`, `Agent '${key}'`)) registry.add(`ask_${key}`, tool, 'agent');
  }
  for (const [key, workflow] of Object.entries(workflows ?? {})) {
    const tool = createWorkflowTool(key, workflow);
    if (isFree(`run_${key}`, `Workflow '${key}'`)) registry.add(`run_${key}`, tool, 'workflow');
  }
  return registry;
}

function invalid(message: string): QuiverError {
  return new QuiverError('SERVER_CONFIG_INVALID', message);
}
