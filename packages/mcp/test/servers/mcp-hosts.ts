import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { getRequestListener, serve } from '@hono/node-server';
import type { MCPServer } from '@quiver/mcp/server';
import express, { type Express, type Router } from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { serve as serveWithHono1 } from 'hono-node-server-v1';
import Koa from 'koa';

// Version 4 ships no types; the parts used here are those of version 5.
const express4 = createRequire(import.meta.url)('express-v4') as typeof express;

/** An application that serves an MCP server at `/mcp`, behind its own authentication. */
export interface McpHost {
  readonly url: string;
  close(): Promise<void>;
}

/** Authentication of every host: the identity behind an `authorization` header. */
const users: Record<string, object> = { 'Bearer ada': { token: 'ada', userId: 'Ada' } };

const urlOf = (target: string | undefined): URL => new URL(target ?? '/', 'http://localhost');

type Serve = (server: MCPServer) => Server | Promise<Server>;

/** The hosts that the documentation names, each wired as its page shows. */
export const mcpHosts: readonly [name: string, serve: Serve][] = [
  ['node:http', (server) => createServer((req, res) => void handle(server, req, res))],
  ['Express 4', (server) => createServer(withRoute(express4(), server))],
  ['Express 5', (server) => createServer(withRoute(express(), server))],
  ['Express 4 behind express.json()', (server) => createServer(withRoute(express4().use(express4.json()), server))],
  ['Express 5 behind express.json()', (server) => createServer(withRoute(express().use(express.json()), server))],
  ['an Express 4 Router', (server) => createServer(express4().use('/mcp', withRoute(express4.Router(), server, '/')))],
  ['an Express 5 Router', (server) => createServer(express().use('/mcp', withRoute(express.Router(), server, '/')))],
  ['Fastify 5', serveWithFastify],
  [
    'Koa 3',
    (server) => {
      const app = new Koa();
      app.use(async (context) => {
        context.respond = false;
        await handle(server, context.req, context.res);
      });
      return createServer((req, res) => void app.callback()(req, res));
    },
  ],
  ['@hono/node-server 1', (server) => serveWithHono1({ fetch: honoApp(server).fetch, ...loopback }) as Server],
  ['@hono/node-server 2', (server) => serve({ fetch: honoApp(server).fetch, ...loopback }) as Server],
  ['a Next route handler', serveRouteHandlers],
];

const loopback = { port: 0, hostname: '127.0.0.1' };

/** Starts a host on a free port. `close` closes the server first. */
export async function startHost(serveServer: Serve, server: MCPServer): Promise<McpHost> {
  const http = await serveServer(server);
  if (!http.listening) {
    await new Promise<void>((resolve) => {
      http.once('listening', resolve);
      if (http.eventNames().includes('request')) http.listen(0, '127.0.0.1');
    });
  }
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    close: async () => {
      await server.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

function handle(server: MCPServer, req: IncomingMessage, res: ServerResponse, target = req.url): Promise<void> {
  Object.assign(req, { auth: users[req.headers.authorization ?? ''] });
  return server.startHTTP({ url: urlOf(target), httpPath: '/mcp', req, res });
}

function withRoute<App extends Express | Router>(app: App, server: MCPServer, path = '/mcp'): App {
  // `all` of both types takes the same arguments; only their overloads differ.
  (app as Router).all(path, (req: IncomingMessage & { originalUrl: string }, res: ServerResponse) => {
    void handle(server, req, res, req.originalUrl);
  });
  return app;
}

async function serveWithFastify(server: MCPServer): Promise<Server> {
  const app = fastify({ forceCloseConnections: true });
  app.all('/mcp', async (request, reply) => {
    reply.hijack();
    const req = Object.assign(request.raw, { body: request.body });
    await handle(server, req, reply.raw);
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  return app.server;
}

function honoApp(server: MCPServer): Hono {
  const app = new Hono();
  app.all('/mcp', (context) =>
    server.fetch(context.req.raw, { authInfo: users[context.req.header('authorization') ?? ''] }),
  );
  return app;
}

/** A file of Next's `app` folder exports one function per method; they receive and return the platform's own classes. */
function serveRouteHandlers(server: MCPServer): Server {
  const route = (request: Request): Promise<Response> =>
    server.fetch(request, { authInfo: users[request.headers.get('authorization') ?? ''] });
  const handlers: Record<string, typeof route> = { GET: route, POST: route, DELETE: route };
  const respond = (request: Request): Promise<Response> | Response =>
    handlers[request.method]?.(request) ?? new Response(null, { status: 405 });
  return createServer(getRequestListener(respond, { overrideGlobalObjects: false }));
}
