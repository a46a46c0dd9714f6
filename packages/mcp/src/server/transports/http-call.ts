import type { ServerDefinition } from '../server-definition.js';
import type { SessionStore } from '../sessions.js';
import type { Heartbeat } from './heartbeat.js';
import type { HttpReply, HttpRequest } from './http-message.js';
import type { StreamableHTTPServerTransportOptions } from './http-options.js';

/** What one endpoint remembers between requests. */
export interface HttpEndpointState {
  readonly server: ServerDefinition;
  readonly sessions: SessionStore;
  /** Answers that are not made yet. */
  readonly heartbeat: Heartbeat;
  readonly onStoreError: (error: unknown) => void;
}

/** One request over HTTP and all that is needed to answer it. */
export interface HttpCall {
  readonly state: HttpEndpointState;
  readonly request: HttpRequest;
  readonly reply: HttpReply;
  readonly options: StreamableHTTPServerTransportOptions;
}
