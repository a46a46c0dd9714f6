import { jsonHeaders, type HttpReply } from './message.js';

/** State of a server, from `server.health()` and at `healthPath`. */
export interface ServerHealth {
  /** `draining` after `drain()` and during `close()`: requests are served, and balancers should choose another instance. */
  status: 'ok' | 'draining' | 'closed';
  /** Requests in flight over all transports, without open `subscriptions/listen` requests. */
  inFlight: number;
  /** Open sessions of clients up to 2025-11-25 in this process, and connections over stdio and HTTP+SSE. */
  sessions: number;
  /** Tasks that run in this process. */
  tasks: number;
}

/** Sends the state of a server as JSON: with status 200 while it is open, then 503. */
export function sendHealth(reply: HttpReply, health: ServerHealth): void {
  const isOpen = health.status === 'ok';
  if (!isOpen) reply.endConnection();
  reply.send(isOpen ? 200 : 503, { ...jsonHeaders, 'cache-control': 'no-store' }, JSON.stringify(health));
}
