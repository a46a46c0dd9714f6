import { setTimeout } from 'node:timers/promises';
import { Client as SdkClient2, StreamableHTTPClientTransport as SdkTransport2 } from '@modelcontextprotocol/client';
import { Client as SdkClient1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as SdkTransport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { MCPClient } from '@quiver/mcp';
import { repeated } from './balancer.ts';

/** The part of a client that the trial needs. */
export interface TrialClient {
  call(tool: string, args: Record<string, unknown>, onProgress?: () => void): Promise<string>;
  read(uri: string): Promise<string>;
  /** Reports when the resource may have changed, until the client is closed. */
  watch(uri: string, onChange: () => void): Promise<void>;
  close(): Promise<void>;
}

/**
 * @param answer - the user, who answers elicitation requests with a number
 * @param timeout - milliseconds, for clients that do not notice when the event stream of a response breaks
 */
export type Connect = (url: URL, answer: () => Promise<number>, timeout: number) => Promise<TrialClient>;

const info = { name: 'trial', version: '1.0.0' };
const capabilities = { elicitation: { form: {} } };

function quiver(protocol: 'legacy' | 'modern'): Connect {
  return async (url, answer) => {
    const serverName = 'weather';
    const definition = { url, protocol, connectTimeout: 30_000 };
    const mcp = new MCPClient({ id: crypto.randomUUID(), servers: { [serverName]: definition } });
    await mcp.elicitation.onRequest(serverName, async () => ({ action: 'accept', content: { count: await answer() } }));
    return {
      call: async (name, args, onProgress) =>
        textOf(await mcp.callTool({ serverName, name, args, ...(onProgress && { onProgress }) })),
      read: async (uri) => textOf(await mcp.resources.read(serverName, uri)),
      watch: async (uri, onChange) => {
        await mcp.resources.onUpdated(serverName, onChange);
        await mcp.resources.subscribe(serverName, uri);
      },
      close: () => mcp.disconnect(),
    };
  };
}

const connectSdk1: Connect = async (url, answer) => {
  const client = new SdkClient1(info, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept', content: { count: await answer() } }));
  const transport = new SdkTransport1(url, { requestInit: { headers: repeated } });
  // The SDK's own transport does not fit its type under exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<SdkClient1['connect']>[0]);
  return {
    call: async (name, args, onprogress) =>
      textOf(await client.callTool({ name, arguments: args }, undefined, { ...(onprogress && { onprogress }) })),
    read: async (uri) => textOf(await client.readResource({ uri })),
    watch: async (uri, onChange) => {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, onChange);
      await client.subscribeResource({ uri });
    },
    close: () => client.close(),
  };
};

const connectSdk2: Connect = async (url, answer, timeout) => {
  const client = new SdkClient2(info, { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } });
  client.setRequestHandler('elicitation/create', async () => ({
    action: 'accept',
    content: { count: await answer() },
  }));
  await client.connect(new SdkTransport2(url));
  return {
    call: async (name, args, onprogress) =>
      textOf(await client.callTool({ name, arguments: args }, { timeout, ...(onprogress && { onprogress }) })),
    read: async (uri) => textOf(await client.readResource({ uri })),
    watch: async (uri, onChange) => {
      client.setNotificationHandler('notifications/resources/updated', onChange);
      const listen = async (): Promise<void> => {
        const { closed } = await client.listen({ resourceSubscriptions: [uri] });
        void closed.then((reason) => (reason === 'local' ? undefined : listenAgain()));
      };
      // The SDK leaves it to the application. Changes of the meantime may be missed.
      const listenAgain = (): Promise<void> => listen().then(onChange, () => setTimeout(500).then(listenAgain));
      await listen();
    },
    close: () => client.close(),
  };
};

/** The kind of client that supports tasks. */
export const taskKind = 'Quiver, 2026-07-28';
/** The kind of client that does not notice when the event stream of a response breaks: its call ends with the timeout. */
export const sdk2 = 'SDK 2.x, 2026-07-28';

/** Clients of both protocol eras, of this library and of the official SDK. */
export const kinds: ReadonlyMap<string, Connect> = new Map([
  ['Quiver, 2025-11-25', quiver('legacy')],
  [taskKind, quiver('modern')],
  ['SDK 1.x, 2025-11-25', connectSdk1],
  [sdk2, connectSdk2],
]);

function textOf(result: unknown): string {
  const {
    content,
    contents = content,
    isError,
  } = result as Record<'content' | 'contents', { text: string }[]> & {
    isError?: boolean;
  };
  const text = contents[0]?.text ?? '';
  if (isError) throw new Error(text);
  return text;
}
