import type { JsonSchema } from '@quiver/core/schema';

export const graphRAGOutputSchema: JsonSchema = {
  type: 'object',
  properties: {
    relevantContext: { type: 'string', description: 'The texts of all passages, best first.' },
    sources: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          id: { type: 'string' },
          metadata: { type: 'object' },
          vector: { type: 'array', items: { type: 'number' } },
          score: { type: 'number', minimum: 0, maximum: 1 },
          document: { type: 'string' },
          path: {
            type: 'array',
            description:
              'The steps that led here from a passage that matches the question; empty when it matches the question itself.',
            items: {
              type: 'object',
              properties: {
                from: { type: 'string' },
                to: { type: 'string' },
                kind: { type: 'string' },
                reason: { type: 'string' },
                weight: { type: 'number' },
              },
              required: ['from', 'to', 'kind', 'reason', 'weight'],
            },
          },
        },
        required: ['id', 'metadata', 'vector', 'score', 'document', 'path'],
      },
    },
    graph: {
      type: 'object',
      description: 'What the answer was found in.',
      properties: {
        complete: {
          type: 'boolean',
          description:
            'Whether the whole index was connected; otherwise only what surrounds the passages that match the question.',
        },
        nodes: { type: 'integer' },
        edges: { type: 'integer' },
        seeds: { type: 'string', enum: ['vector', 'keyword', 'hybrid'] },
      },
      required: ['complete', 'nodes', 'edges', 'seeds'],
    },
  },
  required: ['relevantContext', 'sources', 'graph'],
};
