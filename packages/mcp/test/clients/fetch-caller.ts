import type { FetchOptions, MCPServer } from '@quiver/mcp/server';
import { modern, rpc, toRequest } from './wire.ts';

export type Answered = {
  status: number;
  headers: Headers;
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- any JSON that the server sent
  json: any;
  // oxlint-disable-next-line typescript/no-explicit-any -- any JSON that the server sent
  result: any;
};

/** Sends one request to a server of this process, without a network and without sessions. */
export async function callServer(
  server: MCPServer,
  era: 'legacy' | 'modern',
  method: string,
  params: Record<string, unknown> = {},
  { signal, headers = {}, ...options }: FetchOptions & { signal?: AbortSignal; headers?: Record<string, string> } = {},
): Promise<Answered> {
  const wire = era === 'modern' ? modern(method, params, 1, headers) : { headers, body: rpc(method, params) };
  const request = toRequest(wire, signal ? { signal } : {});
  const response = await server.fetch(request, { serverless: true, ...options });
  const text = await response.text();
  const json = text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : undefined;
  return { status: response.status, headers: response.headers, text, json, result: json?.result };
}
