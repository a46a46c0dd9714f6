import type { DefaultTheme, MarkdownEnv } from 'vitepress';

/** Words that people type and that a page does not use, or uses in passing. They are added to the text that is searched, not to the page. */
const synonyms: Record<string, string> = {
  'index.md': 'install npm pnpm yarn bun add package getting started quickstart',
  'getting-started/mcp-server.md':
    'install cursor claude desktop vs code hello world first server stdio npx quickstart',
  'getting-started/agent-tools.md':
    'install generateText streamText streaming langchain vercel ai sdk first agent quickstart',
  'getting-started/query-documents.md': 'install rag first search vector database embeddings quickstart',
  'guides/tools.md':
    'createTool create a tool define function calling zod schema validation approval hooks streaming use without zod valibot arktype json schema',
  'guides/many-tools.md':
    'too many tools context window tool limit hundreds of tools token cost deferLoading code mode',
  'guides/ai-sdk.md': 'streaming streamText useChat vercel next.js generateText convertToModelMessages',
  'guides/connect-hosts.md': 'cursor claude desktop claude code vs code windsurf zed cline mcp.json',
  'guides/mcp-client.md': 'filter tools prefix disconnect listTools listToolsets connect to a server',
  'guides/mcp-client/servers.md': 'timeout mcp.json stdio http sse command args env headers configuration file',
  'guides/mcp-client/unavailable-servers.md': 'reconnect server down crash retry server is down offline unreachable',
  'guides/mcp-server.md': 'expose tools serve streamable http stdio createServer',
  'guides/mcp-server/transports.md': 'stdio transport sse streamable http express hono fastify serverless port cors',
  'guides/mcp-server/catalog.md': 'permissions roles hide tools per user multi-tenant',
  'guides/mcp-server/asking.md':
    'elicitation sampling roots ask the user confirmation human in the loop ask before deleting approval',
  'guides/mcp-server/tasks.md': 'long running background jobs polling',
  'guides/mcp-server/middleware.md': 'rate limit logging audit cache interceptor rate limiting throttle',
  'guides/oauth-server.md':
    'auth authentication authorization login jwt bearer token api key protect secure require an api key user id',
  'guides/company-server.md':
    'multi-tenant tenant production server token api key pass a user id to my tools who is calling health graceful shutdown example',
  'guides/oauth-client.md': 'auth authentication login sign in token refresh oauth2 pkce',
  'guides/delete-and-update.md': 'remove documents delete documents vectors update chunks stale',
  'guides/ingestion.md': 'index documents upsert embed embeddings incremental sync',
  'guides/documents.md': 'files folder loader upload directory',
  'guides/document-formats.md': 'pdf docx word excel xlsx csv pptx powerpoint epub html email parse ocr scanned',
  'guides/chunks.md': 'chunk split splitter text splitter chunking size overlap',
  'guides/sync-a-folder.md': 'watch sync fs.watch progress incremental changes',
  'guides/web-pages.md': 'crawl scrape website sitemap url',
  'guides/search.md': 'hybrid search keyword bm25 full text semantic similarity topK languages german chinese',
  'guides/citations.md': 'hallucination quotes sources verify grounding',
  'guides/graph-rag.md': 'knowledge graph multi-hop entities',
  'guides/rerank.md': 'reranker cohere cross-encoder relevance',
  'guides/cost.md': 'price tokens rate limit 429 openai cost',
  'guides/evaluate.md': 'recall ndcg mrr metrics benchmark my retrieval tests',
  'guides/observability.md': 'opentelemetry otel tracing langfuse datadog metrics logs logging',
  'guides/test-a-server.md': 'testing inspector vitest unit test mock',
  'guides/stores/pg.md': 'postgres database postgresql pgvector postgres supabase neon',
  'guides/stores/libsql.md': 'sqlite turso',
  'deploy/nextjs-and-vercel.md': 'next.js route handler vercel serverless',
  'deploy/cloudflare-workers.md': 'edge workers wrangler',
  'deploy/hono.md': 'hono',
  'deploy/node-and-docker.md': 'docker container kubernetes fly.io railway production deploy',
  'deploy/several-processes.md': 'cluster scale horizontal load balancer redis sessions kubernetes replicas',
  'deploy/restarts.md': 'graceful shutdown sigterm zero downtime rolling deploy drain',
  'guides/mcp-client/calls.md': 'stop a running call cancel abort signal call a tool progress of a call',
  'guides/many-users.md': 'each user own token many users one client per user',
  'concepts/why-quiver.md': 'faster than the official sdk alternatives comparison',
  'guides/choose-chunks-and-store.md': 'which vector store database which chunk size choose',
  'help/migrate-from-mcp-sdk.md': 'official sdk modelcontextprotocol typescript migration upgrade',
  'concepts/request-context-and-identity.md': 'requestContext user id tenant caller',
  'help/troubleshooting.md': 'error problem not working debug fails ECONNREFUSED',
  'help/migrate-from-mastra.md': 'mastra migration',
  'help/migrate-from-langchain.md': 'langchain migration',
  'help/migrate-from-llamaindex.md': 'llamaindex migration',
  'reference/benchmarks.md':
    'performance speed fast memory cpu comparison how much memory faster than the official sdk latency requests per second',
};

/**
 * The search of the site: all words of the pages, the names of the API reference. The text of the reference would be three quarters of
 * the index, and its pages would precede the guides for most words.
 */
export const search: NonNullable<DefaultTheme.Config['search']> = {
  provider: 'local',
  options: {
    _render(source, env: MarkdownEnv, markdown): string {
      if (env.relativePath.startsWith('reference/api/')) return markdown.render(/^# .+$/m.exec(source)?.[0] ?? '', env);
      // Each error is found by its code, and the result leads to it.
      const html = markdown
        .render(source, env)
        .replaceAll(/(?=<p id="(\w+)" data-error)/g, '<h4 id="$1">$1 <a href="#$1">#</a></h4>');
      return html.replace('</h1>', `</h1><p>${synonyms[env.relativePath] ?? ''}</p>`);
    },
    miniSearch: {
      searchOptions: {
        fuzzy: 0.1,
        boost: { title: 2.5, text: 2, titles: 1 },
        // VitePress sends the text of the function to the browser, so that it can use nothing outside of it.
        processTerm(term: string): string | null {
          const word = term.toLowerCase();
          return /^(a|an|and|are|can|do|does|for|from|how|i|in|is|it|me|much|my|of|on|or|than|the|this|to|what|with|without)$/.test(
            word,
          )
            ? null
            : word;
        },
        boostDocument(id: string, _term: string, { titles }: { titles?: readonly string[] } = {}): number {
          if (/\/errors(\.html)?#[A-Z]/.test(id)) return 1;
          if (/\/reference\/benchmarks(\.html)?(#|$)/.test(id)) return titles?.length === 0 ? 3 : 0.3;
          if (id.includes('/decisions/') || id.includes('/reference/')) return 0.3;
          // The beginning of a page has its synonyms.
          const part = titles?.length === 0 ? 1.5 : 1;
          if (id.includes('/guides/stores/')) return 1.6 * part;
          if (/^\/(getting-started|guides|deploy)\//.test(id)) return 2 * part;
          return part;
        },
      },
    },
  },
};
