import { HttpSSE } from '../features/sse/sse.js';
import type { ServerState } from './definition/server-state.js';

export type {
  ConnectHonoSSEOptions,
  ConnectSSEOptions,
  StartHonoSSEOptions,
  StartHonoSSEWithContext,
  StartSSEOptions,
} from '../features/sse/sse.js';
export type { SSEServerTransport, SSETransport } from '../features/sse/sse-endpoint.js';

/** The features of one server, by the names that the methods of `MCPServer` use. */
export interface Features {
  readonly sse: HttpSSE;
}

/** The table of features, the only place of the server that knows them: one row each. Without its row a feature does not exist. */
export function createFeatures(server: ServerState): Features {
  const features: Features = {
    sse: new HttpSSE(server),
  };
  server.features = Object.values(features);
  return features;
}
