import { anyValue, type OptionChecks } from '@quiver/core/internal';
import type { ResultLimit } from '@quiver/core/tools';
import { Gateway } from '../features/gateway/gateway.js';
import { checkSearch, ToolSearch, type ServerSearchOptions } from '../features/search/search.js';
import { ResultLimits } from '../features/result-limit/limit-result.js';
import { checkTasks, TasksFeature } from '../features/tasks/tasks-feature.js';
import type { TasksOptions } from '../features/tasks/tasks.js';
import { SharedSessions } from '../features/shared-sessions/shared-sessions.js';
import { HttpSSE } from '../features/sse/sse.js';
import type { ServerConfig } from './definition/server-config.js';
import type { ServerState } from './definition/server-state.js';
import type { Feature } from './feature.js';

export type {
  ConnectHonoSSEOptions,
  ConnectSSEOptions,
  StartHonoSSEOptions,
  StartSSEOptions,
} from '../features/sse/sse.js';
export type { ProxyTarget } from '../features/gateway/proxies.js';
export type { ProxyOptions } from '../features/gateway/upstream.js';
export type { SSEServerTransport, SSETransport } from '../features/sse/sse-endpoint.js';

export interface FeatureOptions {
  /**
   * Lists `search_tools`, `call_read_tool` and `call_write_tool` in place of the tools that are not pinned, for hosts that do not search.
   * `true` for the default options. Default: all tools are listed.
   */
  search?: ServerSearchOptions | boolean;
  /**
   * Limit of the text of tool results. Longer results are cut at whole elements of an array or between characters, and say what is missing.
   * Default: none.
   */
  resultLimit?: ResultLimit;
  /** Limits of tasks; see `mcp.task` of `createTool()`. */
  tasks?: TasksOptions;
}

export const featureChecks: OptionChecks<FeatureOptions> = {
  search: checkSearch,
  resultLimit: anyValue,
  tasks: checkTasks,
};

/** Options of `MCPServer`. */
export interface MCPServerConfig extends ServerConfig, FeatureOptions {}

/** The features of one server, by the names that the methods of `MCPServer` use. */
export interface Features {
  readonly search: ToolSearch | undefined;
  readonly tasks: TasksFeature;
  readonly resultLimits: ResultLimits;
  readonly sharedSessions: SharedSessions | undefined;
  readonly sse: HttpSSE;
  readonly gateway: Gateway;
}

/** The table of features, the only place of the server that knows them: one row each. Without its row a feature does not exist. */
export function createFeatures(server: ServerState, config: FeatureOptions): Features {
  const { search } = config;
  const features: Features = {
    search: search ? new ToolSearch(search === true ? {} : search, server) : undefined,
    tasks: new TasksFeature(server, config.tasks),
    resultLimits: new ResultLimits(config.resultLimit),
    sharedSessions: server.instance.isShared ? new SharedSessions(server) : undefined,
    sse: new HttpSSE(server),
    gateway: new Gateway(server),
  };
  // Proxies become a provider when the first one is added.
  const { gateway: _, ...members } = features;
  server.features = Object.values<Feature | undefined>(members).filter((feature) => feature !== undefined);
  server.calls = server.features.flatMap(({ call }) => call ?? []);
  return features;
}
