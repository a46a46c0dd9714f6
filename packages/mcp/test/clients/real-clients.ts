import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
  type SSEClientTransport as SSEV2,
} from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import type { SSEClientTransport as SSEV1 } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { commandFor } from '../programs/spawn-server.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- results are compared, never used
type Method = (params?: any, ...options: any[]) => Promise<any>;

/** Common interface of the clients of both SDK versions. */
export interface RealClient {
  callTool: Method;
  listTools: Method;
  listResources: Method;
  listResourceTemplates: Method;
  readResource: Method;
  listPrompts: Method;
  getPrompt: Method;
  complete: Method;
  subscribeResource: Method;
  unsubscribeResource: Method;
  /** Only in the stateless revision. */
  listen?: Method;
  getServerCapabilities(): unknown;
  getInstructions(): string | undefined;
  close(): Promise<void>;
}

interface Elicited {
  action: 'accept' | 'decline' | 'cancel';
  content?: object;
}

/** Results that the client returns for server requests. It declares only the capabilities that are present. */
export interface ClientAnswers {
  elicit?: (params: Record<string, unknown>) => Elicited | Promise<Elicited>;
  /** Text of the model. */
  sample?: string;
  roots?: string[];
  /** Receives change notifications, by method. */
  onChange?: (method: string, uri?: string) => void;
}

const identity = { name: 'real', version: '1' };

function capabilitiesOf({ elicit, sample, roots }: ClientAnswers): object {
  return {
    ...(elicit && { elicitation: { form: {}, url: {} } }),
    ...(sample !== undefined && { sampling: {} }),
    ...(roots && { roots: {} }),
  };
}

const message = (text: string): object => ({
  role: 'assistant',
  content: { type: 'text', text },
  model: 'test-model',
});

export async function connectV1(transport: HttpV1 | StdioV1 | SSEV1, answers: ClientAnswers = {}): Promise<RealClient> {
  const client = new ClientV1(identity, { capabilities: capabilitiesOf(answers) });
  const { elicit, sample, roots, onChange } = answers;
  if (elicit) client.setRequestHandler(ElicitRequestSchema, async ({ params }) => elicit(params) as never);
  if (sample !== undefined) client.setRequestHandler(CreateMessageRequestSchema, async () => message(sample) as never);
  if (roots) client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: roots.map((uri) => ({ uri })) }));
  for (const schema of [
    PromptListChangedNotificationSchema,
    ResourceListChangedNotificationSchema,
    ToolListChangedNotificationSchema,
    ResourceUpdatedNotificationSchema,
  ]) {
    client.setNotificationHandler(schema, ({ method, params }) => {
      onChange?.(method, (params as { uri?: string } | undefined)?.uri);
    });
  }
  // The SDK's own transports do not fit its Transport type under exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<ClientV1['connect']>[0]);
  return client as unknown as RealClient;
}

export async function connectV2(
  mode: 'legacy' | 'auto' | { pin: string },
  transport: HttpV2 | StdioV2 | SSEV2,
  answers: ClientAnswers = {},
): Promise<RealClient> {
  const client = new ClientV2(identity, {
    capabilities: capabilitiesOf(answers),
    versionNegotiation: { mode },
  });
  const { elicit, sample, roots, onChange } = answers;
  if (elicit) client.setRequestHandler('elicitation/create', async ({ params }) => elicit(params) as never);
  if (sample !== undefined) client.setRequestHandler('sampling/createMessage', async () => message(sample) as never);
  if (roots) client.setRequestHandler('roots/list', async () => ({ roots: roots.map((uri) => ({ uri })) }));
  for (const method of [
    'notifications/prompts/list_changed',
    'notifications/resources/list_changed',
    'notifications/tools/list_changed',
    'notifications/resources/updated',
  ] as const) {
    client.setNotificationHandler(method, ({ params }) =>
      onChange?.(method, (params as { uri?: string } | undefined)?.uri),
    );
  }
  await client.connect(transport);
  return client as unknown as RealClient;
}

export const modernPin = { pin: '2026-07-28' };

export interface ClientKind {
  readonly name: string;
  readonly era: 'legacy' | 'modern';
  readonly connect: (answers?: ClientAnswers) => Promise<RealClient>;
}

/**
 * Clients of both SDK versions, in both eras, over HTTP and over stdio.
 *
 * @param program - server over stdio
 */
export function realClients(
  url: () => string,
  program: Parameters<typeof commandFor>[0] = 'full-stdio-server.ts',
): ClientKind[] {
  const stdio = commandFor(program);
  return [
    { name: 'SDK 1 over HTTP', era: 'legacy', connect: (answers) => connectV1(new HttpV1(new URL(url())), answers) },
    {
      name: 'SDK 2 (legacy) over HTTP',
      era: 'legacy',
      connect: (answers) => connectV2('legacy', new HttpV2(new URL(url())), answers),
    },
    {
      name: 'SDK 2 (stateless revision) over HTTP',
      era: 'modern',
      connect: (answers) => connectV2(modernPin, new HttpV2(new URL(url())), answers),
    },
    { name: 'SDK 1 over stdio', era: 'legacy', connect: (answers) => connectV1(new StdioV1(stdio), answers) },
    {
      name: 'SDK 2 (stateless revision) over stdio',
      era: 'modern',
      connect: (answers) => connectV2(modernPin, new StdioV2(stdio), answers),
    },
  ];
}
