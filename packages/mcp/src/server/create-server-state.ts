import { getDefaultLogger, type Logger } from '@quiver/core';
import { checkOptions, invalidOptions } from '@quiver/core/internal';
import { defined } from '../defined.js';
import { Instance } from '../shared-store/instance.js';
import { Catalog } from './tools/catalog.js';
import { configChecks } from './definition/config-options.js';
import { createCallerRequest } from './eras/legacy.js';
import type { LegacySession } from './client/legacy-session.js';
import { Lifecycle } from './lifecycle.js';
import { DEFAULT_PAGE_SIZE } from './limits.js';
import { createAgentTool, createWorkflowTool } from './tools/agents-and-workflows.js';
import { Caller } from './caller.js';
import { createCallbacks } from './methods/callbacks.js';
import { isConcerned } from './methods/subscriptions.js';
import { createMiddlewareTable } from './middleware/run-middleware.js';
import { AnsweredRounds } from './client/answered-rounds.js';
import { createRequestStateCodec, loadSharedKey } from './client/request-state.js';
import { listMethods, requestMethods } from '../protocol/methods.js';
import { createModernMembers } from './eras/modern.js';
import type { ServerConfig } from './definition/server-config.js';
import { createFeatures, featureChecks, type Features, type MCPServerConfig } from './features.js';
import type { ServerState } from './definition/server-state.js';
import { createInstanceBus, Subscribers } from './client/subscribers.js';
import { addProvider } from './provider.js';
import { ToolRegistry } from './tools/tool-registry.js';

/**
 * Returns what all transports share, made from the configuration, and the features.
 *
 * @throws `OPTIONS_INVALID`, `AGENT_DESCRIPTION_MISSING`, `WORKFLOW_DESCRIPTION_MISSING`
 */
export function createServerState(config: MCPServerConfig): { state: ServerState; features: Features } {
  checkOptions('MCPServer', config, { ...configChecks, ...featureChecks });
  const { name, version, title, icons, websiteUrl, description, pageSize = DEFAULT_PAGE_SIZE } = config;
  const { logger = getDefaultLogger(), maskErrors = false, resources, prompts } = config;
  if (typeof name !== 'string' || name === '' || typeof version !== 'string' || version === '')
    throw invalidOptions('MCPServer needs a name and a version: both are shown to every client.');
  const sessions = new Set<LegacySession>();
  const catalog = new Catalog(config.visible, logger);
  const instance = new Instance({ store: config.sharedStore, server: name, logger });
  const tools = new ToolRegistry(catalog, logger, (registered) =>
    state.calls.filter((extension) => extension.register?.(registered)),
  );
  const serverInfo = defined({ name, version, title, description, icons: icons || undefined, websiteUrl });
  const requestState = createRequestStateCodec(
    config.requestState,
    instance.isShared ? () => loadSharedKey(instance.store, name) : undefined,
  );
  const state: ServerState = {
    serverInfo,
    modernMembers: createModernMembers(serverInfo, config.cacheHints),
    instructions: config.instructions,
    capabilities: { tools: { listChanged: true }, logging: {} },
    catalog,
    tools,
    pageSize,
    maskErrors,
    requestState,
    answeredRounds: new AnsweredRounds(instance, requestState.ttlSeconds * 1000),
    sessions,
    middleware: createMiddlewareTable(),
    work: new Set(),
    instance,
    subscribers: new Subscribers({
      sessions,
      concerns: (session, event) =>
        isConcerned(createCallerRequest(state, session.lastCaller ?? new Caller(), session), event),
      onListChanged: (list) => {
        for (const method of listMethods) {
          const { capability, itemType } = requestMethods[method];
          if (capability === list) catalog.forget(itemType);
        }
      },
      bus: config.eventBus ?? (instance.isShared ? createInstanceBus(instance) : undefined),
      logger,
    }),
    providers: [],
    lifecycle: new Lifecycle(),
    features: [],
    calls: [],
    logger,
  };
  if (resources || prompts) addProvider(state, createCallbacks(config));
  const features = createFeatures(state, config);
  addTools(config, tools, logger);
  for (const feature of state.features) feature.ready?.();
  return { state, features };
}

/** A tool takes precedence over an agent or a workflow with its name. */
function addTools({ tools, agents, workflows }: ServerConfig, registry: ToolRegistry, logger: Logger): void {
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
}
