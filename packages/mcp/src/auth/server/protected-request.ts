import type { IncomingMessage } from 'node:http';

/** A request of `node:http` or of a framework on top of it. */
export type ProtectedRequest = IncomingMessage & { auth?: unknown; body?: unknown; originalUrl?: string };
