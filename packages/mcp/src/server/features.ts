import { checkSearch, ToolSearch, type ServerSearchOptions } from '../features/search/search.js';
import { HttpSSE } from '../features/sse/sse.js';
import type { OptionChecks } from '@quiver/core/internal';
import type { ServerConfig } from './definition/server-config.js';
import type { ServerState } from './definition/server-state.js';

export type {
  ConnectHonoSSEOptions,
  ConnectSSEOptions,
  StartHonoSSEOptions,
  StartHonoSSEWithContext,
  StartSSEOptions,
} from '../features/sse/sse.js';
export type { SSEServerTransport, SSETransport } from '../features/sse/sse-endpoint.js';

/** Options of features. */
export interface FeatureOptions {
  /**
   * Lists `search_tools`, `call_read_tool` and `call_write_tool` in place of the tools that are not pinned, for hosts that do not search.
   * `true` for the default options. Default: all tools are listed.
   */
  search?: ServerSearchOptions | boolean;
}

export const featureChecks: OptionChecks<FeatureOptions> = {
  search: checkSearch,
};

/** Options of `MCPServer`. */
export interface MCPServerConfig extends ServerConfig, FeatureOptions {}

/** The features of one server, by the names that the methods of `MCPServer` use. */
export interface Features {
  readonly search: ToolSearch | undefined;
  readonly sse: HttpSSE;
}

/** The table of features, the only place of the server that knows them: one row each. Without its row a feature does not exist. */
export function createFeatures(server: ServerState, config: FeatureOptions): Features {
  const { search } = config;
  const features: Features = {
    search: search ? new ToolSearch(search === true ? {} : search, server) : undefined,
    sse: new HttpSSE(server),
  };
  server.features = Object.values(features).filter((feature) => feature !== undefined);
  server.calls = server.features.flatMap(({ call }) => call ?? []);
  return features;
}
