// Passes every kind of tool to every AI SDK major. `scripts/check-consumer.mjs` compiles it with TypeScript 5.9 and 7.
import { createTool, type Tool } from '@quiver/core/tools';
import { createTool as createV0Tool } from '@quiver/core/compat';
import { MCPClient } from '@quiver/mcp';
import { createDocumentChunkerTool, createGraphRAGTool, createVectorQueryTool, MDocument } from '@quiver/rag';
import { LocalVector } from '@quiver/rag/local';
import * as ai7 from 'ai';
import * as ai5 from 'ai-v5';
import * as ai6 from 'ai-v6';
import { z } from 'zod';

const objectSchema = { type: 'object', properties: { q: { type: 'string' } } } as const;
const query = { vectorStore: new LocalVector(), indexName: 'guides', model: 'openai/text-embedding-3-small' };
const mcp = new MCPClient({ servers: {} });

export const tools = {
  searchGuides: createVectorQueryTool(query),
  exploreGuides: createGraphRAGTool(query),
  chunkGuide: createDocumentChunkerTool({ doc: MDocument.fromText('A guide.') }),
  typed: createTool({
    id: 'typed',
    description: 'Zod on both sides',
    inputSchema: z.object({ city: z.string(), days: z.number().default(1) }),
    outputSchema: z.object({ celsius: z.number() }),
    execute: async ({ city }) => ({ celsius: city.length }),
  }),
  transformed: createTool({
    id: 'transformed',
    description: 'A schema with different input and output',
    inputSchema: z.object({ when: z.string().transform((text) => new Date(text)) }),
    execute: async ({ when }) => when.getTime(),
  }),
  described: createTool({
    id: 'described',
    description: 'JSON Schema on both sides',
    inputSchema: objectSchema,
    outputSchema: objectSchema,
    inputExamples: [{ input: { q: 'x' } }],
    execute: async ({ q }) => ({ q: String(q) }),
  }),
  mixed: createTool({
    id: 'mixed',
    description: 'Zod for the input and JSON Schema for the output',
    inputSchema: z.object({ q: z.string() }),
    outputSchema: { type: 'object' },
    requireApproval: ({ q }) => q === '',
    toModelOutput: (output) => ({ type: 'text', value: String(output) }),
    execute: async ({ q }) => ({ q }),
  }),
  withoutSchema: createTool({ id: 'now', description: 'No schema', execute: async () => Date.now() }),
  streaming: createTool({
    id: 'streaming',
    description: 'Preliminary results',
    inputSchema: z.object({ n: z.number() }),
    outputSchema: { type: 'object' },
    execute: async function* ({ n }) {
      yield { n };
    },
  }),
  answeredByApplication: createTool({
    id: 'confirm',
    description: 'No execute',
    inputSchema: z.object({ q: z.string() }),
  }),
  older: createV0Tool({
    id: 'older',
    description: 'The v0 API',
    inputSchema: z.object({ q: z.string() }),
    outputSchema: { type: 'object' },
    execute: async ({ context }) => ({ q: context.q }),
  }),
};

const anyTools: Record<string, Tool> = {
  searchGuides: tools.searchGuides,
  exploreGuides: tools.exploreGuides,
  chunkGuide: tools.chunkGuide,
  described: tools.described,
};
const remoteTools = await mcp.listTools();

declare const model5: ai5.LanguageModel;
declare const model6: ai6.LanguageModel;
declare const model7: ai7.LanguageModel;
const prompt = 'Which coat for Oslo?';

for (const set of [tools, anyTools, remoteTools]) {
  const sets: [ai5.ToolSet, ai6.ToolSet, ai7.ToolSet] = [set, set, set];
  void sets;
}

const five = await ai5.generateText({ model: model5, prompt, tools });
ai5.streamText({ model: model5, prompt, tools });
ai5.streamText({ model: model5, prompt, tools: { ...tools, ...remoteTools } });
await new ai5.Experimental_Agent({ model: model5, tools }).generate({ prompt });

const six = await ai6.generateText({ model: model6, prompt, tools });
ai6.streamText({ model: model6, prompt, tools });
ai6.streamText({ model: model6, prompt, tools: { ...tools, ...remoteTools } });
await new ai6.ToolLoopAgent({ model: model6, tools }).generate({ prompt });

const seven = await ai7.generateText({ model: model7, prompt, tools });
ai7.streamText({ model: model7, prompt, tools });
ai7.streamText({ model: model7, prompt, tools: { ...tools, ...remoteTools } });
await new ai7.ToolLoopAgent({ model: model7, tools }).generate({ prompt });

// The results of a run have the output types.
for (const result of [...five.staticToolResults, ...six.staticToolResults, ...seven.staticToolResults]) {
  if (result.toolName === 'typed') result.output.celsius satisfies number;
  if (result.toolName === 'searchGuides') result.output.sources satisfies readonly { score: number }[];
  if (result.toolName === 'typed') result.input satisfies { city: string; days: number };
}
