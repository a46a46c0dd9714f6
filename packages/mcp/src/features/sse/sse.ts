import type { IncomingMessage, ServerResponse } from 'node:http';
import { anyValue, objectOf, type OptionChecks } from '@quiver/core/internal';
import type { ServerState } from '../../server/definition/server-state.js';
import type { Feature } from '../../server/feature.js';
import { NodeReply, NodeRequest } from '../../server/http/node-http.js';
import { pathValue, resolveOptions, sessionChecks } from '../../server/http/transport-options.js';
import { WebReply, WebRequest } from '../../server/http/web-http.js';
import { SSEEndpoint, type ServedRoute, type SSEOptions, type SSERoute } from './sse-endpoint.js';

/** Options of a method, next to the request or apart from it. */
interface MethodOptions extends SSEOptions {
  /** Options, when they are not given next to the request. */
  options?: SSEOptions | undefined;
}

/** A request in a context of Hono. */
interface HonoOptions extends MethodOptions {
  /** Hono's context of the request. */
  context: HonoContextLike;
  /** Identity of the caller. Default: the variable `auth` of the context. */
  authInfo?: unknown;
}

/** Request, response and paths of `server.startSSE()`. */
export interface StartSSEOptions extends SSERoute, MethodOptions {
  /** Request of `node:http`. */
  req: IncomingMessage;
  /** Response of `node:http`. */
  res: ServerResponse;
}

/** Options of `server.connectSSE()`, with the response to the request for the stream. */
export interface ConnectSSEOptions extends MethodOptions, Pick<StartSSEOptions, 'res'> {
  /** Path that the client posts its messages to. */
  messagePath: string;
}

/** Options of `server.connectHonoSSE()`, with the context of the request for the stream. */
export interface ConnectHonoSSEOptions extends HonoOptions {
  /** Path that the client posts its messages to. */
  messagePath: string;
}

/** Part of Hono's context that the server uses. */
export interface HonoContextLike {
  readonly req: { readonly raw: Request };
  /** Read for `auth`: the identity that authentication middleware set. */
  get?(key: string): unknown;
}

/** Options of `server.startHonoSSE()`, with the context of Hono or as those of `startSSE()`. */
export type StartHonoSSEOptions =
  | (SSERoute & HonoOptions)
  | (StartSSEOptions & { context?: undefined; authInfo?: undefined });

const route = { url: anyValue, ssePath: pathValue, messagePath: pathValue };
const options = { ...sessionChecks, options: objectOf(sessionChecks) };
const checks: {
  startSSE: OptionChecks<StartSSEOptions>;
  startHonoSSE: OptionChecks<StartSSEOptions & HonoOptions>;
  connectSSE: OptionChecks<ConnectSSEOptions>;
  connectHonoSSE: OptionChecks<ConnectHonoSSEOptions>;
} = {
  startSSE: { ...route, req: anyValue, res: anyValue, ...options },
  startHonoSSE: { ...route, req: anyValue, res: anyValue, context: anyValue, authInfo: anyValue, ...options },
  connectSSE: { messagePath: anyValue, res: anyValue, ...options },
  connectHonoSSE: { messagePath: anyValue, context: anyValue, authInfo: anyValue, ...options },
};

/** The methods of `MCPServer` that serve HTTP+SSE. */
export class HttpSSE implements Feature {
  readonly transport: SSEEndpoint;

  constructor(server: ServerState) {
    this.transport = new SSEEndpoint(server);
  }

  /** Serves one request of a method. @returns the response, for a request in a context of Hono */
  async serve(
    method: keyof typeof checks,
    given: Partial<StartSSEOptions & ConnectHonoSSEOptions>,
  ): Promise<Response | undefined> {
    const { url, ssePath, messagePath, req, res, context, authInfo, options, ...flat } = given;
    const resolved = resolveOptions(method, checks[method], given, options, flat);
    const servedBy = method.includes('Hono') ? 'startHonoSSE' : 'startSSE';
    // The casts: each method has its own options.
    const route = { url, ssePath, messagePath, servedBy } as ServedRoute;
    if (!context) {
      const response = res as ServerResponse;
      await this.transport.handle(new NodeRequest(req ?? response.req), new NodeReply(response), route, resolved);
      return undefined;
    }
    const { raw } = context.req;
    const reply = new WebReply(raw);
    // A stream is a response long before it ends.
    void this.transport.handle(new WebRequest(raw, authInfo ?? context.get?.('auth')), reply, route, resolved);
    return reply.response;
  }
}
