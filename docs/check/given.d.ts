/** Names that the pages use without declaring them: objects of the reader's application, and names from other pages. */
import type * as zod from 'zod';
import type * as rag from '@quiver/rag';
import type * as mcp from '@quiver/mcp';
import type * as requestContexts from '@quiver/core/request-context';

declare global {
  // The reader's application.
  // oxlint-disable typescript/no-explicit-any
  const app: any;
  const Bun: any;
  const Deno: any;
  const http: any;
  const inngest: any;
  const proxyActivities: any;
  const fastify: any;
  const koa: any;
  const redis: any;
  const request: any;
  const model: any;
  const bar: any;
  const confirm: any;
  const ask: (...parts: any[]) => Promise<any>;
  const checkoutUrl: string;
  const listenTo: any;
  const limitRequests: any;
  const load: any;
  const notesOf: any;
  const readNote: any;
  const record: any;
  const review: any;
  const sendTo: any;
  const takesMinutes: any;
  const tokenOf: any;
  const users: any;
  const lookUp: any;
  const researcher: any;
  const onboarding: any;
  const oauth: any;
  const readNotes: any;
  const search: any;
  const tools: any;
  const clientMetadata: any;
  const messages: any[];
  const requestedSchema: any;
  // oxlint-enable typescript/no-explicit-any
  const apiKey: string;
  const ca: string;
  const cert: string;
  const key: string;
  const sharedStore: mcp.SharedStore;
  const transport: mcp.MessageTransport;
  const message: string;
  const name: string;
  const pem: string;
  const sessionId: string;
  const signInUrl: string;
  const traceparent: string;
  const token: string;
  const query: string;
  const version: string;
  const signal: AbortSignal;
  const onProgress: () => void;

  // Texts, vectors, and where they are.
  const text: string;
  const source: string;
  const vector: number[];
  const queryVector: number[];
  const embedding: number[];
  const vectorsOfChunks: { vector: number[] }[];
  const questionEmbedding: number[];
  const chunks: rag.Chunk[];
  const changed: rag.GraphPassage[];
  const documents: rag.MDocument[];
  const embedder: rag.Embedder;
  const store: rag.VectorStore;

  const mcp: import('@quiver/mcp').MCPClient;
  const server: mcp.MCPServer;
  const myMCPServer: mcp.MCPServer;
  const requestContext: requestContexts.RequestContext;
  const z: typeof zod.z;
}
